import { showLocalTimes } from './local-times.ts';

/** Adds the behaviour of times, copy buttons and forms to a page, or to a part that was just inserted. */
export function enhance(root: ParentNode): void {
  showLocalTimes(root);
  for (const button of root.querySelectorAll<HTMLButtonElement>('[data-copy]')) {
    const label = button.textContent;
    let timer: ReturnType<typeof setTimeout> | undefined;
    button.hidden = false;
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(button.dataset.copy ?? '');
      button.textContent = 'Copied';
      clearTimeout(timer);
      timer = setTimeout(() => {
        button.textContent = label;
      }, 1_500);
    });
  }
  // A second click would send the form again, which only repeats its answer.
  for (const form of root.querySelectorAll<HTMLFormElement>('form[data-once]')) {
    form.addEventListener('submit', (event) => {
      if (form.dataset.sent) return event.preventDefault();
      form.dataset.sent = 'yes';
      for (const button of form.querySelectorAll('button')) button.disabled = true;
    });
  }
}
