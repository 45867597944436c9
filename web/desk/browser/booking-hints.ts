import { showLocalTimes } from '../../kit/browser/local-times.ts';
import { askDesk } from './place-options.ts';

/** The answer of the service; empty while it knows no hint. */
interface Hint {
  words?: string;
  fare?: string;
  /** HTML: the clocks of the pickup. */
  clocks?: string;
}

const names = ['from', 'fromPoint', 'to', 'toPoint', 'car', 'when', 'pickupTime', 'zone'];

/** Shows the usual fare of the trip in the form, with a button that uses it, and the clocks of a pickup for later. */
export function showHints(form: HTMLElement): void {
  const line = form.querySelector<HTMLElement>('#fare-words');
  const words = line?.querySelector('span');
  const button = line?.querySelector<HTMLButtonElement>('[data-use-fare]');
  const fare = form.querySelector<HTMLInputElement>('[name="fare"]');
  if (!line || !words || !button || !fare || !(form instanceof HTMLFormElement)) return;
  const clocks = form.querySelector<HTMLElement>('#pickup-clocks');
  const empty = words.textContent;
  let turn = 0;

  function show(hint: Hint): void {
    if (!words || !button) return;
    words.textContent = hint.words ?? empty;
    button.hidden = !hint.fare;
    button.textContent = `Use $${hint.fare}`;
    button.value = hint.fare ?? '';
    const fresh = new DOMParser().parseFromString(hint.clocks ?? '', 'text/html').body;
    showLocalTimes(fresh);
    // The same words are not read to the person again.
    if (clocks && clocks.textContent !== fresh.textContent) clocks.replaceChildren(...fresh.childNodes);
  }

  async function update(): Promise<void> {
    turn += 1;
    const own = turn;
    const data = new FormData(form as HTMLFormElement);
    const fields = Object.fromEntries(names.map((name) => [name, String(data.get(name) ?? '')]));
    const isAsked = Boolean(fields.from && fields.to) || fields.when === 'later';
    const hint = isAsked ? await askDesk<Hint>('hint', fields) : {};
    if (own === turn) show(hint ?? {});
  }

  button.addEventListener('click', () => {
    fare.value = button.value;
    fare.focus();
  });
  for (const name of ['from', 'to', 'car', 'when', 'pickupTime']) {
    form.querySelector(`[name="${name}"]`)?.addEventListener('change', update);
  }
  void update();
}
