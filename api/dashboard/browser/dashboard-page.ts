/** What every page of the dashboard does with scripts: it works without them too. */

for (const button of document.querySelectorAll<HTMLButtonElement>('[data-copy]')) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.dataset.copy ?? '');
    const label = button.textContent;
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = label;
    }, 1_500);
  });
}

// A second click on the way would show the answer that the form was sent before, and hide the first answer.
for (const form of document.querySelectorAll<HTMLFormElement>('form[data-once]')) {
  form.addEventListener('submit', (event) => {
    if (form.dataset.sent) return event.preventDefault();
    form.dataset.sent = 'yes';
    for (const button of form.querySelectorAll('button')) button.disabled = true;
  });
}

// A page that the Back button brings back is shown as it was left: its forms can be sent again, and count once.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});

document.querySelector<HTMLElement>('[data-focus]')?.focus();
