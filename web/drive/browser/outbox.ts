import { runWithLock } from '../../kit/browser/read-stream.ts';
import { type Action, type NewAction, type RequestOnPage, rideOf } from '../actions.ts';
import { type Answer, call } from './call-gateway.ts';

/** Backoff between tries without a network. The page also tries at once when it notices that the network is back. */
const retryMs = [1_000, 2_000, 4_000, 8_000];
/** An accepted action is shown this long, until the stream shows its effect. */
const shownForMs = 3_000;

interface Listener {
  /** The list of actions has changed. */
  onChange(): void;
  /** Another tab of this browser has changed the list. */
  onOtherTab(actions: readonly Action[]): void;
  /** The service has accepted the action. */
  onDone(action: Action): void;
  /** The service has refused the action. The driver's later actions in the same ride are dropped too. */
  onRefused(action: Action, answer: Answer): void;
  onSignedOut(): void;
}

/**
 * Stores the driver's actions in this browser, and sends them in order as soon as the service can be reached. Each
 * action is sent until it is answered; a repeated step has no effect.
 */
export function createOutbox(driverId: string, { onChange, onOtherTab, onDone, onRefused, onSignedOut }: Listener) {
  const storageKey = `drive-actions-${driverId}`;
  let recentlyAccepted: Action[] = [];
  /** The ids of offers that are withdrawn as soon as the service has answered. */
  const offersToWithdraw = new Set<string>();
  let isSending = false;
  let failures = 0;
  let retry: ReturnType<typeof setTimeout> | undefined;

  const read = (): Action[] => JSON.parse(localStorage.getItem(storageKey) ?? '[]') as Action[];
  /** The ids of actions that the service may already have: an earlier page may have sent the stored ones. */
  const tried = new Set(read().map(({ id }) => id));

  function write(actions: Action[]): void {
    if (actions.length > 0) localStorage.setItem(storageKey, JSON.stringify(actions));
    else localStorage.removeItem(storageKey);
    onChange();
  }

  function add(action: NewAction): void {
    write([...read(), { ...action, id: crypto.randomUUID() }]);
    if (navigator.onLine) void send();
  }

  /** Drops actions: they are not sent again. */
  function drop(isDropped: (action: Action) => boolean): void {
    write(read().filter((action) => !isDropped(action)));
  }

  /** Drops an unsent offer. An offer that the service may already have is withdrawn once the service has answered. */
  function withdraw({ rideId, offer }: RequestOnPage): void {
    if (offer?.offerId) {
      add({ kind: 'withdraw', rideId, offerId: offer.offerId });
      return;
    }
    const isThis = (action: Action) => action.kind === 'offer' && action.rideId === rideId;
    drop((action) => isThis(action) && !tried.has(action.id));
    for (const { id } of read().filter(isThis)) offersToWithdraw.add(id);
    onChange();
  }

  const withWithdrawal = (action: Action): Action =>
    action.kind === 'offer' && offersToWithdraw.has(action.id) ? { ...action, isWithdrawn: true } : action;

  async function send(): Promise<void> {
    if (isSending) return;
    isSending = true;
    clearTimeout(retry);
    // Another tab of this browser shares the list.
    await runWithLock(storageKey, new AbortController().signal, sendAll).catch(() => {});
    isSending = false;
    if (read().length > 0 && navigator.onLine) {
      retry = setTimeout(() => void send(), retryMs[Math.min(failures++, retryMs.length - 1)]);
    }
  }

  async function sendAll(): Promise<void> {
    for (let [action] = read(); action; [action] = read()) {
      const { id } = action;
      tried.add(id);
      const answer = await post(action);
      if (!answer) return;
      if (answer.status === 401) return onSignedOut();
      failures = 0;
      const accepted = answer.ok ? withAnswer(action, answer) : await findAcceptedOffer(action);
      if (accepted === undefined) return;
      if (accepted) showBriefly(accepted);
      const rest = read().filter((other) => other.id !== id);
      write(accepted ? rest : rest.filter((other) => !isAfter(action, other)));
      if (accepted) done(accepted);
      else onRefused(action, answer);
    }
  }

  function done(action: Action): void {
    onDone(action);
    if (action.kind === 'offer' && action.offerId && offersToWithdraw.delete(action.id)) {
      add({ kind: 'withdraw', rideId: action.rideId, offerId: action.offerId });
    }
  }

  /** Shows an accepted action until the stream shows its effect. */
  function showBriefly(action: Action): void {
    recentlyAccepted.push(action);
    setTimeout(() => {
      recentlyAccepted = recentlyAccepted.filter((other) => other !== action);
      onChange();
    }, shownForMs);
  }

  addEventListener('storage', ({ key, newValue }) => {
    if (key !== storageKey) return;
    // Not `read()`: the other tab may have sent the action meanwhile.
    onOtherTab(JSON.parse(newValue ?? '[]') as Action[]);
    onChange();
  });

  return {
    add,
    drop,
    withdraw,
    /** Sends the waiting actions now, because the network may be back. */
    send: () => void send(),
    /** The actions that the service does not have yet. */
    waiting: read,
    /** The unsent actions, and those that the service has just accepted. */
    shown: (): Action[] => [...recentlyAccepted, ...read().map(withWithdrawal)],
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
    case 'decline':
      return call('DELETE', `/requests/${action.rideId}`);
    case 'step':
      return call('POST', `/ride/${action.step}`, { rideId: action.rideId, ...(action.pin && { pin: action.pin }) });
    case 'offline':
      return call('POST', '/me/offline');
  }
}

const withAnswer = (action: Action, { body }: Answer): Action =>
  action.kind === 'offer' ? { ...action, offerId: (body as { offerId: string }).offerId } : action;

/**
 * Finds the offer that the service has accepted although its answer was lost. The repeated offer was refused, because a
 * driver has one offer per ride. Undefined if the service does not answer.
 */
async function findAcceptedOffer(action: Action): Promise<Action | null | undefined> {
  if (action.kind !== 'offer') return null;
  const answer = await call('GET', '/requests');
  if (!answer) return undefined;
  const { requests = [] } = (answer.ok ? answer.body : {}) as { requests?: { rideId: string; offer?: object }[] };
  const offer = requests.find(({ rideId }) => rideId === action.rideId)?.offer;
  return offer ? { ...action, ...offer } : null;
}

/** Later actions in the same ride depend on the refused one. */
const isAfter = (refused: Action, other: Action): boolean =>
  rideOf(refused) !== undefined && rideOf(refused) === rideOf(other);
