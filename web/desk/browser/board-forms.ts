import { enhance } from '../../kit/browser/enhance.ts';

/** Sends the forms of the board in place, so that the page keeps what a person has typed. */

interface BoardForms {
  /** Reports the outcome of a form, or why it was not sent. */
  say(text: string, isBad: boolean): void;
  /** Requests the present board. */
  refresh(): void;
  /** Leaves the page for another one with `go`, which has the answer to a form. */
  leave(go: () => void): void;
}

const byId = (id: string) => document.getElementById(id);

export function sendFormsInPlace({ say, refresh, leave }: BoardForms): void {
  const dialog = byId('board-dialog') as HTMLDialogElement;
  const sending = new Set<string>();

  byId('board-list')?.addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement;
    event.preventDefault();
    if (form.method === 'get') void ask(form);
    else void send(form, `${nameOf(form)}: ${form.dataset.done ?? 'offer accepted'}.`);
  });
  dialog.addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement;
    event.preventDefault();
    void send(form, `${dialog.dataset.name}: ride cancelled.`);
  });
  dialog.addEventListener('click', (event) => {
    if (!(event.target as Element).closest('a')) return;
    event.preventDefault();
    dialog.close();
  });

  /** Shows the question before a cancellation, which is the page without scripts. */
  async function ask(form: HTMLFormElement): Promise<void> {
    const fresh = await pageAt(form.action).catch(() => null);
    const question = fresh?.getElementById('question');
    if (!fresh) return say('The service cannot be reached. Try again.', true);
    // The ride has ended in the meantime, or the session has.
    if (!question) {
      return form.isConnected && fresh.getElementById('board') ? refresh() : leave(() => location.assign(form.action));
    }
    question.querySelector('h1')?.setAttribute('id', 'board-question');
    enhance(question);
    dialog.dataset.name = nameOf(form);
    dialog.replaceChildren(question);
    if (!dialog.open) dialog.showModal();
    // A second Enter must not cancel the ride.
    question.querySelector<HTMLElement>('[autofocus]')?.focus();
  }

  async function send(form: HTMLFormElement, done: string): Promise<void> {
    const body = new URLSearchParams([...new FormData(form)].map(([name, value]) => [name, String(value)]));
    const id = `${form.action} ${body}`;
    if (sending.has(id)) return;
    sending.add(id);
    say('', false);
    try {
      const fresh = await pageAt(form.action, body);
      const refusal = fresh.getElementById('refusal')?.textContent;
      dialog.close();
      if (!refusal && !fresh.getElementById('board')) return leave(() => form.submit());
      if (!refusal) form.reset();
      say(refusal ?? done, Boolean(refusal));
      refresh();
    } catch {
      // Sending the same form again has no further effect.
      delete form.dataset.sent;
      for (const button of form.querySelectorAll('button')) button.disabled = false;
      say('The service cannot be reached, so it is unknown whether this was done. Try again.', true);
    } finally {
      sending.delete(id);
    }
  }
}

const nameOf = (form: HTMLFormElement): string =>
  form.closest('li.board-ride')?.querySelector('h4 a')?.textContent ?? '';

async function pageAt(url: string, body?: URLSearchParams): Promise<Document> {
  const answer = await fetch(url, { method: body ? 'POST' : 'GET', body, headers: { accept: 'text/html' } });
  if (answer.status >= 500) throw new Error(`answered ${answer.status}`);
  return new DOMParser().parseFromString(await answer.text(), 'text/html');
}

/** Shows found rides in place. */
export function findInPlace(say: BoardForms['say']): void {
  const form = byId('board-find') as HTMLFormElement | null;
  form?.addEventListener('submit', async (event) => {
    event.preventDefault();
    const query = new URLSearchParams([...new FormData(form)].map(([name, value]) => [name, String(value)]));
    try {
      const found = (await pageAt(`${form.action}?${query}`)).getElementById('found');
      if (!found) return form.submit();
      enhance(found);
      byId('found')?.replaceChildren(...found.childNodes);
      byId('found-title')?.focus();
    } catch {
      say('The service cannot be reached. Try again.', true);
    }
  });
  byId('found')?.addEventListener('click', (event) => {
    if (!(event.target as Element).closest('#found-close')) return;
    event.preventDefault();
    byId('found')?.replaceChildren();
    form?.querySelector('input')?.focus();
  });
}
