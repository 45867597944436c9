import type { ShownRide } from '../../../shared/rides/driver/driver-schemas.ts';
import type { RideStatus } from '../../../shared/rides/ride-types.ts';
import type { RequestOnPage } from '../actions.ts';
import { type Result, rideWords } from '../drive-words.ts';
import type { createCards } from './cards.ts';
import { element, setShown, setText, text } from './elements.ts';
import type { PositionReport } from './own-position.ts';
import { forgetRide, showRide } from './ride-screen.ts';
import { removeMap, showOnMap } from './trip-map-box.ts';

/** The state that decides which screen the page shows. */
interface View {
  ride: ShownRide | null;
  requests: readonly RequestOnPage[];
  result: Result | null;
  /** True once the service has reported if the driver is online, offline or on a ride. */
  isKnown: boolean;
  isOnline?: boolean;
  /** The phone's position, if it is known. */
  place: PositionReport | null;
}

/** Shows the screen of this state, and hides the others. */
export function showView(
  { ride, requests, result, isKnown, isOnline, place }: View,
  cards: ReturnType<typeof createCards>,
): void {
  if (ride) showRide(ride);
  else {
    forgetRide();
    removeMap();
  }
  if (result) {
    setText(element('result-title'), result.title);
    setText(element('result-amount'), result.amount ?? '');
    setText(element('result-text'), result.text);
  }
  // An offline driver sees only requests with their own offer.
  const shown = ride ? [] : requests.filter(({ offer }) => isOnline || offer);
  cards.show(shown);
  setShown(element('cards'), !ride && cards.count > 0);
  setText(element('waiting-title'), waitingTitle(shown.length));
  for (const id of ['waiting-reason', 'waiting-hint']) setShown(element(id), cards.count === 0);
  for (const name of ['waiting', 'offline']) element(`${name}-screen`).toggleAttribute('data-brief', cards.count > 0);
  setShown(element('offline-hint'), shown.length === 0);
  setShown(element('offers-live'), shown.length > 0);
  const next = ride ? 'ride' : result ? 'result' : !isKnown ? '' : isOnline ? 'waiting' : 'offline';
  setShown(element('today'), next !== '' && next !== 'ride' && cards.count === 0);
  setShown(element('position-sent'), isOnline === true);
  showScreen(next, ride?.status ?? '');
  // Its box has a size only now.
  if (ride) showOnMap(ride, place);
}

const waitingTitle = (count: number): string => (count === 0 ? text('waiting') : text('requests', { count }));

type Screen = 'offline' | 'waiting' | 'ride' | 'result';

const screens: readonly Screen[] = ['offline', 'waiting', 'ride', 'result'];
const screenOfButton: Readonly<Record<string, Screen>> = {
  'go-online': 'offline',
  'go-offline': 'waiting',
  cancel: 'ride',
  step: 'ride',
  continue: 'result',
};

let screen: Screen | '' = '';
let shownStatus = '';

function showScreen(next: Screen | '', status: RideStatus | ''): void {
  const isNext = next === screen && status !== shownStatus;
  shownStatus = status;
  // The next step begins at the top, with its title.
  if (isNext && status) {
    scrollTo(0, 0);
    announce(stepTitle(status));
  }
  for (const name of screens) setShown(element(`${name}-screen`), name === next);
  for (const [button, name] of Object.entries(screenOfButton)) setShown(element(button), name === next);
  // Only an offline driver signs out: signing out ends the shift.
  setShown(element('sign-out'), next === '' || next === 'offline');
  setShown(element('dock'), next !== '' && next !== 'waiting');
  if (next === screen) return;
  const isFirst = screen === '';
  screen = next;
  for (const dialog of document.querySelectorAll<HTMLDialogElement>('dialog[open]')) dialog.close();
  scrollTo(0, 0);
  // If the focused element is hidden now, keyboards and screen readers continue at the title.
  const focused = document.activeElement ?? document.body;
  const isLost = !isFirst && (focused === document.body || !focused.checkVisibility());
  if (next && (isLost || next === 'ride' || next === 'result')) {
    element(`${next}-title`).focus({ preventScroll: true });
  }
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
  if (isConnected === undefined) return ['quiet', text('connecting')];
  if (!isConnected && waiting) return ['bad', text('noConnection.later', { actions: waiting })];
  if (!isConnected) return ['bad', text('noConnection.kept')];
  if (fault) return ['bad', fault];
  return waiting ? ['quiet', text('sending', { actions: waiting })] : ['good', text('connected')];
}

/** The title of the driver's next step. */
export function stepTitle(status: RideStatus): string {
  const words = rideWords[status];
  return words ? text(words.title) : '';
}

/** Makes screen readers read a text that is not shown. */
export function announce(words: string): void {
  setText(element('spoken'), words);
}

/** Vibrates: drivers hear it even if the phone is in its holder. Browsers allow it only after the page was touched. */
export function buzz(): void {
  if (navigator.userActivation?.hasBeenActive) navigator.vibrate?.(200);
}
