import type { Point } from '../../../shared/base/great-circle.ts';
import { call } from './call-gateway.ts';
import { text } from './elements.ts';

/** The position is reported this often while it changes, and less often while the car does not move. */
const reportMs = 2_000;
const unmovedReportMs = 15_000;

export interface PositionReport extends Point {
  heading?: number;
}

const toReport = ({ coords: { latitude, longitude, heading } }: GeolocationPosition): PositionReport => ({
  lat: latitude,
  lng: longitude,
  // A phone that does not move has no heading.
  ...(heading !== null && Number.isFinite(heading) && { heading }),
});

export const positionFault = ({ code, PERMISSION_DENIED }: GeolocationPositionError): string =>
  text(code === PERMISSION_DENIED ? 'position.blocked' : 'position.unknown');

/** The phone's position. Rejects with a GeolocationPositionError. */
export const findPosition = (): Promise<PositionReport> =>
  new Promise((resolve, reject) =>
    navigator.geolocation.getCurrentPosition((found) => resolve(toReport(found)), reject, {
      enableHighAccuracy: true,
      maximumAge: 10_000,
      timeout: 15_000,
    }),
  );

interface Listeners {
  onFault(fault: string | null): void;
  onPlace(place: PositionReport): void;
}

/** Reports the phone's position while wanted. If reports cannot be sent, only the latest one is kept. */
export function createReports({ onFault, onPlace }: Listeners) {
  let watch: number | undefined;
  let timer: ReturnType<typeof setInterval> | undefined;
  let latest: PositionReport | null = null;
  let isNew = false;
  let reportedAt = 0;
  let sentAt: number | null = null;
  let isReporting = false;

  async function report(): Promise<void> {
    const isDue = isNew || performance.now() - reportedAt > unmovedReportMs;
    if (!latest || !isDue || isReporting || !navigator.onLine) return;
    isReporting = true;
    isNew = false;
    reportedAt = performance.now();
    // Without `at`, which means now: a phone's clock can be wrong.
    const answer = await call('PUT', '/me/position', latest);
    if (answer?.ok) sentAt = performance.now();
    isReporting = false;
  }

  function start(): void {
    if (watch !== undefined) return;
    timer = setInterval(() => void report(), reportMs);
    watchPosition();
  }

  function watchPosition(): void {
    watch = navigator.geolocation.watchPosition(
      (found) => {
        latest = toReport(found);
        isNew = true;
        onFault(null);
        onPlace(latest);
        if (reportedAt === 0) void report();
      },
      (error) => {
        // A blocked phone may be anywhere, so its last position must not be reported as the present one.
        if (error.code === error.PERMISSION_DENIED) latest = null;
        onFault(positionFault(error));
      },
      { enableHighAccuracy: true, maximumAge: reportMs },
    );
  }

  /** Starts a new watch. After a browser has blocked or suspended the position, the old one reports nothing more. */
  function watchAgain(): void {
    if (watch === undefined || document.hidden) return;
    navigator.geolocation.clearWatch(watch);
    watchPosition();
  }
  document.addEventListener('visibilitychange', watchAgain);
  void navigator.permissions?.query({ name: 'geolocation' }).then((permission) => {
    permission.addEventListener('change', watchAgain);
  });

  function stop(): void {
    if (watch === undefined) return;
    navigator.geolocation.clearWatch(watch);
    clearInterval(timer);
    watch = undefined;
    latest = null;
    sentAt = null;
    reportedAt = 0;
    onFault(null);
  }

  return {
    want: (isWanted: boolean): void => (isWanted ? start() : stop()),
    /** The phone's position, if it is known. */
    place: (): PositionReport | null => latest,
    /** The time since the service last received a report, in ms; null if it has none. */
    sentAgoMs: (): number | null => (sentAt === null ? null : performance.now() - sentAt),
  };
}
