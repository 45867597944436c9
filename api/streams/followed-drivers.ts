import type { Context } from '../../shared/base/context.ts';
import type { Wake } from '../../shared/base/wake.ts';
import { type DriverRides, findDriversWithRides } from '../../shared/rides/driver/driver-rides.ts';
import { namedEvent, type Stream } from './streams.ts';
import { watch } from './watch.ts';

interface Follower {
  stream: Stream;
  /** Of the key that the stream was opened with. */
  keyHash: string;
  /** The last text of each event that was sent, by the event's name. */
  shown: Map<string, string>;
}

interface FollowedDrivers {
  /** Sends the driver's events now and whenever they change, and ends the stream with the driver's key. */
  follow(driverId: string, keyHash: string, stream: Stream): void;
  close(): void;
}

/** The drivers whose streams this process holds. `present` returns the events that a driver is shown, by name, in order. */
export function followDrivers(
  { log, now }: Context,
  wake: Wake,
  present: (rides: DriverRides) => Readonly<Record<string, object>>,
): FollowedDrivers {
  const followed = watch<Follower>({
    async look(watched) {
      for (const { driverId, keyHash, rides } of await findDriversWithRides([...watched.keys()], now())) {
        const events = Object.entries(present(rides)).map(([name, data]) => [name, JSON.stringify(data)] as const);
        for (const follower of watched.get(driverId) ?? []) {
          if (follower.keyHash === keyHash) show(follower, events);
          else follower.stream.end();
        }
      }
    },
    // Also the time within which a stream ends after its key was revoked.
    pollMs: 2_000,
    onNews: (note) => wake.onRideChange((_rideId, driverIds) => driverIds.forEach(note)),
    log,
    failure: 'followed drivers could not be read',
  });

  return {
    follow(driverId, keyHash, stream) {
      stream.onClose(followed.join(driverId, { stream, keyHash, shown: new Map() }));
      followed.lookNow(driverId);
    },
    close: followed.close,
  };
}

function show({ stream, shown }: Follower, events: readonly (readonly [name: string, text: string])[]): void {
  for (const [name, text] of events) {
    if (shown.get(name) !== text) stream.send(namedEvent(name, text));
    shown.set(name, text);
  }
}
