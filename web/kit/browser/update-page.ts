import { enhance } from './enhance.ts';
import { patch } from './patch.ts';

/**
 * Fetches a page of the dashboard and updates the current page to equal it. Unchanged parts keep the focus, a selection
 * and typed text. Resolves with false, and changes nothing, if the answer is another page, such as the sign-in page.
 * Rejects if the service cannot answer. `isWanted` is asked before the update.
 */
export async function updatePage(url: string, isWanted = (): boolean => true): Promise<boolean> {
  const answer = await fetch(url, { headers: { accept: 'text/html' } });
  if (answer.status >= 500) throw new Error(`status ${answer.status}`);
  const isPage = answer.headers.get('content-type')?.startsWith('text/html');
  if (answer.redirected || !isPage) return false;
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
  if (!isWanted()) return true;
  if (fresh.body.className !== document.body.className) return false;
  enhance(fresh);
  // A part that the person has opened or closed stays as it is.
  for (const { id, open } of document.querySelectorAll('details')) {
    if (id) fresh.getElementById(id)?.toggleAttribute('open', open);
  }
  const focused = document.activeElement;
  patch(document.body, fresh.body);
  document.title = fresh.title;
  if (focused && !document.contains(focused)) document.querySelector<HTMLElement>('#main')?.focus();
  return true;
}
