import { exclusively } from '../../pages/browser/read-stream.ts';
import { type Action, type NewAction, type RequestOnPage, rideOf } from '../actions.ts';
import { type Answer, call } from './gateway.ts';

/** Between tries while the network is away, longer each time. The page's own signs of a network try at once. */
const retryMs = [1_000, 2_000, 4_000, 8_000];
/** An action is shown this long after the service has it: until the stream shows its effect. */
const shownForMs = 3_000;

interface Listener {
  /** The list of actions is another one. */
  onChange(): void;
  /** The service has accepted it. */
  onDone(action: Action): void;
  /** The service has refused it. Later actions of the driver in the same ride are dropped with it. */
  onRefused(action: Action, answer: Answer): void;
  onSignedOut(): void;
}

/**
 * Keeps the driver's actions in this browser first, and sends them in order as soon as the service can be reached. Each is
 * sent until there is an answer: a repeat of a step has no effect.
 */
export function createSending(driverId: string, { onChange, onDone, onRefused, onSignedOut }: Listener) {
  const place = `drive-actions-${driverId}`;
  let lately: Action[] = [];
  /** Rides whose offer is on its way, and is withdrawn when it has arrived. */
  const unwanted = new Set<string>();
  let isSending = false;
  /** The id of the action that is on its way: the service may have it already. */
  let underWay: string | undefined;
  let failures = 0;
  let retry: ReturnType<typeof setTimeout> | undefined;

  const read = (): Action[] => JSON.parse(localStorage.getItem(place) ?? '[]') as Action[];

  function write(actions: Action[]): void {
    if (actions.length > 0) localStorage.setItem(place, JSON.stringify(actions));
    else localStorage.removeItem(place);
    onChange();
  }

  function add(action: NewAction): void {
    write([...read(), { ...action, id: crypto.randomUUID() }]);
    if (navigator.onLine) void send();
  }

  /** Drops actions that are not on their way yet. */
  function drop(isDropped: (action: Action) => boolean): void {
    write(read().filter((action) => action.id === underWay || !isDropped(action)));
  }

  /** An offer that was never sent is dropped; one that is on its way is withdrawn when it has arrived. */
  function withdraw({ rideId, offer }: RequestOnPage): void {
    if (offer?.offerId) {
      add({ kind: 'withdraw', rideId, offerId: offer.offerId });
      return;
    }
    const isThis = (action: Action) => action.kind === 'offer' && action.rideId === rideId;
    drop(isThis);
    if (read().some(isThis)) unwanted.add(rideId);
  }

  async function send(): Promise<void> {
    if (isSending) return;
    isSending = true;
    clearTimeout(retry);
    // Another tab of this browser has the same list.
    await exclusively(place, new AbortController().signal, sendAll).catch(() => {});
    isSending = false;
    underWay = undefined;
    if (read().length > 0 && navigator.onLine) {
      retry = setTimeout(() => void send(), retryMs[Math.min(failures++, retryMs.length - 1)]);
    }
  }

  async function sendAll(): Promise<void> {
    for (let [action] = read(); action; [action] = read()) {
      const { id } = action;
      underWay = id;
      const answer = await post(action);
      if (!answer) return;
      if (answer.status === 401) return onSignedOut();
      failures = 0;
      const taken = answer.ok ? withAnswer(action, answer) : await takenBefore(action);
      if (taken) note(taken);
      const rest = read().filter((other) => other.id !== id);
      write(taken ? rest : rest.filter((other) => !isAfter(action, other)));
      if (taken) done(taken);
      else onRefused(action, answer);
    }
  }

  function done(action: Action): void {
    onDone(action);
    if (action.kind === 'offer' && action.offerId && unwanted.delete(action.rideId)) {
      add({ kind: 'withdraw', rideId: action.rideId, offerId: action.offerId });
    }
  }

  /** Shows it until the stream does. */
  function note(action: Action): void {
    lately.push(action);
    setTimeout(() => {
      lately = lately.filter((other) => other !== action);
      onChange();
    }, shownForMs);
  }

  addEventListener('storage', ({ key }) => key === place && onChange());

  return {
    add,
    drop,
    withdraw,
    /** Tries now: the network may be back. */
    send: () => void send(),
    /** The actions that the service does not have yet. */
    waiting: read,
    /** And those that it has just accepted. */
    shown: (): Action[] => [...lately, ...read()],
  };
}

function post(action: Action): Promise<Answer | null> {
  switch (action.kind) {
    case 'offer': {
      const { price, etaMinutes } = action;
      return call('POST', `/requests/${action.rideId}/offers`, { price, etaMinutes });
    }
    case 'withdraw':
      return call('DELETE', `/requests/${action.rideId}/offers/${action.offerId}`);
    case 'step':
      return call('POST', `/ride/${action.step}`, { rideId: action.rideId });
    case 'offline':
      return call('POST', '/me/offline');
  }
}

const withAnswer = (action: Action, { body }: Answer): Action =>
  action.kind === 'offer' ? { ...action, offerId: (body as { offerId: string }).offerId } : action;

/** An offer whose answer was lost is refused when it is sent again: a driver has one on each ride. */
async function takenBefore(action: Action): Promise<Action | null> {
  if (action.kind !== 'offer') return null;
  const answer = await call('GET', '/requests');
  const { requests = [] } = (answer?.ok ? answer.body : {}) as { requests?: { rideId: string; offer?: object }[] };
  const offer = requests.find(({ rideId }) => rideId === action.rideId)?.offer;
  return offer ? { ...action, ...offer } : null;
}

/** Steps build on each other; an offer and its withdrawal too. */
const isAfter = (refused: Action, other: Action): boolean =>
  rideOf(refused) !== undefined && rideOf(refused) === rideOf(other);
