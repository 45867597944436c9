import { pause, readStream, runWithLock, type StreamEnd } from './read-stream.ts';

const pollMs = 5_000;
/** At most this many streams, because over HTTP/1.1 all tabs of a browser share six connections to a host. */
const maxStreams = 3;
/** After a 429, or if no stream is free, the page polls for this long before it tries a stream again. */
const pollForMs = 30_000;

/** A state that is older than the shown one by this much did not arrive late: the service's clock was set back. */
const clockStepMs = 60_000;

/** True if a state with the time `now` (Unix ms) arrived late: the page already shows a newer one, of the time `shown`. */
export const isLate = (now: number, shown: number): boolean => now < shown && shown - now < clockStepMs;

interface FollowOptions<State> {
  /** True if the state is final, so that no other follows. */
  isLast(state: State): boolean;
  onState(state: State): void;
  /** `isGood` is true while updates arrive. */
  onConnection(isGood: boolean): void;
  /** Called when the browser's session has ended, or the role of its person no longer allows the page. */
  onSignedOut?(): void;
  /** Tabs with this name share one stream; by default, tabs of the same `base`. */
  sharedAs?: string;
  /** True if the page follows while it is hidden too. */
  followsHidden?(): boolean;
}

/**
 * Keeps the state of a page current, for example of a ride until it ends. A visible page holds a stream or polls; tabs
 * of the same link share one stream. A hidden page holds no connection (unless `followsHidden`), and requests the
 * current state when it is shown again.
 */
export function followRide<State extends { now: number }>(
  base: string,
  first: State,
  {
    isLast,
    onState,
    onConnection,
    onSignedOut = () => {},
    sharedAs = base,
    followsHidden = () => false,
  }: FollowOptions<State>,
): void {
  const otherTabs = new BroadcastChannel(sharedAs);
  let last = first.now;
  let isOver = isLast(first);
  let following: AbortController | undefined;

  function applyState(state: State): void {
    if (state.now === last || isLate(state.now, last) || isOver) return;
    last = state.now;
    isOver = isLast(state);
    onConnection(true);
    onState(state);
    if (isOver) stop();
  }

  function applyAndShare(state: State): void {
    otherTabs.postMessage(state);
    applyState(state);
  }

  async function askForState(signal: AbortSignal): Promise<boolean> {
    const response = await fetch(`${base}/state`, { signal, cache: 'no-store' });
    if ([401, 403, 404].includes(response.status)) end();
    if (response.status === 401 || response.status === 403) onSignedOut();
    if (response.ok) applyAndShare((await response.json()) as State);
    return response.ok;
  }

  function end(): void {
    isOver = true;
    stop();
  }

  /**
   * Follows the ride for all tabs of the link. Runs in only one of them, until that tab is hidden or the ride has
   * ended.
   */
  async function lead(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      const ended = await withFreeStream(() =>
        readStream(`${base}/events`, signal, {
          onEvent: (_name, data) => applyAndShare(JSON.parse(data) as State),
          onOpen: () => (failures = 0),
        }),
      );
      if (ended === 'refused') await poll(signal);
      // Reads the state once more, because the ride may have ended while no tab was listening.
      else if (ended === 'over' && (await askForState(signal).catch(() => false))) end();
      else await pauseAfter(++failures, signal);
    }
  }

  async function pauseAfter(failures: number, signal: AbortSignal): Promise<void> {
    if (failures > 1) onConnection(false);
    await pause(backoffMs(failures), signal);
  }

  async function poll(signal: AbortSignal): Promise<void> {
    for (const until = performance.now() + pollForMs; !signal.aborted && performance.now() < until; ) {
      await pause(pollMs, signal);
      onConnection(await askForState(signal).catch(() => false));
    }
  }

  function start(): void {
    if (following || isOver || (document.hidden && !followsHidden())) return;
    following = new AbortController();
    const { signal } = following;
    askForState(signal).catch(() => {});
    runWithLock(sharedAs, signal, () => lead(signal)).catch(() => {});
  }

  function stop(): void {
    following?.abort();
    following = undefined;
  }

  otherTabs.onmessage = ({ data }) => applyState(data as State);
  document.addEventListener('visibilitychange', () => (document.hidden && !followsHidden() ? stop() : start()));
  // A page in the back/forward cache must not hold a connection.
  addEventListener('pagehide', stop);
  addEventListener('pageshow', ({ persisted }) => persisted && start());
  start();
}

/** Exponential backoff, 1 to 30 s, with jitter so that pages do not reconnect all at once. */
const backoffMs = (failures: number): number =>
  Math.max(1_000, Math.min(30_000, 1_000 * 2 ** failures) * Math.random());

/** Reads a stream while holding one of `maxStreams` locks that all tabs share; `refused` if none is free. */
async function withFreeStream(read: () => Promise<StreamEnd>): Promise<StreamEnd> {
  if (!navigator.locks) return read();
  for (let index = 0; index < maxStreams; index++) {
    const ended = await navigator.locks.request(`stream ${index}`, { ifAvailable: true }, (lock) => lock && read());
    if (ended) return ended;
  }
  return 'refused';
}
