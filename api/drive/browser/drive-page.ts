import type { ShownRequest, ShownRide } from '../../drivers/fields.ts';
import { type Action, type RequestOnPage, type Step, withOffers, withSteps } from '../actions.ts';
import { actionWords, endedByOthers, endedBySelf, lostOffer, type Result, requestWords, rideWords } from '../words.ts';
import { createCards } from './cards.ts';
import { element, onTap, setText } from './elements.ts';
import { followDriver } from './follow-driver.ts';
import { type Answer, call, errorOf, outcomeOf, serverNow } from './gateway.ts';
import { createReports, findPosition, positionFault } from './position.ts';
import { buzz, say, showBar, showView } from './screens.ts';
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

/** The service's state, as far as this page knows. */
let requests: ShownRequest[] = [];
let ride: ShownRide | null = null;
/** Undefined until the service has reported it. */
let isOnline: boolean | undefined;
let isConnected: boolean | undefined;
/** Rides that this driver has ended on this page: later updates about them are ignored. */
const ended = new Set<string>();
let result: Result | null = null;
/** The current fault, as shown to the driver. */
let fault: string | null = null;
/** The fault of the position. Separate, because it ends when the phone knows its position again. */
let positionError: string | null = null;

const wakeLock = createWakeLock();
const reports = createReports({
  onFault(found) {
    positionError = found;
    refreshBar();
  },
});
const sending = createSending(driverId, {
  onChange: show,
  onDone: applyAccepted,
  onRefused: (action, answer) => void showRefusal(action, answer),
  onSignedOut: signedOut,
});
const cards = createCards(element('cards'), element<HTMLTemplateElement>('card'), Number(biddingMs), {
  onOffer: (rideId, terms) => act({ kind: 'offer', rideId, ...terms }),
  onWithdraw(request) {
    if (request.offer?.offerId) fault = null;
    sending.withdraw(request);
  },
  onRemoved: show,
});

function act(action: Parameters<typeof sending.add>[0]): void {
  fault = null;
  sending.add(action);
}

/** Optimistic UI: the service's state plus the actions that are not sent yet. */
const shownRide = (): ShownRide | null => withSteps(ride, sending.shown());
const shownRequests = (): RequestOnPage[] => requests.map((request) => withOffers(request, sending.shown()));

function applyRequests(next: ShownRequest[]): void {
  const known = new Set(requests.map(({ rideId }) => rideId));
  const gone = cards.open().filter(({ rideId }) => !next.some((request) => request.rideId === rideId));
  requests = next;
  for (const { rideId } of gone) cards.end(rideId);
  show();
  for (const request of gone) if (request.offer) void explainEnd(request);
  const news = next.filter(({ rideId }) => !known.has(rideId));
  if (news.length === 0 || !isOnline) return;
  say(news.map(requestWords).join('. '));
  buzz();
}

/** Shows why a request with an offer of this driver has ended. */
async function explainEnd({ rideId, biddingEndsAt }: RequestOnPage): Promise<void> {
  const outcome = await outcomeOf(rideId);
  if (!outcome || ride) return;
  const words = lostOffer(outcome, biddingEndsAt <= serverNow());
  cards.explain(rideId, words);
  if (words) say(words);
}

function applyRide(next: ShownRide | null): void {
  if (next && ended.has(next.rideId)) return;
  const before = ride;
  ride = next;
  if (before && before.rideId !== next?.rideId) {
    if (!ended.has(before.rideId)) void showRideEnd(before.rideId);
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

/** Shows how somebody else has ended the ride. */
async function showRideEnd(rideId: string): Promise<void> {
  const outcome = await outcomeOf(rideId);
  const words = outcome ? endedByOthers(outcome) : { title: 'The ride has ended', text: 'You are free again.' };
  if (words) showResult(words);
}

/** Applies an accepted action at once; the stream reports its effect a little later. */
function applyAccepted(action: Action): void {
  ride = withSteps(ride, [action]);
  requests = requests.map((request) => withOffers(request, [action]) as ShownRequest);
  if (!ride) void learnAvailability();
  show();
}

async function showRefusal(action: Action, answer: Answer): Promise<void> {
  const words = `${actionWords(action)} failed: ${errorOf(answer)}`;
  if (action.kind === 'step') {
    ended.delete(action.rideId);
    result = null;
    const outcome = await outcomeOf(action.rideId);
    const end = outcome && endedByOthers(outcome);
    if (end) return showResult(end);
    fault = words;
  }
  // A driver who was chosen in the meantime sees the ride instead.
  if (action.kind === 'offer' && !ride) fault = words;
  if (fault) say(fault);
  show();
}

function showResult(words: Result): void {
  result = words;
  say(`${words.title}. ${words.text}`);
  show();
}

function makeStep(step: Step): void {
  const shown = shownRide();
  if (!shown) return;
  if (step === 'complete' || step === 'cancel') {
    ended.add(shown.rideId);
    result = endedBySelf(step, shown);
    say(result.title);
  }
  act({ kind: 'step', rideId: shown.rideId, step });
}

/**
 * Asks the service if the driver is online. Only needed after the page has opened, or after the ride it opened with.
 */
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
  // The key was revoked, or the driver signed out elsewhere. The URL now shows the sign-in page.
  location.replace('/drive');
}

function show(): void {
  const isKnown = isOnline !== undefined || ride !== null;
  showView({ ride: shownRide(), requests: shownRequests(), result, isKnown, isOnline }, cards);
  refreshBar();
  wakeLock.want(Boolean(isOnline || ride));
  reports.want(Boolean(isOnline || ride));
}

function refreshBar(): void {
  showBar({ isConnected, waiting: sending.waiting().map(actionWords).join(', '), fault: fault ?? positionError });
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
  if (words) makeStep(words.step);
});
dialog.addEventListener('close', () => {
  if (dialog.returnValue === 'cancel') makeStep('cancel');
  dialog.returnValue = '';
});
element('sign-out').addEventListener('submit', (event) => {
  if (isConnected && sending.waiting().length === 0) return;
  event.preventDefault();
  fault = 'You can sign out once the connection is back and everything is sent.';
  say(fault);
  refreshBar();
});
addEventListener('online', sending.send);

followDriver({
  onRequests: applyRequests,
  onRide: applyRide,
  onConnection(isGood) {
    const isNews = isConnected !== isGood;
    if (isNews && isConnected !== undefined) say(isGood ? 'Connected again' : 'No connection');
    isConnected = isGood;
    if (isGood) {
      sending.send();
      void learnAvailability();
    }
    refreshBar();
  },
  onSignedOut: signedOut,
});
