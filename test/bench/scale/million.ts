import { encodeCursor } from '../../../api/partner/list-events.ts';
import { assertAll, assertCount, type Bench, type Measurement } from '../bench.ts';
import { reading, retrieval } from '../data/requests.ts';
import { cpuByProgram } from '../measured/cpu-by-program.ts';
import type { Sweeps } from '../measured/sweeps.ts';
import type { Figure } from '../report.ts';
import type { Load } from '../stack.ts';
import { median } from '../statistics.ts';
import { type FilledDatabase, filledDatabase, overdue, waitUntilIdle } from './databases.ts';

const connections = 16;
const goal = '<= 1.15';

/** A database, and the processes that use it. */
type Subject = Awaited<ReturnType<typeof startOn>>;

type Sample = FilledDatabase['sample'][number];

/**
 * The reads, each for rides spread over the whole collection. Pages are short: in the small database a key has ten
 * rides.
 */
const reads: Record<string, (sample: Sample) => string> = {
  retrieve: ({ key, rideId }) => retrieval(key, rideId),
  offers: ({ key, rideId }) => retrieval(key, rideId, '/offers'),
  'list of rides': ({ key }) => reading(key, `/rides?limit=5`),
  'list of a status': ({ key }) => reading(key, `/rides?limit=5&status=completed`),
  'event feed': ({ key, rideId, atMs }) => reading(key, `/events?limit=5&after=${encodeCursor({ at: atMs, rideId })}`),
};

/**
 * Measures retrieve, offers, pages of the lists and of the event feed, and a sweep in a collection of more than a
 * million rides, alternately with a collection of ten thousand (the floor). Each has its own database on the same
 * server and its own API process. The cost is the CPU time of process and server.
 */
export const million: Measurement = async (bench) => {
  const { stack, say, quick } = bench;
  // Nine of ten rides have five events: five million events in total.
  const [few, many] = quick ? [10_000, 50_000] : [10_000, 1_112_000];
  const databases = [
    await filledDatabase(bench, 'bench_few', few),
    await filledDatabase(bench, 'bench_many', many),
  ] as const;
  say('waiting until MongoDB is idle');
  await waitUntilIdle(stack.mongo.pid, 30_000);
  const load = await stack.startLoad();
  const [floor, service] = await Promise.all([startOn(bench, databases[0]), startOn(bench, databases[1])]);
  const size = many.toLocaleString('en-US');
  const figures: Figure[] = [];
  for (const [name, requestOf] of Object.entries(reads)) {
    const read = (subject: Subject) => readCost(bench, load, subject, requestOf);
    const costs = await inTurn(bench, name, { service, floor }, read);
    figures.push({ name: `${name}, ${size} rides (floor: 10,000), CPU`, unit: 'us each', ...costs, goal });
  }
  const sweeps = await inTurn(bench, 'sweep', { service, floor }, (subject) => sweepCost(bench, subject));
  figures.push({ name: `sweep, ${size} rides (floor: 10,000), CPU`, unit: 'us each', ...sweeps, goal });
  await stack.stopPrograms();
  for (const database of databases) await database.drop();
  return figures;
};

async function startOn({ stack }: Bench, database: FilledDatabase) {
  const env = { MONGO_URL: database.url };
  const api = await stack.startApi(env);
  return { api, sweeper: await stack.start('sweeps', 'test/bench/measured/sweeps', { env }), database };
}

async function inTurn(
  bench: Bench,
  name: string,
  { service, floor }: { service: Subject; floor: Subject },
  measure: (subject: Subject) => Promise<{ cost: number; others: number }>,
) {
  const rounds: { service: number; floor: number; others: number }[] = [];
  for (let round = 0; round <= (bench.quick ? 1 : bench.rounds); round++) {
    bench.say(`${name} among many rides: ${round === 0 ? 'warm-up' : `round ${round}`}`);
    const [many, few] = [await measure(service), await measure(floor)];
    if (round > 0) rounds.push({ service: many.cost, floor: few.cost, others: Math.max(many.others, few.others) });
  }
  return {
    service: rounds.map((round) => round.service),
    floor: rounds.map((round) => round.floor),
    others: Math.max(...rounds.map((round) => round.others)),
  };
}

async function readCost(
  { stack, quick }: Bench,
  load: Load,
  { api, database }: Subject,
  requestOf: (sample: Sample) => string,
) {
  const requests = database.sample.map(requestOf);
  const cpu = await cpuByProgram(stack, [api]);
  const result = await load.closed(api, { connections, seconds: quick ? 1 : 2, requests });
  const { usOf, othersShare: others } = await cpu.stop();
  assertAll(200, result, `read in ${database.name}`);
  return { cost: usOf(api.name, 'MongoDB') / result.operations, others };
}

async function sweepCost({ stack, quick }: Bench, { sweeper, database }: Subject) {
  const cpu = await cpuByProgram(stack, [sweeper]);
  const sweeps = await sweeper.ask<Sweeps>('sweep', { count: quick ? 30 : 100 });
  const { usOf, othersShare: others } = await cpu.stop();
  const late = overdue.timers + overdue.deliveries;
  assertCount(sweeps.count * late, sweeps.visited, `${database.name}: late rides visited by sweeps`);
  if (median(sweeps.ms) > 1_000) throw new Error(`a sweep takes ${median(sweeps.ms)} ms`);
  return { cost: usOf(sweeper.name, 'MongoDB') / sweeps.count, others };
}
