import mongoose from 'mongoose';
import { accountOf } from '../../../shared/accounts/account.ts';
import { startSession } from '../../../shared/accounts/session.ts';
import { newAttemptId, newRideId, newTrackToken } from '../../../shared/base/ids.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { type AttemptRecord, attempts } from '../../../shared/webhooks/attempts.ts';
import type { Bench, Measurement } from '../bench.ts';
import { newKeys } from '../data/keys.ts';
import { biddingRide, insertRides, ridesInBatches, tripRide } from '../data/rides.ts';
import type { Figure } from '../report.ts';
import { waitUntilIdle } from '../scale/databases.ts';
import { percentile } from '../statistics.ts';
import { timeOf } from './http-requests.ts';

const [liveKeys, testKeys] = [150, 50];
const goal = '<= 300';

type FilledAccount = Awaited<ReturnType<typeof fill>>;

/** The response times (p95) of the pages of one account with very many rides. */
export const dashboard: Measurement = async (bench) => {
  const { stack, quick, say } = bench;
  const count = quick ? 50_000 : 1_000_000;
  const filled = await fill(bench, count);
  say('waiting until MongoDB is idle');
  await waitUntilIdle(stack.mongo.pid, 30_000);
  const api = await stack.startApi();
  const figures: Figure[] = [];
  for (const [name, pathOf] of Object.entries(pages(filled))) {
    say(`the page of ${name}`);
    const times: number[] = [];
    for (let request = 0; request < (quick ? 30 : 100); request++) {
      times.push(await timeOf(`http://127.0.0.1:${api.port}${pathOf(request)}`, { cookie: filled.cookie }));
    }
    const service = [percentile(times, 0.95)];
    figures.push({ name: `${name}, ${count.toLocaleString('en-US')} rides, p95`, unit: 'ms', service, goal });
  }
  return figures;
};

/** The path of each page, for its n-th request. */
function pages({ keys, rideIds, attemptIds }: FilledAccount): Record<string, (n: number) => string> {
  const one = <T>(all: readonly T[], n: number): T => all[(n * 37) % all.length] as T;
  const key = (n: number) => one(keys, n).keyId;
  const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 3_600_000).toISOString().slice(0, 10);
  return {
    rides: () => '/dashboard/rides',
    'rides of a key': (n) => `/dashboard/rides?key=${key(n)}`,
    'rides, a rare status': () => '/dashboard/rides?status=arrived',
    'rides of a mode and a status': () => '/dashboard/rides?mode=test&status=cancelled',
    'rides of a key, a status and a time': (n) =>
      `/dashboard/rides?key=${key(n)}&status=cancelled&from=${daysAgo(9)}&to=${daysAgo(3)}`,
    'rides, a late page': (n) => `/dashboard/rides?after=${one(rideIds, n)}`,
    'a ride': (n) => `/dashboard/rides/${one(rideIds, n)}`,
    deliveries: () => '/dashboard/deliveries',
    'deliveries of a key that did not arrive': (n) => `/dashboard/deliveries?key=${key(n)}&outcome=missed`,
    'deliveries, a rare outcome': () => '/dashboard/deliveries?outcome=no_url',
    'deliveries of an event and a time': () =>
      `/dashboard/deliveries?event=offer.received&from=${daysAgo(9)}&to=${daysAgo(3)}`,
    'deliveries, a late page': (n) => `/dashboard/deliveries?after=${one(attemptIds, n)}`,
    'a delivery': (n) => `/dashboard/deliveries/${one(attemptIds, n)}`,
  };
}

/** Creates an account with keys and `count` rides and attempts, one each second until now. */
async function fill({ say }: Bench, count: number) {
  const now = Date.now();
  const { _id: accountId } = await accountOf('bench@rides.example');
  const keys = [
    ...(await newKeys(liveKeys, 'live', undefined, undefined, accountId)),
    ...(await newKeys(testKeys, 'test', undefined, undefined, accountId)),
  ];
  const templates = keys.map(
    (key) => [tripRide(key, 'completed'), biddingRide(key, 3), tripRide(key, 'arrived')] as const,
  );
  const rideIds: string[] = [];
  const attemptIds: string[] = [];
  const newRide = (number: number) =>
    rideOf(templates[number % keys.length] as (typeof templates)[0], number, now - (count - number) * 1_000);
  for (const rides of ridesInBatches(count, newRide, say)) {
    const records = rides.map(attemptOn);
    await Promise.all([insertRides(rides), insertAttempts(records)]);
    rideIds.push(rides[0]?._id ?? '');
    attemptIds.push(records[0]?._id ?? '');
  }
  return { keys, rideIds, attemptIds, cookie: `session=${await startSession(accountId, now)}` };
}

/** Most rides are completed, a tenth is cancelled, and very few have the status `arrived`. */
function rideOf([completed, cancelled, arrived]: readonly [Ride, Ride, Ride], number: number, atMs: number): Ride {
  const isRare = number % 200_003 === 0;
  const template = isRare
    ? arrived
    : number % 11 === 0
      ? { ...cancelled, status: 'cancelled' as const, timers: [] }
      : completed;
  const ride = { ...template, _id: newRideId(atMs), trackToken: newTrackToken(), createdAt: new Date(atMs) };
  delete ride.nextDueAt;
  return ride;
}

function attemptOn({ _id: rideId, accountId, keyId, mode, createdAt: at }: Ride, number: number): AttemptRecord {
  return {
    ...{ _id: newAttemptId(at.getTime()), accountId, keyId, mode, kind: 'event', rideId, seq: 1, at },
    event: number % 3 === 0 ? 'offer.received' : 'ride.status',
    ...(number % 101 === 0
      ? { outcome: 'failed', reason: 'status', httpStatus: 500 }
      : { outcome: 'delivered', httpStatus: 200 }),
    url: 'https://partner.example/hook',
    address: '198.51.100.7',
    headers: { 'Content-Type': 'application/json', 'X-Service-Signature': `t=1,v1=${'0'.repeat(64)}` },
    body: JSON.stringify({ event: 'ride.status', rideId, status: 'completed', filler: 'x'.repeat(250) }),
    answer: 'ok',
    durationMs: 41,
    phases: { dns: 1, connect: 10, tls: 20, write: 0.1, answer: 9.9 },
  };
}

async function insertAttempts(records: AttemptRecord[]): Promise<void> {
  await mongoose.connection
    .collection<AttemptRecord>(attempts.collectionName)
    .insertMany(records, { ordered: false, writeConcern: { w: 1, journal: false } });
}
