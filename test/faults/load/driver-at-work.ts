import { setTimeout } from 'node:timers/promises';
import type { Point } from '../../../shared/base/great-circle.ts';
import type { RideStatus } from '../../../shared/rides/ride-types.ts';
import { openEventStream } from '../../support/event-stream.ts';
import { between, oneOf, type Random } from '../random.ts';
import type { FleetDriver, World } from '../world/world.ts';
import type { Pace } from './pace.ts';
import { type Answer, type Connections, type RequestOptions, request } from './request.ts';

type Step = 'arrive' | 'start' | 'complete' | 'cancel';

/** One request of a driver to the gateway, and its answer. */
export interface DriverCall extends Answer {
  operation: 'online' | 'offline' | 'report' | 'requests' | 'ride' | 'offer' | 'withdraw' | Step;
  driverId: string;
  /** The name of the API process. */
  api: string;
  rideId?: string;
  offerId?: string;
}

interface SeenRequest {
  rideId: string;
  fare: number;
  offer?: { offerId: string };
}

interface SeenRide {
  rideId: string;
  status: RideStatus;
  notes?: string;
  passenger?: { name?: string; phone?: string };
}

/** Data that a driver was shown, by an answer or a stream: the open requests or the driver's ride. */
export interface Sight {
  driverId: string;
  /** When the request was sent, or the stream was opened. Unix ms. */
  askedAt: number;
  seenAt: number;
  by: 'answer' | 'stream';
  requests?: SeenRequest[];
  ride?: SeenRide | null;
}

export interface DriverAtWork {
  /** Resolves when the driver has been online once. */
  ready: Promise<void>;
  /** Resolves when the driver has gone offline for good. */
  done: Promise<void>;
}

interface Work {
  world: World;
  connections: Connections;
  driver: FleetDriver;
  place: Point;
  log: { calls: DriverCall[]; sights: Sight[] };
  random: Random;
  /** Longest pause of the driver between two polls. */
  pauseMs: number;
  /** Slows down polls and reports, but not the steps of a trip. */
  pace: Pace;
  /** If true, the driver follows a stream and polls little; otherwise it only polls. */
  streams: boolean;
  /** If true, the driver goes offline immediately, and then only reports positions. */
  isParked: boolean;
  staysOnline: boolean;
  stopping: AbortSignal;
}

const nextStep: Partial<Record<RideStatus, Step>> = {
  driver_arriving: 'arrive',
  arrived: 'start',
  in_progress: 'complete',
};

/** Runs one driver of a fleet until the fleet stops. */
export function driverAtWork(work: Work): DriverAtWork {
  const { world, connections, driver, place, log, random, stopping } = work;
  const { driverId, key } = driver;
  /** Rides for which the driver has decided whether to make an offer. */
  const decided = new Set<string>();
  let seen: { requests: SeenRequest[]; ride: SeenRide | null } = { requests: [], ride: null };
  let isOnline = false;

  async function call(
    operation: DriverCall['operation'],
    method: RequestOptions['method'],
    path: string,
    { body, ...more }: { body?: object; rideId?: string; offerId?: string } = {},
  ): Promise<DriverCall> {
    const api = oneOf(random, world.apis);
    const answer = await request(connections, { method, url: `${api.url}/drivers/v1${path}`, key, body });
    const entry = { operation, driverId, api: api.name, ...more, ...answer };
    log.calls.push(entry);
    return entry;
  }

  function note(shown: Pick<Sight, 'requests' | 'ride'>, by: Sight['by'], askedAt: number, seenAt = Date.now()): void {
    log.sights.push({ driverId, askedAt, seenAt, by, ...shown });
    if (shown.requests) seen = { ...seen, requests: shown.requests };
    if (shown.ride !== undefined) seen = { ...seen, ride: shown.ride };
  }

  async function look(): Promise<void> {
    for (const operation of ['requests', 'ride'] as const) {
      const { status, body, at, ms } = await call(operation, 'GET', `/${operation}`);
      if (status === 200) note(body, 'answer', at, at + ms);
    }
  }

  async function follow(): Promise<void> {
    while (!stopping.aborted) {
      const askedAt = Date.now();
      try {
        const url = `${oneOf(random, world.apis).url}/drivers/v1/stream`;
        const stream = await openEventStream(url, { authorization: `Bearer ${key}` });
        const end = () => void stream.close().catch(() => {});
        stopping.addEventListener('abort', end, { once: true });
        if (stream.status !== 200) end();
        else for (let shown = await stream.next(); shown; shown = await stream.next()) note(shown, 'stream', askedAt);
        stopping.removeEventListener('abort', end);
      } catch {
        // The API process was stopped or killed, so the driver reconnects.
      }
      await pause(300);
    }
  }

  async function report(): Promise<void> {
    while (!stopping.aborted) {
      await pause(between(random, 1_000, 2_000) * work.pace.slowdown);
      const body = { ...place, heading: Math.floor(random() * 360) };
      if (isOnline || work.isParked) await call('report', 'PUT', '/me/position', { body });
    }
  }

  async function offerOn({ rideId, fare }: SeenRequest): Promise<void> {
    decided.add(rideId);
    const inclination = random();
    if (inclination < 0.25) return;
    const body = { price: fare + Math.floor(random() * 4), etaMinutes: 1 + Math.floor(random() * 9) };
    const { status, body: made } = await call('offer', 'POST', `/requests/${rideId}/offers`, { body, rideId });
    if (status !== 201 || inclination > 0.4) return;
    await pause(between(random, 0, 800));
    const { offerId } = made;
    await call('withdraw', 'DELETE', `/requests/${rideId}/offers/${offerId}`, { rideId, offerId });
  }

  async function drive({ rideId, status }: SeenRide): Promise<void> {
    const step = random() < 0.04 ? 'cancel' : nextStep[status];
    if (!step) return;
    // Some trips are long, so that the checker notices offers that stay open on other rides.
    await pause(between(random, 0, random() < 0.2 ? 12 : 3) * work.pauseMs);
    const answer = await call(step, 'POST', `/ride/${step}`, { body: { rideId }, rideId });
    // Repeats the step, as a client does after a lost answer.
    if (random() < 0.2) await call(step, 'POST', `/ride/${step}`, { body: { rideId }, rideId });
    if (answer.status === 200 && seen.ride?.rideId === rideId) {
      const isOver = step === 'complete' || step === 'cancel';
      seen = { ...seen, ride: isOver ? null : { ...seen.ride, status: answer.body.status } };
    }
  }

  async function goOnline(): Promise<void> {
    const { status } = await call('online', 'POST', '/me/online', { body: place });
    isOnline = status === 200;
  }

  async function goOffline(): Promise<void> {
    const { status } = await call('offline', 'POST', '/me/offline');
    if (status === 200) isOnline = false;
  }

  /** One time online. It does not end while the driver has a ride. */
  async function shift(): Promise<void> {
    const until = Date.now() + (work.staysOnline ? Number.POSITIVE_INFINITY : between(random, 6_000, 25_000));
    while (isOnline && !stopping.aborted && (seen.ride || Date.now() < until)) {
      if (!work.streams || random() < 0.2) await look();
      if (seen.ride) await drive(seen.ride);
      for (const open of seen.ride ? [] : seen.requests) if (!decided.has(open.rideId)) await offerOn(open);
      await pause(between(random, work.pauseMs / 3, work.pauseMs) * work.pace.slowdown);
    }
  }

  async function goToWork(): Promise<void> {
    await ready;
    while (!stopping.aborted) {
      await shift();
      await goOffline();
      await pause(between(random, 500, 5_000));
      // Offers stay open while their driver is offline, so a partner may have accepted one in the meantime.
      await look();
      if (!work.isParked && !stopping.aborted) await goOnline();
    }
  }

  const pause = (ms: number) => setTimeout(ms, undefined, { signal: stopping }).catch(() => {});
  const ready = goOnline().then(() => (work.isParked ? goOffline() : undefined));
  const done = Promise.all([goToWork(), report(), work.streams ? follow() : undefined]).then(() => {});
  return { ready, done };
}
