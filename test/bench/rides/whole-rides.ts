import { setTimeout } from 'node:timers/promises';
import { rides } from '../../../shared/rides/ride.ts';
import { assertCount, type Bench, type Measurement } from '../bench.ts';
import { newKeys } from '../data/keys.ts';
import { creation } from '../data/requests.ts';
import { type BenchReceiver, startReceiver } from '../delivery/receiver.ts';
import type { LoadResult } from '../load/load.ts';
import { cpuByProgram } from '../measured/cpu-by-program.ts';
import { usesOfEach } from '../paths/create.ts';
import { newFigure } from '../report.ts';
import { readTrips, type Trips } from './trips.ts';
import { watchBacklog } from './watch-backlog.ts';

/** Duration of a test ride at real speed. After this time there are rides at every step. */
export const rideSeconds = 14;
const eventsOfEach = 5;
/**
 * The offered rate is a little higher than the goal, so that rides that end just after the last second do not miss it.
 */
const margin = 1.02;

/**
 * Whole test rides at real speed: at the target rate, then at twice the target rate, then at half of it until no timer is
 * late. The API, a process for each pool, MongoDB, Redis, the load and the receiver share the machine.
 */
export const wholeRides: Measurement = async (bench) => {
  const { stack, say, ridesPerSecond: rate, quick } = bench;
  const driven = rate * margin;
  const [held, over, recovering] = quick ? [8, 10, 6] : [60, 30, 30];
  const phases = [
    { perSecond: driven, seconds: rideSeconds + 1 },
    { perSecond: driven, seconds: held },
    { perSecond: rate * 2, seconds: over },
    { perSecond: rate / 2, seconds: recovering },
  ];
  const { load, api, services, programs, receiver } = await startAll(bench);
  const count = phases.reduce((sum, { perSecond, seconds }) => sum + Math.ceil(perSecond * seconds), 0);
  const keys = await newKeys(Math.ceil(count / usesOfEach), 'test', receiver.url);
  const requests = keys.map((key) => creation(key));

  const startedAt = Date.now();
  const begins = phases.map(
    (_, index) => startedAt + 1_000 * sum(phases.slice(0, index).map(({ seconds }) => seconds)),
  );
  const [, heldAt = 0, overAt = 0, recoverAt = 0] = begins;
  say(`whole rides: ${rate} a second, ${rideSeconds + 1} s to fill, ${held} s measured`);
  const loaded = load.open(api, { connections: 64, requests, phases });
  const backlog = watchBacklog();
  await setTimeout(heldAt - Date.now());
  const cpu = await cpuByProgram(stack, programs);
  const stopProfile = await bench.profiles.start('whole rides', services);
  await setTimeout(overAt - Date.now());
  const used = await cpu.stop();
  await stopProfile();
  say(`whole rides: ${rate * 2} a second, ${over} s`);
  await setTimeout(recoverAt - Date.now());
  say(`whole rides: ${rate / 2} a second, until no timer is late`);
  const results = await loaded;
  await backlog.waitUntilGone(120_000);
  backlog.stop();

  const trips = await readTrips();
  await check(results, receiver, trips);
  const others = used.othersShare;
  const [fill, hold, overload] = results as [LoadResult, LoadResult, LoadResult];
  const [inHold, inOver] = [
    trips.between(heldAt, overAt),
    trips.between(overAt + rideSeconds * 1_000 * 0.5, recoverAt),
  ];
  const figure = newFigure(`whole rides at ${rate} a second`, others);
  const overFigure = newFigure(`whole rides at ${rate * 2} a second`);
  const eventGoal = rate * eventsOfEach;
  return [
    figure('completed', 'a second', inHold.completedPerSecond, `>= ${rate}`),
    figure('timer lag p50', 'ms', inHold.lagMs(0.5)),
    figure('timer lag p99', 'ms', inHold.lagMs(0.99), '<= 250'),
    figure("event to the receiver's answer p99", 'ms', inHold.answeredMs(0.99)),
    figure('creation p99', 'ms', Math.max(fill.p99Ms, hold.p99Ms)),
    figure('CPU of the machine', '%', used.machinePercent),
    ...used.perSecondMs.map(([who, ms]) => figure(`CPU of ${who}`, 'ms a ride', ms / driven)),
    overFigure('steps', 'a second', inOver.stepsPerSecond, `>= ${eventGoal}`),
    overFigure('deliveries recorded', 'a second', inOver.settledPerSecond, `>= ${eventGoal}`),
    overFigure('timer lag p99', 'ms', inOver.lagMs(0.99)),
    overFigure('answered 201', 'a second', (overload.statuses[201] ?? 0) / overload.seconds),
    overFigure('answered 503', 'a second', (overload.statuses[503] ?? 0) / overload.seconds),
    overFigure('creation p99', 'ms', overload.p99Ms),
    overFigure('most timers overdue by 250 ms', 'rides', backlog.most()),
    newFigure('whole rides')('recovered after', 's', Math.max(0, backlog.goneAt() - recoverAt) / 1_000, '<= 60'),
  ];
};

/** Starts a receiver, the load, an API process and a process for each pool, with these settings. */
export async function startAll({ stack }: Bench, more: NodeJS.ProcessEnv = {}) {
  const receiver = await startReceiver(stack);
  const load = await stack.startLoad();
  const env = { ...receiver.senderEnv, ...more };
  const api = await stack.startApi(env);
  const services = [api, ...(await stack.startPools(env))];
  return { load, api, services, programs: [...services, load, receiver], receiver };
}

/**
 * Checks that every ride answered 201 has ended and that the receiver got each of its events once. The same applies to
 * rides that were stored although they were answered 503, because MongoDB acknowledged too late.
 */
async function check(results: LoadResult[], receiver: BenchReceiver, trips: Trips): Promise<void> {
  const created = sum(results.map(({ statuses }) => statuses[201] ?? 0));
  const refused = sum(results.map(({ statuses }) => statuses[503] ?? 0));
  const asked = sum(results.map(({ operations }) => operations));
  assertCount(asked, created + refused, 'creations answered 201, or 503');
  assertCount(refused, sum(results.map(({ withRetryAfter }) => withRetryAfter)), 'answers of 503 with Retry-After');
  const stored = await rides.countDocuments({});
  assertCount(Math.min(Math.max(stored, created), asked), stored, 'rides in MongoDB');
  assertCount(stored, trips.completed, 'rides completed');
  assertCount(stored * eventsOfEach, trips.delivered, 'deliveries recorded as delivered');
  assertCount(stored * eventsOfEach, (await receiver.received()).count, 'deliveries received');
}

const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0);
