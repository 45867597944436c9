import { setTimeout as sleep } from 'node:timers/promises';
import { greatCircleKm } from '../../shared/base/great-circle.ts';
import type { Partner, Ride } from './partner.ts';
import type { Timeline } from './timeline.ts';

type Place = { lat: number; lng: number; address: string };
type Trip = { pickup: Place; destination: Place };

const pollEveryMs = 300;

/** Shows where the ride is now as the timeline's progress, until stopped. The API does not limit reads. */
export function watchRide(timeline: Timeline, partner: Partner, rideId: string, trip: Trip) {
  const stopping = new AbortController();
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      const ride = await partner.retrieveRide(rideId).catch(() => undefined);
      if (ride && !stopping.signal.aborted) timeline.progress(whereabouts(ride, trip));
      await sleep(pollEveryMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  })();
  return {
    async stop(): Promise<void> {
      stopping.abort();
      await watching;
      timeline.progress('');
    },
  };
}

function whereabouts({ status, driver, liveLocation }: Ride, { pickup, destination }: Trip): string {
  const kmTo = (place: Place) => (liveLocation ? `${greatCircleKm(liveLocation, place).toFixed(2)} km` : 'on the way');
  switch (status) {
    case 'bidding':
      return 'drivers nearby are looking at the fare';
    case 'driver_arriving':
      return `${driver?.name} is coming: ${kmTo(pickup)} to ${pickup.address}`;
    case 'arrived':
      return `${driver?.name} is waiting at ${pickup.address}`;
    case 'in_progress':
      return `${kmTo(destination)} to ${destination.address}`;
    default:
      return status;
  }
}
