import type { ShownRide } from '../../drivers/fields.ts';
import type { RequestOnPage } from '../actions.ts';
import type { Result } from '../words.ts';
import type { createCards } from './cards.ts';
import { element, setShown, setText } from './elements.ts';
import { forgetRide, showRide } from './ride-screen.ts';

/** The state that decides which screen the page shows. */
interface View {
  ride: ShownRide | null;
  requests: readonly RequestOnPage[];
  result: Result | null;
  /** True once the service has reported if the driver is online, offline or on a ride. */
  isKnown: boolean;
  isOnline?: boolean;
}

/** Shows the screen of this state, and hides the others. */
export function showView(
  { ride, requests, result, isKnown, isOnline }: View,
  cards: ReturnType<typeof createCards>,
): void {
  if (ride) showRide(ride);
  else forgetRide();
  if (result) {
    setText(element('result-title'), result.title);
    setText(element('result-text'), result.text);
  }
  // An offline driver sees only requests with their own offer.
  const shown = ride ? [] : requests.filter(({ offer }) => isOnline || offer);
  cards.show(shown);
  setShown(element('cards'), !ride && cards.count > 0);
  setText(element('waiting-title'), waitingTitle(shown.length));
  setShown(element('waiting-hint'), cards.count === 0);
  setShown(element('offers-stand'), shown.length > 0);
  showScreen(ride ? 'ride' : result ? 'result' : !isKnown ? '' : isOnline ? 'waiting' : 'offline');
}

const waitingTitle = (count: number): string =>
  count === 0 ? 'Waiting for requests' : count === 1 ? '1 request' : `${count} requests`;

type Screen = 'offline' | 'waiting' | 'ride' | 'result';

const screens: readonly Screen[] = ['offline', 'waiting', 'ride', 'result'];
const screenOfButton: Readonly<Record<string, Screen>> = {
  'go-online': 'offline',
  'go-offline': 'waiting',
  cancel: 'ride',
  step: 'ride',
  'go-on': 'result',
};

let screen: Screen | '' = '';

function showScreen(next: Screen | ''): void {
  for (const name of screens) setShown(element(`${name}-screen`), name === next);
  for (const [button, name] of Object.entries(screenOfButton)) setShown(element(button), name === next);
  setShown(element('dock'), next !== '');
  if (next === screen) return;
  screen = next;
  const dialog = element<HTMLDialogElement>('cancel-dialog');
  if (next !== 'ride' && dialog.open) dialog.close();
  scrollTo(0, 0);
  // The focused element is hidden now. Screen readers continue at the title.
  if (next === 'ride' || next === 'result') element(`${next}-title`).focus({ preventScroll: true });
}

interface Bar {
  /** True while the stream is open; undefined until it has opened or failed. */
  isConnected?: boolean;
  /** The names of the unsent actions. */
  waiting: string;
  fault: string | null;
}

/** The status line: the connection, the unsent actions, and the current fault. */
export function showBar(bar: Bar): void {
  const [kind, words] = wordsOf(bar);
  element('bar').dataset.kind = kind;
  setText(element('bar'), words);
}

function wordsOf({ isConnected, waiting, fault }: Bar): [kind: 'bad' | 'quiet' | 'good', words: string] {
  if (isConnected === undefined) return ['quiet', 'Connecting…'];
  if (!isConnected && waiting) return ['bad', `No connection. Kept and sent later: ${waiting}`];
  if (!isConnected) return ['bad', 'No connection. Your actions are kept and sent later.'];
  if (fault) return ['bad', fault];
  return waiting ? ['quiet', `Sending: ${waiting}`] : ['good', 'Connected'];
}

/** Makes screen readers read a text that is not shown. */
export function say(words: string): void {
  setText(element('spoken'), words);
}

/** Vibrates: drivers hear it even if the phone is in its holder. Browsers allow it only after the page was touched. */
export function buzz(): void {
  if (navigator.userActivation?.hasBeenActive) navigator.vibrate?.(200);
}
