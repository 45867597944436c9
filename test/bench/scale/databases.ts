import { setTimeout } from 'node:timers/promises';
import mongoose from 'mongoose';
import { newRideId, newTrackToken } from '../../../shared/base/ids.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import type { Bench } from '../bench.ts';
import { type BenchKey, newKeys } from '../data/keys.ts';
import { biddingRide, insertRides, tripRide, unsettledRide } from '../data/rides.ts';
import { cpuUsOf } from '../measured/machine-cpu.ts';

/** A separate database on the same server, filled with rides. */
export interface FilledDatabase {
  name: string;
  url: string;
  /** Rides spread over the whole collection, with their keys. */
  sample: { key: BenchKey; rideId: string; atMs: number }[];
  drop(): Promise<void>;
}

const keyCount = 1_000;
const sampleSize = 2_000;
/** The newest event is this old, so that the event feed shows all events. */
const minuteMs = 60_000;
/** Number of overdue timers and unsettled events in each database. Every sweep finds them. */
export const overdue = { timers: 50, deliveries: 50 };
const overdueMs = 60_000;

export async function filledDatabase({ stack, say }: Bench, name: string, count: number): Promise<FilledDatabase> {
  const db = mongoose.connection.useDb(name);
  const url = stack.mongo.url.replace('/rides?', `/${name}?`);
  const migrating = await stack.start('migrate', 'cli/migrate.js', { env: { MONGO_URL: url } });
  await migrating.stop();
  const keys = await newKeys(keyCount, 'live', undefined, name);
  const templates = keys.map((key, index) => (index % 10 === 0 ? biddingRide(key, 3) : tripRide(key, 'completed')));
  const sampleEvery = Math.floor(count / sampleSize);
  const sample: FilledDatabase['sample'] = [];
  let inFlight: Promise<void>[] = [];
  for (let made = 0; made < count; made += 1_000) {
    if (made % 50_000 === 0) say(`inserting ${made.toLocaleString('en-US')} of ${count.toLocaleString('en-US')} rides`);
    const batch = Array.from({ length: Math.min(1_000, count - made) }, (_, index) => {
      const template = templates[(made + index) % keyCount] as Ride;
      const atMs = Date.now() - minuteMs - (count - made);
      const events = template.events.map((event) => ({ ...event, at: new Date(atMs + event.seq) }));
      const ride = {
        ...template,
        _id: newRideId(atMs),
        trackToken: newTrackToken(),
        createdAt: new Date(atMs),
        events,
      };
      if ((made + index) % sampleEvery === 0)
        sample.push({ key: keys[(made + index) % keyCount] as BenchKey, rideId: ride._id, atMs });
      return ride;
    });
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
