import { call } from './gateway.ts';

/** The position is reported this often while it changes, and less often while the car does not move. */
const reportMs = 2_000;
const standingMs = 15_000;

interface Place {
  lat: number;
  lng: number;
  heading?: number;
}

const placeOf = ({ coords: { latitude, longitude, heading } }: GeolocationPosition): Place => ({
  lat: latitude,
  lng: longitude,
  // A standing phone has none.
  ...(heading !== null && Number.isFinite(heading) && { heading }),
});

export const positionFault = ({ code, PERMISSION_DENIED }: GeolocationPositionError): string =>
  code === PERMISSION_DENIED
    ? "Your position is blocked. Allow it for this site in the browser's settings."
    : 'Your position is not known. It works best under the open sky.';

/** The phone's position. Rejects with a GeolocationPositionError. */
export const findPosition = (): Promise<Place> =>
  new Promise((resolve, reject) =>
    navigator.geolocation.getCurrentPosition((found) => resolve(placeOf(found)), reject, {
      enableHighAccuracy: true,
      maximumAge: 10_000,
      timeout: 15_000,
    }),
  );

/** Reports the phone's position while that is wanted. Of reports that cannot be sent, only the latest counts. */
export function createReports({ onFault }: { onFault(fault: string | null): void }) {
  let watch: number | undefined;
  let timer: ReturnType<typeof setInterval> | undefined;
  let latest: Place | null = null;
  let isNew = false;
  let reportedAt = 0;
  let isReporting = false;

  async function report(): Promise<void> {
    const isDue = isNew || performance.now() - reportedAt > standingMs;
    if (!latest || !isDue || isReporting || !navigator.onLine) return;
    isReporting = true;
    isNew = false;
    reportedAt = performance.now();
    // Without a time, which means now: a phone's clock can be wrong.
    await call('PUT', '/me/position', latest);
    isReporting = false;
  }

  function start(): void {
    if (watch !== undefined) return;
    timer = setInterval(() => void report(), reportMs);
    watch = navigator.geolocation.watchPosition(
      (found) => {
        latest = placeOf(found);
        isNew = true;
        onFault(null);
      },
      (error) => onFault(positionFault(error)),
      { enableHighAccuracy: true, maximumAge: reportMs },
    );
  }

  function stop(): void {
    if (watch === undefined) return;
    navigator.geolocation.clearWatch(watch);
    clearInterval(timer);
    watch = undefined;
    latest = null;
    onFault(null);
  }

  return { want: (isWanted: boolean): void => (isWanted ? start() : stop()) };
}
