import { checkSignature, type Verdict } from './signature-check.ts';
import { ageWords, differenceWords, faultWords, matchWords, validWords } from './signature-words.ts';

const byId = (id: string) => document.getElementById(id) as HTMLElement;
const form = byId('signature-form') as HTMLFormElement;
const [header, body, secret] = ['header', 'body', 'secret'].map(byId) as [
  HTMLInputElement,
  HTMLTextAreaElement,
  HTMLInputElement,
];
const result = byId('result');
/** The request of an attempt, which the page has filled in. */
const sent = 'sent' in form.dataset ? { header: header.defaultValue, body: body.defaultValue } : undefined;

if (isSecureContext) form.hidden = false;
else byId('insecure').hidden = false;
if (sent) secret.focus();

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const pasted = { header: header.value, body: body.value, secret: secret.value, sent };
  show(await checkSignature(pasted, Math.floor(Date.now() / 1_000)));
});

// Hides the result when an input changes, because it belongs to the previous values.
form.addEventListener('input', () => {
  result.hidden = true;
});

// Resets the form, so that neither the Back button nor a reload restores the secret.
addEventListener('pagehide', () => form.reset());

function show(verdict: Verdict): void {
  const { faults } = verdict;
  const all = faults.length > 0 ? faults.map((fault) => faultWords[fault]) : [validWords];
  result.className = `notice ${faults.length > 0 ? 'bad' : 'good'}`;
  result.replaceChildren(
    ...all.flatMap(({ title, remedy }) => [element('h2', title), element('p', remedy)]),
    element('p', [differenceWords(verdict), ageWords(verdict), matchWords(verdict)].filter(Boolean).join(' ')),
  );
  result.hidden = false;
  result.focus();
}

function element(name: string, text: string): HTMLElement {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}
