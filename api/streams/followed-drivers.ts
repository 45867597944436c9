import type { Context } from '../../shared/base/context.ts';
import type { Wake } from '../../shared/base/wake.ts';
import { type DriverRides, findDriversWithRides } from '../../shared/rides/driver/driver-rides.ts';
import { namedEvent, type Stream } from './streams.ts';
import { watch } from './watch.ts';

interface Follower {
  stream: Stream;
  /** The hash of the key that opened the stream. */
  keyHash: string;
  /** The text of the last event that was sent, by event name. */
  shown: Map<string, string>;
}

interface FollowedDrivers {
  /** Sends the driver's events now and at every change. Ends the stream once its key is no longer valid. */
  follow(driverId: string, keyHash: string, stream: Stream): void;
  close(): void;
}

/** Feeds the streams of drivers in this process. `present` returns a driver's events by name, in sending order. */
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
    // The polling interval. It is also the longest time that a stream continues after its key was revoked.
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
