import { askDesk } from './place-options.ts';

/** The answer of the service; empty while it knows no hint. */
interface Hint {
  words?: string;
  fare?: string;
}

const names = ['from', 'fromPoint', 'to', 'toPoint', 'car'];

/** Shows the fare hint of the trip in the form, with a button that uses it as the fare. */
export function showFareHint(form: HTMLElement): void {
  const line = form.querySelector<HTMLElement>('#fare-words');
  const words = line?.querySelector('span');
  const button = line?.querySelector<HTMLButtonElement>('[data-use-fare]');
  const fare = form.querySelector<HTMLInputElement>('[name="fare"]');
  if (!line || !words || !button || !fare || !(form instanceof HTMLFormElement)) return;
  const empty = words.textContent;
  let turn = 0;

  function show(hint: Hint): void {
    if (!words || !button) return;
    words.textContent = hint.words ?? empty;
    button.hidden = !hint.fare;
    button.textContent = `Use $${hint.fare}`;
    button.value = hint.fare ?? '';
  }

  async function update(): Promise<void> {
    turn += 1;
    const own = turn;
    const data = new FormData(form as HTMLFormElement);
    const fields = Object.fromEntries(names.map((name) => [name, String(data.get(name) ?? '')]));
    const isComplete = Boolean(fields.from && fields.to);
    const hint = isComplete ? await askDesk<Hint>('hint', fields) : {};
    if (own === turn) show(hint ?? {});
  }

  button.addEventListener('click', () => {
    fare.value = button.value;
    fare.focus();
  });
  for (const name of ['from', 'to', 'car']) {
    form.querySelector(`[name="${name}"]`)?.addEventListener('change', update);
  }
  void update();
}
