import { enhance } from '../../kit/browser/enhance.ts';

/** Without an answer for this long, the connection counts as lost. */
const answerMs = 30_000;

const lostWords =
  'The service cannot be reached, so it is unknown whether the ride is booked. Press “Book ride” again: it is booked once at most.';

interface BookingAnswer {
  page: Document;
  /** The form, with the ride that was booked or with what is wrong. */
  part: HTMLElement | null;
  /** The address of the booked ride's page; null if nothing was booked. */
  booked: string | null;
}

/**
 * Sends the booking form in place. After a lost connection the page still has the entries and the form id, so that
 * sending the form again books no second ride. `start` adds the behaviour of the form in the answer.
 */
export function sendBookingInPlace(form: HTMLFormElement, start: (root: ParentNode) => void): void {
  const lost = document.createElement('p');
  lost.className = 'fault';
  lost.setAttribute('role', 'alert');
  const button = form.querySelector<HTMLButtonElement>('[type="submit"]');
  button?.before(lost);
  let isSending = false;

  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (isSending) return;
    isSending = true;
    lost.textContent = '';
    const answer = await send(form).catch(() => null);
    isSending = false;
    if (answer) return show(answer);
    lost.textContent = lostWords;
    delete form.dataset.sent;
    for (const each of form.querySelectorAll('button')) each.disabled = false;
    // The browser takes the focus from a button that it disables.
    if (document.activeElement === document.body) button?.focus();
  });

  function show({ page, part, booked }: BookingAnswer): void {
    // The session has ended, or the desk books with another key: the whole page changes.
    if (!part || keyOf(part) !== keyOf(form)) {
      form.submit();
      return;
    }
    document.getElementById('new-ride')?.replaceWith(part);
    document.title = page.title;
    if (booked) history.replaceState(null, '', booked);
    enhance(part);
    start(part);
  }
}

const keyOf = (root: ParentNode) => root.querySelector<HTMLInputElement>('[name="key"]')?.value;

async function send(form: HTMLFormElement): Promise<BookingAnswer> {
  const body = new URLSearchParams([...new FormData(form)].map(([name, value]) => [name, String(value)]));
  const signal = AbortSignal.timeout(answerMs);
  const answer = await fetch(form.action, { method: 'POST', body, signal, headers: { accept: 'text/html' } });
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const part = page.getElementById('new-ride');
  if (!part && answer.status >= 500) throw new Error(`answered ${answer.status}`);
  return { page, part, booked: answer.redirected ? answer.url : null };
}
