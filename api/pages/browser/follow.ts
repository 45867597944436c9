import { exclusively, pause, readStream, type StreamEnd } from './read-stream.ts';

const pollMs = 5_000;
/** A browser has six connections to a host over HTTP/1.1, for all of its tabs: streams leave the others free. */
const maxStreams = 3;
/** After a 429 or without a free stream, it is tried again so much later. */
const pollForMs = 30_000;

interface Following<State> {
  /** Whether nothing comes after this state. */
  isLast(state: State): boolean;
  onState(state: State): void;
  /** Whether the page hears of news. */
  onConnection(isGood: boolean): void;
  /** Nobody is signed in any more in this browser. */
  onSignedOut?(): void;
}

/**
 * Keeps a page at the ride's present state until the ride ends. A visible page holds a stream or polls; tabs of the same link
 * share one stream; a hidden page holds nothing, and asks for the present state when it is shown again.
 */
export function followRide<State extends { now: number }>(
  base: string,
  first: State,
  { isLast, onState, onConnection, onSignedOut = () => {} }: Following<State>,
): void {
  const otherTabs = new BroadcastChannel(base);
  let newest = first.now;
  let isOver = isLast(first);
  let visible = new AbortController();

  function take(state: State): void {
    if (state.now <= newest || isOver) return;
    newest = state.now;
    isOver = isLast(state);
    onConnection(true);
    onState(state);
    if (isOver) visible.abort();
  }

  function takeAndShare(state: State): void {
    otherTabs.postMessage(state);
    take(state);
  }

  async function askForState(signal: AbortSignal): Promise<boolean> {
    const response = await fetch(`${base}/state`, { signal, cache: 'no-store' });
    if (response.status === 404 || response.status === 401) end();
    if (response.status === 401) onSignedOut();
    if (response.ok) takeAndShare((await response.json()) as State);
    return response.ok;
  }

  function end(): void {
    isOver = true;
    visible.abort();
  }

  /** Runs in one tab of the link, until the tab is hidden or the ride is over. */
  async function lead(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      const ended = await withFreeStream(() =>
        readStream(`${base}/events`, signal, {
          onEvent: (_name, data) => takeAndShare(JSON.parse(data) as State),
          onOpen: () => (failures = 0),
        }),
      );
      if (ended === 'refused') await poll(signal);
      // The end may have come while no tab was listening.
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
    if (document.hidden || isOver) return;
    visible = new AbortController();
    const { signal } = visible;
    askForState(signal).catch(() => {});
    exclusively(base, signal, () => lead(signal)).catch(() => {});
  }

  otherTabs.onmessage = ({ data }) => take(data as State);
  document.addEventListener('visibilitychange', () => (document.hidden ? visible.abort() : start()));
  // A page that the browser keeps for Back holds nothing open.
  addEventListener('pagehide', () => visible.abort());
  addEventListener('pageshow', ({ persisted }) => persisted && start());
  start();
}

/** 1 to 30 s, longer each time, and never the same for all pages that lost their server together. */
const backoffMs = (failures: number): number =>
  Math.max(1_000, Math.min(30_000, 1_000 * 2 ** failures) * Math.random());

/** Reads a stream under one of the few places that all tabs of this host share; `refused` where none is free. */
async function withFreeStream(read: () => Promise<StreamEnd>): Promise<StreamEnd> {
  if (!navigator.locks) return read();
  for (let place = 0; place < maxStreams; place++) {
    const ended = await navigator.locks.request(`stream ${place}`, { ifAvailable: true }, (lock) => lock && read());
    if (ended) return ended;
  }
  return 'refused';
}
