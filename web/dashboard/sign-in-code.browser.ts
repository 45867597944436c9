import { bareCode } from '../../shared/base/pasted.ts';

/** Sends the form with a code as soon as its six digits are typed, pasted or filled in by the browser. */
const field = document.querySelector<HTMLInputElement>('#code');

const digits = (): string => bareCode(field?.value ?? '');

/** A refused code stays in the field. Sending it again would only cost a try. */
const refused = digits();

field?.addEventListener('input', (event) => {
  const isComposing = event instanceof InputEvent && event.isComposing;
  if (!isComposing && /^\d{6}$/.test(digits()) && digits() !== refused) field.form?.requestSubmit();
});

if (refused) {
  field?.focus();
  field?.select();
}
