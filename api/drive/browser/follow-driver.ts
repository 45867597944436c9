import type { ShownRequest, ShownRide } from '../../drivers/fields.ts';
import { pause, readStream } from '../../pages/browser/read-stream.ts';
import { call, learnTime, streamUrl } from './gateway.ts';

const offlineMs = 10_000;

interface Following {
  onRequests(requests: ShownRequest[]): void;
  onRide(ride: ShownRide | null): void;
  onConnection(isGood: boolean): void;
  onSignedOut(): void;
}

/** Keeps the page at the service's state, also while it is hidden: the driver may be looking at a map. */
export function followDriver({ onRequests, onRide, onConnection, onSignedOut }: Following): void {
  let stream = new AbortController();
  let waiting = new AbortController();

  async function read(): Promise<void> {
    for (let failures = 0; ; ) {
      stream = new AbortController();
      const ended = await readStream(streamUrl, stream.signal, {
        onOpen(response) {
          failures = 0;
          learnTime(response);
          onConnection(true);
        },
        onEvent(name, data) {
          const body = JSON.parse(data);
          if (name === 'requests') onRequests(body.requests);
          else onRide(body.ride);
        },
      });
      if (ended === 'over' && (await call('GET', '/me'))?.status === 401) return onSignedOut();
      failures += 1;
      // One that breaks, as at a restart of the service, is replaced at once.
      if (failures > 1 || !navigator.onLine) onConnection(false);
      waiting = new AbortController();
      // The browser says when it has a network again; it may be wrong, so the stream is tried all the same.
      await pause(navigator.onLine ? backoffMs(failures) : offlineMs, waiting.signal);
    }
  }

  addEventListener('offline', () => {
    onConnection(false);
    stream.abort();
  });
  addEventListener('online', () => waiting.abort());
  document.addEventListener('visibilitychange', () => !document.hidden && waiting.abort());
  void read();
}

/** 1 to 10 s, longer each time, and not the same for all pages that lost the service together. */
const backoffMs = (failures: number): number => Math.min(10_000, 500 * 2 ** failures) * (0.5 + Math.random() / 2);
