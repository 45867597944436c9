/** Leaves a page whose board cannot continue, unless a person would lose what they have typed into the booking form. */

const byId = (id: string) => document.getElementById(id);

/** A changed field, or a form that was shown again with faults: a reload would lose it. */
function isTyped(): boolean {
  const form = byId('book') as HTMLFormElement | null;
  return form !== null && (form.querySelector('.fault-summary') !== null || [...form.elements].some(isChanged));
}

function isChanged(field: Element): boolean {
  if (field instanceof HTMLSelectElement) return field.selectedIndex !== defaultIndex(field);
  if (field instanceof HTMLTextAreaElement) return field.value !== field.defaultValue;
  if (!(field instanceof HTMLInputElement) || field.type === 'hidden') return false;
  return field.value !== field.defaultValue || field.checked !== field.defaultChecked;
}

/** The index of the option that the page has chosen. */
const defaultIndex = ({ options }: HTMLSelectElement): number =>
  Math.max(
    0,
    [...options].findIndex(({ defaultSelected }) => defaultSelected),
  );

/** Why the board cannot continue. */
export type Stop = 'signed-out' | 'changed';

/** Leaves the page with `go`. If a person has typed, says why the board cannot continue, with a link to a new tab. */
export function leave(why: Stop, go: () => void): void {
  if (isTyped()) showStop(why);
  else go();
}

/** Says why the board cannot continue; without a reason, it continues. */
export function showStop(why?: Stop): void {
  for (const each of document.querySelectorAll<HTMLElement>('[data-stop]')) each.hidden = each.dataset.stop !== why;
}
