import type { ShownRide } from '../../drivers/fields.ts';
import type { RequestOnPage } from '../actions.ts';
import type { Result } from '../words.ts';
import type { createCards } from './cards.ts';
import { element, setShown, setText } from './elements.ts';
import { forgetRide, showRide } from './ride-screen.ts';

/** The state of the page, which decides its screen. */
interface View {
  ride: ShownRide | null;
  requests: readonly RequestOnPage[];
  result: Result | null;
  /** Whether the service has said yet where the driver is: online, offline or on a ride. */
  isKnown: boolean;
  isOnline?: boolean;
}

/** Shows the screen that fits, and hides the others. */
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
  // Offline, only requests with an offer of this driver are shown.
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
  // The element with the focus is hidden: the title is read next.
  if (next === 'ride' || next === 'result') element(`${next}-title`).focus({ preventScroll: true });
}

interface Bar {
  /** Undefined until the stream has opened or failed. */
  isConnected?: boolean;
  /** The actions that are not sent yet, in words. */
  waiting: string;
  fault: string | null;
}

/** The one line that says whether the service can be reached, what waits, and what is wrong. */
export function showBar(bar: Bar): void {
  const [kind, words] = wordsOf(bar);
  element('bar').dataset.kind = kind;
  setText(element('bar'), words);
}

function wordsOf({ isConnected, waiting, fault }: Bar): [kind: 'bad' | 'quiet' | 'good', words: string] {
  if (isConnected === undefined) return ['quiet', 'Connecting…'];
  if (!isConnected && waiting) return ['bad', `No connection. Kept and sent later: ${waiting}`];
  if (!isConnected) return ['bad', 'No connection. What you do is kept and sent later.'];
  if (fault) return ['bad', fault];
  return waiting ? ['quiet', `Sending: ${waiting}`] : ['good', 'Connected'];
}

/** Read out by a screen reader, and not shown. */
export function say(words: string): void {
  setText(element('spoken'), words);
}

/** A phone in its holder is heard. Browsers allow it once the page was touched. */
export function buzz(): void {
  if (navigator.userActivation?.hasBeenActive) navigator.vibrate?.(200);
}
