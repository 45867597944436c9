import type { ShownRide } from '../../../shared/rides/driver/driver-schemas.ts';
import { call } from './call-gateway.ts';
import { element, setText, text } from './elements.ts';

/** The messages of the partner, and the PIN of the passenger. */

const storageKey = 'drive-read-aloud';
const isReadAloud = (): boolean => localStorage.getItem(storageKey) === 'yes';
const button = element<HTMLButtonElement>('read-aloud');
/** The last message of the ride that this page has read, or marked as seen. */
let read = { rideId: '', number: 0 };
let seen = { rideId: '', number: 0 };

const showSwitch = (): void => button.setAttribute('aria-pressed', String(isReadAloud()));
showSwitch();
// Browsers speak only after the page was touched, so the first words come from this button.
button.addEventListener('click', () => {
  localStorage.setItem(storageKey, isReadAloud() ? 'no' : 'yes');
  showSwitch();
  if (isReadAloud()) speak(text('readAloud.on'));
  else speechSynthesis.cancel();
});

const speak = (words: string): void => {
  if ('speechSynthesis' in window) speechSynthesis.speak(new SpeechSynthesisUtterance(words));
};

/** Shows the messages of the ride, and the field for its PIN before the trip starts. */
export function showMessages({ messages = [], pin, status }: ShownRide): void {
  element('messages').hidden = messages.length === 0;
  button.hidden = !('speechSynthesis' in window);
  const list = element('messages-list');
  for (const [index, { text }] of messages.entries()) {
    const item = list.children[index] ?? list.appendChild(document.createElement('li'));
    setText(item, text);
  }
  while (list.children.length > messages.length) list.lastElementChild?.remove();
  element('pin').hidden = !pin || status !== 'arrived';
}

/** The four digits that the driver has typed; empty without any. The field is cleared. */
export function typedPin(): string {
  const field = element<HTMLInputElement>('pin-code');
  const typed = field.value.trim();
  field.value = '';
  return typed;
}

/** Tells the driver new messages (`say`, and aloud), and tells the partner that they were shown to a driver who looks at the page. */
export function readMessages(ride: ShownRide | null, say: (words: string) => void): void {
  const messages = ride?.messages ?? [];
  const last = messages.at(-1);
  if (!ride || !last) return;
  const { rideId } = ride;
  const from = read.rideId === rideId ? read.number : 0;
  const news = messages.filter(({ number, seenAt }) => number > from && !seenAt);
  read = { rideId, number: last.number };
  if (news.length > 0) {
    const words = news.map(({ text }) => text).join('. ');
    say(text('message', { text: words }));
    if (isReadAloud()) speak(words);
  }
  if (last.seenAt || document.hidden || (seen.rideId === rideId && seen.number === last.number)) return;
  seen = { rideId, number: last.number };
  void call('POST', '/ride/seen', seen).then((answer) => {
    // The next update of the ride tries again.
    if (!answer) seen = { rideId: '', number: 0 };
  });
}
