/**
 * A page that shows a secret: the secret goes when the page is left, because browsers keep pages for the Back button. That
 * button then leads to the page that shows it no more.
 */
for (const secret of document.querySelectorAll<HTMLElement>('[data-secret]')) {
  addEventListener('pagehide', () => secret.replaceChildren());
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) location.replace(secret.dataset.secret ?? '/dashboard');
  });
}
