/**
 * Removes a secret when the person leaves the page, because browsers keep pages for the Back button. The Back button
 * then leads to a page without the secret.
 */
for (const secret of document.querySelectorAll<HTMLElement>('[data-secret]')) {
  addEventListener('pagehide', () => secret.replaceChildren());
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) location.replace(secret.dataset.secret ?? '/dashboard');
  });
}
