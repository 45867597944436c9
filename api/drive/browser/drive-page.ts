import type { ShownOutcome, ShownRequest, ShownRide } from '../../drivers/fields.ts';
import { type Action, type RequestOnPage, type Step, withOffers, withSteps } from '../actions.ts';
import { actionWords, endedByOthers, endedBySelf, lostOffer, type Result, requestWords, rideWords } from '../words.ts';
import { createCards } from './cards.ts';
import { element, onTap, setShown, setText } from './elements.ts';
import { followDriver } from './follow-driver.ts';
import { type Answer, call, errorOf, serverNow } from './gateway.ts';
import { createReports, findPosition, positionFault } from './position.ts';
import { forgetRide, showRide } from './ride-screen.ts';
import { createSending } from './sending.ts';
import { createWakeLock } from './wake-lock.ts';

const { driver: driverId = '', biddingMs } = element('drive').dataset;
const buttons = {
  goOnline: element<HTMLButtonElement>('go-online'),
  goOffline: element('go-offline'),
  cancel: element('cancel'),
  step: element('step'),
  goOn: element('go-on'),
};
const dialog = element<HTMLDialogElement>('cancel-dialog');

/** What the service says, as far as this page knows. */
let requests: ShownRequest[] = [];
let ride: ShownRide | null = null;
/** Unknown until the service has said it. */
let isOnline: boolean | undefined;
let isConnected: boolean | undefined;
/** Rides that this driver has ended here: what comes late of them is no news. */
const ended = new Set<string>();
/** Rides on which an offer is on its way that is to be withdrawn. */
const unwanted = new Set<string>();
let result: Result | null = null;
/** What is wrong now, in words; the position's is kept apart, since it mends itself. */
let fault: string | null = null;
let noPosition: string | null = null;

const wakeLock = createWakeLock();
const reports = createReports({
  onFault(found) {
    noPosition = found;
    showBar();
  },
});
const sending = createSending(driverId, {
  onChange: show,
  onDone: takeAnswer,
  onRefused: (action, answer) => void tellRefusal(action, answer),
  onSignedOut: signedOut,
});
const cards = createCards(element('cards'), element<HTMLTemplateElement>('card'), Number(biddingMs), {
  onOffer: (rideId, terms) => act({ kind: 'offer', rideId, ...terms }),
  onWithdraw: withdraw,
  onRemoved: show,
});

function act(action: Parameters<typeof sending.add>[0]): void {
  fault = null;
  sending.add(action);
}

/** An offer that was never sent is dropped; one that is on its way is withdrawn when it has arrived. */
function withdraw({ rideId, offer }: RequestOnPage): void {
  if (offer?.offerId) {
    act({ kind: 'withdraw', rideId, offerId: offer.offerId });
    return;
  }
  const isThis = (action: Action) => action.kind === 'offer' && action.rideId === rideId;
  sending.drop(isThis);
  if (sending.waiting().some(isThis)) unwanted.add(rideId);
}

/** The page shows what is so once the service has all that the driver did. */
const shownRide = (): ShownRide | null => withSteps(ride, sending.shown());
const shownRequests = (): RequestOnPage[] => requests.map((request) => withOffers(request, sending.shown()));

function takeRequests(next: ShownRequest[]): void {
  const known = new Set(requests.map(({ rideId }) => rideId));
  const gone = cards.open().filter(({ rideId }) => !next.some((request) => request.rideId === rideId));
  requests = next;
  for (const { rideId } of gone) cards.end(rideId);
  show();
  for (const request of gone) if (request.offer) void tellGone(request);
  const news = next.filter(({ rideId }) => !known.has(rideId));
  if (news.length === 0 || !isOnline) return;
  say(news.map(requestWords).join('. '));
  buzz();
}

/** Whether another driver was chosen, or the partner cancelled. */
async function tellGone({ rideId, biddingEndsAt }: RequestOnPage): Promise<void> {
  const outcome = await outcomeOf(rideId);
  if (!outcome || ride) return;
  const words = lostOffer(outcome, biddingEndsAt <= serverNow());
  cards.tell(rideId, words);
  if (words) say(words);
}

function takeRide(next: ShownRide | null): void {
  if (next && ended.has(next.rideId)) return;
  const before = ride;
  ride = next;
  if (before && before.rideId !== next?.rideId) {
    if (!ended.has(before.rideId)) void tellEnd(before.rideId);
    if (!next) void learnAvailability();
  }
  if (next && before?.rideId !== next.rideId) {
    result = null;
    cards.clear();
    const { title = '' } = rideWords[next.status] ?? {};
    say(next.status === 'driver_arriving' ? `You were chosen. ${title}` : title);
    buzz();
  }
  show();
}

/** Somebody else has ended the ride. */
async function tellEnd(rideId: string): Promise<void> {
  const outcome = await outcomeOf(rideId);
  const words = outcome ? endedByOthers(outcome) : { title: 'The ride has ended', text: 'You are free again.' };
  if (words) tell(words);
}

/** The service has it: what the stream says of it comes a little later. */
function takeAnswer(action: Action): void {
  ride = withSteps(ride, [action]);
  requests = requests.map((request) => withOffers(request, [action]) as ShownRequest);
  if (action.kind === 'offer' && action.offerId && unwanted.delete(action.rideId)) {
    act({ kind: 'withdraw', rideId: action.rideId, offerId: action.offerId });
  }
  if (!ride) void learnAvailability();
  show();
}

async function tellRefusal(action: Action, answer: Answer): Promise<void> {
  const words = `${actionWords(action)} was not taken: ${errorOf(answer)}`;
  if (action.kind === 'step') {
    ended.delete(action.rideId);
    result = null;
    const outcome = await outcomeOf(action.rideId);
    const end = outcome && endedByOthers(outcome);
    if (end) return tell(end);
    fault = words;
  }
  // A driver who was chosen meanwhile sees that.
  if (action.kind === 'offer' && !ride) fault = words;
  if (fault) say(fault);
  show();
}

async function outcomeOf(rideId: string): Promise<ShownOutcome | null> {
  const answer = await call('GET', `/requests/${rideId}`);
  return answer?.ok ? (answer.body as ShownOutcome) : null;
}

function tell(words: Result): void {
  result = words;
  say(`${words.title}. ${words.text}`);
  show();
}

function takeStep(step: Step): void {
  const shown = shownRide();
  if (!shown) return;
  if (step === 'complete' || step === 'cancel') {
    ended.add(shown.rideId);
    result = endedBySelf(step, shown);
    say(result.title);
  }
  act({ kind: 'step', rideId: shown.rideId, step });
}

/** Whether the driver is online, where only the service knows it: when the page opens, and after the ride it opened in. */
async function learnAvailability(): Promise<void> {
  if (isOnline !== undefined) return;
  const me = (await call('GET', '/me'))?.body as { available?: boolean; rideId?: string } | undefined;
  if (!me || me.rideId || isOnline !== undefined) return;
  isOnline = me.available ?? false;
  show();
}

async function goOnline(): Promise<void> {
  buttons.goOnline.disabled = true;
  setText(buttons.goOnline, 'Finding your position…');
  fault = null;
  try {
    const { lat, lng } = await findPosition();
    sending.drop(({ kind }) => kind === 'offline');
    const answer = await call('POST', '/me/online', { lat, lng });
    if (answer?.status === 401) return signedOut();
    if (answer?.ok) isOnline = true;
    else fault = answer ? errorOf(answer) : 'The service cannot be reached. Try again in a moment.';
    if (isOnline) result = null;
  } catch (error) {
    fault = positionFault(error as GeolocationPositionError);
  }
  buttons.goOnline.disabled = false;
  setText(buttons.goOnline, 'Go online');
  say(isOnline ? 'You are online' : (fault ?? ''));
  show();
}

function goOffline(): void {
  isOnline = false;
  act({ kind: 'offline' });
  say('You are offline');
}

function signedOut(): void {
  // The key is dead, or somebody signed out: the address shows the sign-in page now.
  location.replace('/drive');
}

/** Read out by a screen reader; on the screen it stands where it belongs. */
function say(words: string): void {
  setText(element('spoken'), words);
}

/** A phone in its holder is heard. Browsers allow it once the page was touched. */
function buzz(): void {
  if (navigator.userActivation?.hasBeenActive) navigator.vibrate?.(200);
}

let screen = '';

function show(): void {
  const present = shownRide();
  const shown = shownRequests();
  const isKnown = isOnline !== undefined || ride !== null;
  const next = present ? 'ride' : result ? 'result' : !isKnown ? '' : isOnline ? 'waiting' : 'offline';
  if (present) showRide(present);
  else forgetRide();
  if (result) {
    setText(element('result-title'), result.title);
    setText(element('result-text'), result.text);
  }
  // Offline, only what still stands is shown.
  const cardsOf = present ? [] : isOnline ? shown : shown.filter(({ offer }) => offer);
  cards.show(cardsOf);
  setShown(element('cards'), !present && cards.count > 0);
  setText(element('waiting-title'), waitingTitle(cardsOf.length));
  setShown(element('waiting-hint'), cards.count === 0);
  setShown(element('offers-stand'), cardsOf.length > 0);
  showScreen(next);
  showBar();
  wakeLock.want(Boolean(isOnline || ride));
  reports.want(Boolean(isOnline || ride));
}

const waitingTitle = (count: number): string =>
  count === 0 ? 'Waiting for requests' : count === 1 ? '1 request' : `${count} requests`;

function showScreen(next: string): void {
  for (const name of ['offline', 'waiting', 'ride', 'result']) setShown(element(`${name}-screen`), name === next);
  setShown(buttons.goOnline, next === 'offline');
  setShown(buttons.goOffline, next === 'waiting');
  setShown(buttons.cancel, next === 'ride');
  setShown(buttons.step, next === 'ride');
  setShown(buttons.goOn, next === 'result');
  setShown(element('dock'), next !== '');
  if (next === screen) return;
  screen = next;
  if (next !== 'ride' && dialog.open) dialog.close();
  scrollTo(0, 0);
  // What was focused is hidden: the title is read next.
  if (next === 'ride' || next === 'result') element(`${next}-title`).focus({ preventScroll: true });
}

/** The one line that says whether the service can be reached, what waits, and what is wrong. */
function showBar(): void {
  const waiting = sending.waiting().map(actionWords).join(', ');
  const [kind, words] = barOf(waiting);
  element('bar').dataset.kind = kind;
  setText(element('bar'), words);
}

function barOf(waiting: string): [kind: 'bad' | 'quiet' | 'good', words: string] {
  if (isConnected === undefined) return ['quiet', 'Connecting…'];
  if (!isConnected && waiting) return ['bad', `No connection. Kept and sent later: ${waiting}`];
  if (!isConnected) return ['bad', 'No connection. What you do is kept and sent later.'];
  if (fault) return ['bad', fault];
  if (noPosition) return ['bad', noPosition];
  return waiting ? ['quiet', `Sending: ${waiting}`] : ['good', 'Connected'];
}

onTap(buttons.goOnline, () => void goOnline());
onTap(buttons.goOffline, goOffline);
onTap(buttons.cancel, () => dialog.showModal());
onTap(buttons.goOn, () => {
  result = null;
  void learnAvailability();
  show();
});
onTap(buttons.step, () => {
  const words = rideWords[shownRide()?.status ?? 'completed'];
  if (words) takeStep(words.step);
});
dialog.addEventListener('close', () => {
  if (dialog.returnValue === 'cancel') takeStep('cancel');
  dialog.returnValue = '';
});
element('sign-out').addEventListener('submit', (event) => {
  if (isConnected && sending.waiting().length === 0) return;
  event.preventDefault();
  fault = 'Sign out when the connection is back and everything is sent.';
  say(fault);
  showBar();
});
addEventListener('online', sending.send);

followDriver({
  onRequests: takeRequests,
  onRide: takeRide,
  onConnection(isGood) {
    const isNews = isConnected !== isGood;
    if (isNews && isConnected !== undefined) say(isGood ? 'Connected again' : 'No connection');
    isConnected = isGood;
    if (isGood) {
      sending.send();
      void learnAvailability();
    }
    showBar();
  },
  onSignedOut: signedOut,
});
