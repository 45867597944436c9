import { Queue } from 'bullmq';
import type { Bench, Measurement } from '../bench.ts';
import { type BenchKey, newKeys } from '../data/keys.ts';
import { cpuByProgram } from '../measured/cpu-by-program.ts';
import type { Program } from '../measured/program.ts';
import type { Figure } from '../report.ts';
import { type Batch, floorBatch, serviceBatch } from './batches.ts';
import { startReceiver } from './receiver.ts';

/** After this many deliveries, the CPU time that a process needs for each is stable. */
export const warmUpCount = 4_500;

interface Round {
  perSecond: number;
  cpuUs: number;
  mongoUs: number;
  others: number;
}

/** Compares a delivery by the webhooks pool, from job to recorded outcome, with a bare worker that only posts. */
export function delivery(scheme: 'http' | 'https', concurrency: number, atMost: number): Measurement {
  return async (bench) => {
    const { stack } = bench;
    const receiver = await startReceiver(stack, { scheme });
    // Enough keys that none reaches its limit of 8 concurrent jobs in the fast lane.
    const keys = await newKeys(1_000, 'live', receiver.url);
    const env = { ...receiver.senderEnv, WEBHOOKS_CONCURRENCY: String(concurrency) };
    const service = await stack.start('webhooks', 'workers/main', { args: ['webhooks'], env });
    const floorEnv = { ...receiver.senderEnv, TARGET_URL: receiver.url, CONCURRENCY: String(concurrency) };
    const floor = await stack.start('floor', 'test/bench/floor/deliver', { env: floorEnv });
    const bare = new Queue('bare', { connection: stack.redis, skipVersionCheck: true });

    const rounds = { service: [] as Round[], floor: [] as Round[] };
    for (let round = 0; round <= bench.rounds; round++) {
      bench.say(
        `delivery ${scheme} at ${concurrency}: ${round === 0 ? 'warm-up' : `round ${round} of ${bench.rounds}`}`,
      );
      const count = round === 0 ? warmUpCount / (bench.quick ? 3 : 1) : bench.quick ? 1_000 : 3_000;
      const ours = await measureBatch(bench, service, count, await serviceBatch(stack, receiver, keys, count));
      const bareCount = scheme === 'http' ? count * 3 : count;
      const bareBatch = await floorBatch(bare, receiver, keys[0] as BenchKey, bareCount);
      const theirs = await measureBatch(bench, floor, bareCount, bareBatch);
      if (round === 0) continue;
      rounds.service.push(ours);
      rounds.floor.push(theirs);
    }
    return figuresOf(`delivery ${scheme} at ${concurrency}`, atMost, rounds);
  };
}

async function measureBatch(bench: Bench, worker: Program, count: number, batch: Batch): Promise<Round> {
  const cpu = await cpuByProgram(bench.stack, [worker]);
  const stopProfile = await bench.profiles.start('delivery', worker.name === 'webhooks' ? [worker] : []);
  const perSecond = await batch.run();
  await stopProfile();
  const { usOf, othersShare: others } = await cpu.stop();
  await batch.check();
  return { perSecond, cpuUs: usOf(worker.name) / count, mongoUs: usOf('MongoDB') / count, others };
}

function figuresOf(name: string, atMost: number, rounds: Record<'service' | 'floor', Round[]>): Figure[] {
  const others = Math.max(...[...rounds.service, ...rounds.floor].map((round) => round.others));
  const both = (of: (round: Round) => number) => ({
    service: rounds.service.map(of),
    floor: rounds.floor.map(of),
    others,
  });
  return [
    { name: `${name}, CPU`, unit: 'us each', ...both(({ cpuUs }) => cpuUs), goal: `<= ${atMost}` },
    { name: `${name}, rate`, unit: 'a second', ...both(({ perSecond }) => perSecond) },
    { name: `${name}, CPU of MongoDB`, unit: 'us each', service: rounds.service.map(({ mongoUs }) => mongoUs), others },
  ];
}
