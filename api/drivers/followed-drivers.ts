import type { Context } from '../../shared/base/context.ts';
import { describeError } from '../../shared/base/errors.ts';
import type { Wake } from '../../shared/base/wake.ts';
import { findDriversWithRides } from '../../shared/rides/driver/driver-rides.ts';
import { namedEvent, type Stream } from '../pages/streams.ts';
import { presentRequests } from './list-requests.ts';
import { presentOwnRide } from './show-own-ride.ts';

/** Every followed driver is looked at this often: a wake-up can be lost, and a key can be revoked. */
const lookMs = 2_000;
/** Changes within this time are read in one query. */
const batchMs = 50;
/** So many of those without news are read in one query, so that news never waits for all of them. */
const lookedAtOnce = 100;

/** One stream of a driver, and what it has sent last. */
interface Follower {
  stream: Stream;
  /** Of the key that the stream was opened with. */
  keyHash: string;
  requests?: string;
  ride?: string;
}

export interface FollowedDrivers {
  /** Sends the driver's requests and ride now and whenever they change, and ends with the driver's key. */
  follow(driverId: string, keyHash: string, stream: Stream): void;
  close(): void;
}

/** The drivers whose streams this process holds. Those with news are read first, in one query. */
export function followDrivers(service: Context, wake: Wake): FollowedDrivers {
  const followed = new Map<string, Set<Follower>>();
  const withNews = new Set<string>();
  const withoutNews = new Set<string>();
  let waiting: NodeJS.Timeout | undefined;
  let isReading = false;

  /** One look at a time, so that a later one shows the later state. */
  async function readAll(): Promise<void> {
    if (isReading) return;
    isReading = true;
    while (withNews.size + withoutNews.size > 0) {
      const driverIds = withNews.size > 0 ? [...withNews] : [...withoutNews].slice(0, lookedAtOnce);
      for (const driverId of driverIds) {
        withNews.delete(driverId);
        withoutNews.delete(driverId);
      }
      await look(driverIds).catch((error) =>
        service.log.warn({ error: describeError(error) }, 'followed drivers could not be read'),
      );
    }
    isReading = false;
  }

  async function look(driverIds: string[]): Promise<void> {
    for (const { driverId, keyHash, rides } of await findDriversWithRides(driverIds, service.now())) {
      const requests = JSON.stringify(presentRequests(rides));
      const ride = JSON.stringify(presentOwnRide(rides));
      for (const follower of followed.get(driverId) ?? []) {
        if (follower.keyHash !== keyHash) follower.stream.end();
        else show(follower, requests, ride);
      }
    }
  }

  const stopListening = wake.onRideChange((_rideId, driverIds) => {
    const ours = driverIds.filter((driverId) => followed.has(driverId));
    if (ours.length === 0) return;
    for (const driverId of ours) withNews.add(driverId);
    waiting ??= setTimeout(() => {
      waiting = undefined;
      void readAll();
    }, batchMs);
  });
  const timer = setInterval(() => {
    for (const driverId of followed.keys()) withoutNews.add(driverId);
    void readAll();
  }, lookMs).unref();

  return {
    follow(driverId, keyHash, stream) {
      const followers = followed.get(driverId) ?? new Set();
      const follower: Follower = { stream, keyHash };
      followers.add(follower);
      followed.set(driverId, followers);
      stream.onClose(() => {
        followers.delete(follower);
        if (followers.size === 0 && followed.get(driverId) === followers) followed.delete(driverId);
      });
      withNews.add(driverId);
      void readAll();
    },
    close() {
      stopListening();
      clearInterval(timer);
      clearTimeout(waiting);
    },
  };
}

function show(follower: Follower, requests: string, ride: string): void {
  if (follower.requests !== requests) follower.stream.send(namedEvent('requests', requests));
  if (follower.ride !== ride) follower.stream.send(namedEvent('ride', ride));
  Object.assign(follower, { requests, ride });
}
