import { setTimeout } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { poolNames, queuePrefix } from '../../../shared/base/queues.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { Figure } from '../figure.ts';
import type { World } from '../world/world.ts';
import { type Load, startLoad } from './clean-stop-load.ts';
import { inWorld, numbers, sum } from './in-world.ts';

const longestMs = 10_000;
/**
 * Time until BullMQ reports the job of a killed worker as stalled: the lock expires after 8 s, and checks run every 2
 * s.
 */
const stallShowsMs = 11_000;

interface Circumstance {
  name: string;
  begin(world: World): Promise<unknown> | unknown;
  end(world: World): Promise<unknown> | unknown;
}

const calm: Circumstance = { name: 'no fault', begin() {}, end() {} };
const outages: Circumstance[] = [
  { name: 'Redis killed', begin: ({ redis }) => redis.kill(), end: ({ redis }) => redis.start() },
  { name: 'Redis hung', begin: ({ redis }) => redis.pause(), end: ({ redis }) => redis.resume() },
  { name: 'MongoDB killed', begin: ({ mongo }) => mongo.kill(), end: ({ mongo }) => mongo.start() },
  { name: 'MongoDB hung', begin: ({ mongo }) => mongo.pause(), end: ({ mongo }) => mongo.resume() },
  {
    name: 'both killed',
    begin: ({ mongo, redis }) => Promise.all([mongo.kill(), redis.kill()]),
    end: ({ mongo, redis }) => Promise.all([mongo.start(), redis.start()]),
  },
];

/** The results of stopping all processes under one circumstance. */
interface Stop {
  name: string;
  slowestMs: number;
  violations: string[];
  stalled: number;
}

export const cleanStop: Figure = {
  name: 'clean-stop',
  promise: 'SIGTERM ends every process in time; nothing is lost and no job stalls',
  goal: 'every process exits within 10 s of SIGTERM, with Redis away too; 0 stalled jobs',
  needsEngine: true,
  async measure(run) {
    const circumstances = run.short ? [calm, ...outages.slice(0, 1)] : [...numbers(3).map(() => calm), ...outages];
    const { measured, crashes } = await inWorld({ build: run.build, seed: run.seed }, async (world) => {
      const stops: Stop[] = [];
      const created = new Set<string>();
      for (const circumstance of circumstances) {
        const stop = await stopUnder(world, circumstance, created);
        run.say(`${stop.name}: ${stop.slowestMs} ms, ${stop.stalled} stalled`);
        stops.push(stop);
      }
      return { stops, created: created.size, lost: await lostRides(world, created, run.short) };
    });
    const { stops, created, lost } = measured;
    const slowest = [...new Set(stops.map(({ name }) => name))].map((name) => {
      const slowestMs = Math.max(...stops.filter((stop) => stop.name === name).map((stop) => stop.slowestMs));
      return `${name} ${(slowestMs / 1_000).toFixed(1)} s`;
    });
    const undisturbed = stops.filter(({ name }) => name === calm.name);
    const reached =
      `slowest of 10 processes under load, by circumstance: ${slowest.join(', ')}; ` +
      `${sum(undisturbed.map(({ stalled }) => stalled))} stalled jobs in ${undisturbed.length} stops of everything without a ` +
      `fault; ${lost.length} of ${created.toLocaleString('en')} rides lost or stuck`;
    return { reached, violations: [...stops.flatMap(({ violations }) => violations), ...lost, ...crashes] };
  },
};

async function stopUnder(world: World, circumstance: Circumstance, created: Set<string>): Promise<Stop> {
  const { name } = circumstance;
  const since = Date.now();
  const load = await startLoad(world);
  await setTimeout(3_000);
  await circumstance.begin(world);
  if (circumstance !== calm) await setTimeout(1_500);
  const ends = await Promise.all(
    [...world.apis, ...world.workers].map(async (process) => ({ process: process.name, ...(await process.stop()) })),
  );
  await circumstance.end(world);
  await load.stop();
  for (const rideId of load.created) created.add(rideId);
  await Promise.all([...world.apis, ...world.workers].map((process) => process.start()));
  // Jobs that an outage interrupted are reported as stalled only later. So `measure` first makes all stops without a
  // fault.
  await setTimeout(circumstance === calm ? stallShowsMs : 1_000);
  const stalled = await stalledJobs(world, since);
  const violations = [
    ...ends.filter(({ ms }) => ms > longestMs).map(({ process, ms }) => `${name}: ${process} took ${ms} ms to end`),
    ...ends.filter(({ how }) => how !== 'code 0').map(({ process, how }) => `${name}: ${process} ended with ${how}`),
    ...(circumstance === calm ? disturbances(load, stalled) : []),
  ];
  return { name, slowestMs: Math.max(...ends.map(({ ms }) => ms)), violations, stalled };
}

function disturbances({ unanswered }: Load, stalled: number): string[] {
  return [
    ...(stalled > 0 ? [`no fault: ${stalled} jobs stalled`] : []),
    ...(unanswered > 0 ? [`no fault: ${unanswered} requests on open connections were never answered`] : []),
  ];
}

/** Counts stalled jobs, which BullMQ reports in its queue's event stream. */
async function stalledJobs(world: World, since: number): Promise<number> {
  const redis = new Redis(world.redis.url);
  const streams = await Promise.all(
    poolNames.map((pool) => redis.xrange(`${queuePrefix(pool)}:${pool}:events`, `${since}`, '+')),
  );
  redis.disconnect();
  return streams.flat().filter(([, fields]) => fields[fields.indexOf('event') + 1] === 'stalled').length;
}

/** Every ride whose creation was answered 201 must be stored and must end. */
async function lostRides(world: World, created: ReadonlySet<string>, isShort: boolean): Promise<string[]> {
  const stuck = await world.quiet(isShort ? 30_000 : 60_000);
  const stored = new Set((await rides.find({}, { projection: { _id: 1 } }).toArray()).map(({ _id }) => _id));
  const lost = [...created].filter((rideId) => !stored.has(rideId));
  return [...lost.map((rideId) => `${rideId} is lost`), ...(stuck > 0 ? [`${stuck} rides have not ended`] : [])];
}
