import type { ShownRequest, ShownRide } from '../../../shared/rides/driver/driver-schemas.ts';
import {
  type Action,
  type FinalStep,
  isFinal,
  openRequests,
  type RequestOnPage,
  type Step,
  withSteps,
} from '../actions.ts';
import { type Result, rideWords } from '../drive-words.ts';
import { createAvailability } from './availability.ts';
import { type Answer, outcomeOf, serverNow } from './call-gateway.ts';
import { createCards } from './cards.ts';
import { element, onTap, text, texts } from './elements.ts';
import { followDriver } from './follow-driver.ts';
import { onHold } from './hold.ts';
import { createOutbox } from './outbox.ts';
import { createReports } from './own-position.ts';
import { readMessages, typedPin } from './reachable.ts';
import { announce, buzz, showBar, showView, stepTitle } from './screens.ts';
import { createToday } from './today.ts';
import { showOnMap } from './trip-map-box.ts';
import { createWakeLock } from './wake-lock.ts';

const { driver: driverId = '', biddingMs } = element('drive').dataset;

/** The service's state, as far as this page knows. */
let requests: ShownRequest[] = [];
let ride: ShownRide | null = null;
let isConnected: boolean | undefined;
/** Rides that this driver has ended on this page: later updates about them are ignored. */
const ended = new Set<string>();
let result: Result | null = null;
let fault: string | null = null;
/** Separate, because it ends when the phone knows its position again. */
let positionError: string | null = null;
let isIdle = false;

const wakeLock = createWakeLock();
const reports = createReports({
  onFault(found) {
    positionError = found;
    refreshBar();
  },
  onPlace(place) {
    const shown = shownRide();
    if (shown) showOnMap(shown, place);
  },
});
const today = createToday(reports.sentAgoMs);
const outbox = createOutbox(driverId, {
  onChange: show,
  onOtherTab(actions) {
    if (actions.some(({ kind }) => kind === 'offline')) availability.setOffline();
  },
  onDone: applyAccepted,
  onRefused: (action, answer) => void showRefusal(action, answer),
  onSignedOut: signedOut,
});
const availability = createAvailability(element<HTMLButtonElement>('go-online'), {
  // An unsent "Go offline" is outdated.
  onStart: () => outbox.drop(({ kind }) => kind === 'offline'),
  onChange: show,
  onEnd(found) {
    fault = found;
    if (!fault) result = null;
    announce(fault ?? text('online'));
    show();
  },
  onUnanswered: () => outbox.add({ kind: 'offline' }),
  onSignedOut: signedOut,
});
const cards = createCards(element('cards'), element<HTMLTemplateElement>('card'), Number(biddingMs), {
  onOffer: (rideId, terms) => act({ kind: 'offer', rideId, ...terms }),
  onWithdraw(request) {
    if (request.offer?.offerId) fault = null;
    outbox.withdraw(request);
  },
  onDecline: (rideId) => act({ kind: 'decline', rideId }),
  onRemoved: show,
  place: reports.place,
});

function act(action: Parameters<typeof outbox.add>[0]): void {
  fault = null;
  outbox.add(action);
}

/** Optimistic UI: the service's state plus the actions that are not sent yet. */
const shownRide = (): ShownRide | null => withSteps(ride, outbox.shown());

function applyRequests(next: ShownRequest[]): void {
  const known = new Set(requests.map(({ rideId }) => rideId));
  const gone = cards.open().filter(({ rideId }) => !next.some((request) => request.rideId === rideId));
  requests = next;
  for (const { rideId } of gone) cards.end(rideId);
  show();
  for (const request of gone) if (request.offer) void explainEnd(request);
  const news = next.filter(({ rideId }) => !known.has(rideId));
  if (news.length === 0 || !availability.isOnline()) return;
  announce(news.map((request) => texts.requestWords(request, reports.place())).join('. '));
  buzz();
}

/** Shows why a request with an offer of this driver has ended. */
async function explainEnd({ rideId, biddingEndsAt }: RequestOnPage): Promise<void> {
  const outcome = await outcomeOf(rideId);
  if (!outcome || ride) return;
  const words = texts.lostOffer(outcome, biddingEndsAt <= serverNow());
  cards.explain(rideId, words);
  if (words) announce(words);
}

function tellMessages(): void {
  readMessages(ride, (words) => {
    announce(words);
    buzz();
  });
}
// A message that arrived while the driver looked at another app is seen when the driver comes back.
document.addEventListener('visibilitychange', tellMessages);

function applyRide(next: ShownRide | null): void {
  if (next && ended.has(next.rideId)) return;
  const before = ride;
  ride = next;
  tellMessages();
  if (before && before.rideId !== next?.rideId) {
    if (!ended.has(before.rideId)) void showRideEnd(before.rideId);
    if (!next) availability.fetch();
  }
  if (next && before?.rideId !== next.rideId) {
    result = null;
    cards.clear();
    const title = stepTitle(next.status);
    announce(next.status === 'driver_arriving' ? `${text('chosen')}. ${title}` : title);
    buzz();
  }
  show();
}

/** Shows how somebody else has ended the ride. */
async function showRideEnd(rideId: string): Promise<void> {
  const outcome = await outcomeOf(rideId);
  const words = outcome ? texts.endedByOthers(outcome) : { title: text('ended'), text: text('free') };
  if (words) showResult(words);
}

/** Applies an accepted action at once; the stream reports its effect a little later. */
function applyAccepted(action: Action): void {
  ride = withSteps(ride, [action]);
  requests = openRequests(requests, [action]) as ShownRequest[];
  if (!ride) availability.fetch();
  if (action.kind === 'step' && action.step === 'complete') today.load();
  show();
}

async function showRefusal(action: Action, answer: Answer): Promise<void> {
  const words = text('failed', { action: texts.actionWords(action), reason: texts.reasonOf(answer) });
  if (action.kind === 'step') {
    ended.delete(action.rideId);
    result = null;
    const outcome = await outcomeOf(action.rideId);
    const end = outcome && texts.endedByOthers(outcome);
    if (end) return showResult(end);
    fault = words;
  }
  // A driver who was chosen in the meantime sees the ride instead.
  if (action.kind === 'offer' && !ride) fault = words;
  if (fault) announce(fault);
  show();
}

function showResult(words: Result): void {
  result = words;
  announce(`${words.title}. ${words.text}`);
  show();
}

function makeStep(step: Step): void {
  const shown = shownRide();
  if (!shown) return;
  if (isFinal(step)) {
    ended.add(shown.rideId);
    result = texts.endedBySelf(step, shown);
    announce(`${result.title} ${result.amount ?? ''}`);
  }
  const pin = step === 'start' ? typedPin() : '';
  act({ kind: 'step', rideId: shown.rideId, step, ...(pin && { pin }) });
}

function signedOut(): void {
  // The key was revoked, or the driver signed out elsewhere. The URL now shows the sign-in page.
  location.replace('/drive');
}

function show(): void {
  const isOnline = availability.isOnline();
  const isKnown = isOnline !== undefined || ride !== null;
  const shown = shownRide();
  const place = reports.place();
  const view = { ride: shown, requests: openRequests(requests, outbox.shown()), result, isKnown, isOnline, place };
  showView(view, cards);
  refreshBar();
  wakeLock.want(Boolean(isOnline || ride));
  reports.want(Boolean(isOnline || ride));
  const wasIdle = isIdle;
  isIdle = isKnown && !shown && !result;
  if (isIdle && !wasIdle) today.load();
}

function refreshBar(): void {
  showBar({
    isConnected,
    waiting: texts.listed(outbox.waiting().map(texts.actionWords)),
    fault: fault ?? positionError,
  });
}

const nextStep = () => rideWords[shownRide()?.status ?? 'completed'];

/** Asks before a step that cannot be undone. */
function confirmStep(step: FinalStep): void {
  const dialog = element<HTMLDialogElement>(`${step}-dialog`);
  dialog.returnValue = '';
  dialog.showModal();
}

for (const step of ['complete', 'cancel'] as const) {
  const dialog = element<HTMLDialogElement>(`${step}-dialog`);
  dialog.addEventListener('close', () => dialog.returnValue === step && makeStep(step));
}
onHold(element('step'), element('step-hint'), {
  isHeld: () => nextStep()?.isHeld === true,
  act() {
    const words = nextStep();
    if (words) makeStep(words.step);
  },
  confirm: () => confirmStep('complete'),
});
onHold(element('cancel'), element('cancel-hint'), {
  isHeld: () => true,
  act: () => makeStep('cancel'),
  confirm: () => confirmStep('cancel'),
});
onTap(element('go-online'), availability.goOnline);
onTap(element('go-offline'), () => {
  availability.setOffline();
  act({ kind: 'offline' });
  announce(text('offline'));
});
onTap(element('continue'), () => {
  result = null;
  availability.fetch();
  show();
});
element('sign-out').addEventListener('submit', (event) => {
  if (isConnected && outbox.waiting().length === 0) return;
  event.preventDefault();
  fault = text('signOut.later');
  announce(fault);
  refreshBar();
});
addEventListener('online', outbox.send);

followDriver({
  onRequests: applyRequests,
  onRide: applyRide,
  onConnection(isGood) {
    const isNews = isConnected !== isGood;
    if (isNews && isConnected !== undefined) announce(text(isGood ? 'connected.again' : 'noConnection'));
    isConnected = isGood;
    today.setConnected(isGood);
    if (isGood) {
      outbox.send();
      availability.fetch();
      if (isNews && isIdle) today.load();
    }
    refreshBar();
  },
  onSignedOut: signedOut,
});
