import { setTimeout } from 'node:timers/promises';
import mongoose from 'mongoose';
import { newRideId, newTrackToken } from '../../../shared/base/ids.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import type { Bench } from '../bench.ts';
import { type BenchKey, newKeys } from '../data/keys.ts';
import { biddingRide, insertRides, ridesInBatches, tripRide, unsettledRide } from '../data/rides.ts';
import { cpuUsOf } from '../measured/machine-cpu.ts';

/** A separate database on the same server, filled with rides. */
export type FilledDatabase = Awaited<ReturnType<typeof filledDatabase>>;

const keyCount = 1_000;
const sampleSize = 2_000;
/** The newest event is this old, so that the event feed shows all events. */
const minuteMs = 60_000;
/** Number of overdue timers and unsettled events in each database. Every sweep finds them. */
export const overdue = { timers: 50, deliveries: 50 };
const overdueMs = 60_000;

export async function filledDatabase({ stack, say }: Bench, name: string, count: number) {
  const db = mongoose.connection.useDb(name);
  const url = stack.mongo.url.replace('/rides?', `/${name}?`);
  const migrating = await stack.start('migrate', 'cli/migrate', { env: { MONGO_URL: url } });
  await migrating.stop();
  const keys = await newKeys(keyCount, 'live', undefined, name);
  const templates = keys.map((key, index) => (index % 10 === 0 ? biddingRide(key, 3) : tripRide(key, 'completed')));
  const sampleEvery = Math.floor(count / sampleSize);
  const sample: { key: BenchKey; rideId: string; atMs: number }[] = [];
  let inFlight: Promise<void>[] = [];
  const newRide = (number: number): Ride => {
    const template = templates[number % keyCount] as Ride;
    const atMs = Date.now() - minuteMs - (count - number);
    const _id = newRideId(atMs);
    const events = template.events.map((event) => ({ ...event, at: new Date(atMs + event.seq) }));
    if (number % sampleEvery === 0) sample.push({ key: keys[number % keyCount] as BenchKey, rideId: _id, atMs });
    return { ...template, _id, trackToken: newTrackToken(), createdAt: new Date(atMs), events };
  };
  for (const batch of ridesInBatches(count, newRide, say)) {
    inFlight.push(insertRides(batch, name));
    if (inFlight.length < 4) continue;
    await Promise.all(inFlight);
    inFlight = [];
  }
  await Promise.all(inFlight);
  await insertRides(overdueRides(keys), name);
  return { name, url, sample, drop: async () => void (await db.dropDatabase()) };
}

function overdueRides(keys: readonly BenchKey[]): Ride[] {
  const at = Date.now() - overdueMs;
  const dueAt = new Date(at);
  const [key] = keys as [BenchKey];
  const timers = [{ name: 'offer', dueAt }] satisfies Ride['timers'];
  return [
    ...Array.from({ length: overdue.timers }, () => ({ ...biddingRide(key, 0, at), timers, nextDueAt: dueAt })),
    ...Array.from({ length: overdue.deliveries }, () => unsettledRide(key, at)),
  ];
}

/** Waits until MongoDB is idle, at most `withinMs`. After inserts it still writes to disk for some time. */
export async function waitUntilIdle(mongoPid: number, withinMs: number): Promise<void> {
  const giveUpAt = Date.now() + withinMs;
  for (let before = cpuUsOf(mongoPid); Date.now() < giveUpAt; ) {
    await setTimeout(1_000);
    const after = cpuUsOf(mongoPid);
    if (after - before < 30_000) return;
    before = after;
  }
}
