import type { ShownRequest, ShownRide } from '../../../shared/rides/driver/driver-schemas.ts';
import { pause, readStream } from '../../kit/browser/read-stream.ts';
import { call, streamUrl, syncClock } from './call-gateway.ts';

const offlineMs = 10_000;

interface StreamListener {
  onRequests(requests: ShownRequest[]): void;
  onRide(ride: ShownRide | null): void;
  onConnection(isGood: boolean): void;
  onSignedOut(): void;
}

/** Follows the service's state. Continues while the page is hidden, because the driver may be looking at a map. */
export function followDriver({ onRequests, onRide, onConnection, onSignedOut }: StreamListener): void {
  let stream = new AbortController();
  let waiting = new AbortController();

  async function read(): Promise<void> {
    for (let failures = 0; ; ) {
      stream = new AbortController();
      const ended = await readStream(streamUrl, stream.signal, {
        onOpen(response) {
          failures = 0;
          syncClock(response);
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
      // The first failure of a stream is not reported, because a new stream usually replaces it at once, for example
      // after a restart.
      if (failures > 1 || !navigator.onLine) onConnection(false);
      waiting = new AbortController();
      // The browser reports when the network is back. It may be wrong, so the stream is retried anyway.
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

/** Exponential backoff up to 10 s, with jitter for pages that lost the service at the same time. */
const backoffMs = (failures: number): number => Math.min(10_000, 500 * 2 ** failures) * (0.5 + Math.random() / 2);
