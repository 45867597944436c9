/** Ticks the steps of the onboarding checklist as soon as they are done, in another tab or a terminal. */
const pauseMs = 4_000;

async function refresh(): Promise<void> {
  const answer = await fetch(location.pathname);
  if (!answer.ok || answer.redirected) return stop();
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const steps = [...document.querySelectorAll('.first-steps li')];
  const freshSteps = [...fresh.querySelectorAll('.first-steps li')];
  // The page shows no checklist once the account no longer needs it.
  if (freshSteps.length !== steps.length) return stop();
  const ticked = freshSteps.filter((step, index) => isDone(step) && !isDone(steps[index]));
  if (ticked.length === 0) return;
  const words = ticked.map((step) => step.querySelector('h3')?.textContent).join('. ');
  for (const [index, step] of steps.entries()) showStep(step, freshSteps[index] as Element);
  for (const part of ['.first-steps h2', '.first-steps .after', '.figures', 'section.keys']) {
    const replacement = fresh.querySelector(part);
    if (replacement) document.querySelector(part)?.replaceWith(replacement);
  }
  const status = document.querySelector('.first-steps [role="status"]');
  if (status) status.textContent = words;
  if (freshSteps.every(isDone)) stop();
}

const isDone = (step: Element | undefined): boolean => step?.classList.contains('done') ?? false;

/** Replaces only a step that is done: the person may be using the copy button of another one. */
function showStep(step: Element, fresh: Element): void {
  step.className = fresh.className;
  if (!isDone(fresh)) return;
  const hadFocus = step.contains(document.activeElement);
  step.replaceChildren(...fresh.children);
  if (hadFocus) document.querySelector<HTMLElement>('#main')?.focus();
}

function stop(): void {
  clearInterval(timer);
}

const timer = setInterval(() => {
  if (!document.hidden) refresh().catch(() => undefined);
}, pauseMs);
