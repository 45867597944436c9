import { updatePage } from '../kit/browser/update-page.ts';

/** Keeps the overview up to date, and announces the steps of the onboarding checklist as soon as they are done. */
const pauseMs = 5_000;

const steps = (): Element[] => [...document.querySelectorAll('.first-steps li')];
const isDone = (step: Element): boolean => step.classList.contains('done');

async function refresh(): Promise<void> {
  const doneBefore = steps().map(isDone);
  // Without a session, the answer is the sign-in page.
  if (!(await updatePage(location.pathname))) return clearInterval(timer);
  const ticked = steps().filter((step, index) => isDone(step) && !doneBefore[index]);
  const status = document.querySelector('.first-steps [role="status"]');
  if (status && ticked.length > 0) {
    status.textContent = ticked.map((step) => step.querySelector('h3')?.textContent).join('. ');
  }
}

const timer = setInterval(() => {
  if (!document.hidden) refresh().catch(() => undefined);
}, pauseMs);
