import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { startRedis } from '../../../dev/servers/redis-server.ts';
import { assertCount, type Bench, type Measurement } from '../bench.ts';
import type { WorkResult } from '../load/queue-work.ts';
import { cpuUsOf } from '../measured/machine-cpu.ts';
import type { Program } from '../measured/program.ts';
import type { Figure } from '../report.ts';

/**
 * A limited Redis runs for 10 ms of each 100 ms and is stopped for the rest. Without a limit, the processes that add and
 * run the jobs fill both cores of a small machine before one Redis fills its own.
 */
const cycleMs = 100;
const runMs = 10;

/**
 * The jobs of two queues on two Redis servers (the service), and on one (the floor): each job is added, taken and
 * finished as the service does it.
 */
export const twoQueues: Measurement = async (bench) => {
  const { stack, quick } = bench;
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'rides-bench-redis-'));
  const second = await startRedis({ dataDir: folder });
  try {
    const start = (name: string, pool: string, url: string) =>
      stack.start(name, 'test/bench/load/queue-work', { env: { POOL: pool, REDIS_URL: url } });
    const [webhooks, slow, slowOnSecond] = await Promise.all([
      start('queue-1', 'webhooks', stack.redisServer.url),
      start('queue-2', 'webhooks-slow', stack.redisServer.url),
      start('queue-2-second', 'webhooks-slow', second.url),
    ]);
    const setups = {
      one: { programs: [webhooks, slow], servers: [stack.redisServer.pid] },
      two: { programs: [webhooks, slowOnSecond], servers: [stack.redisServer.pid, second.pid] },
    };
    return [
      ...(await compare(bench, 'Redis limited to a tenth of a core', quick ? 2_000 : 6_000, setups, holdBack)),
      ...(await compare(bench, 'Redis not limited', quick ? 8_000 : 20_000, setups)),
    ];
  } finally {
    await stack.stopPrograms();
    await second.stop();
    await fs.rm(folder, { recursive: true, force: true });
  }
};

interface Setup {
  programs: Program[];
  servers: number[];
}

/** Runs `jobs` jobs in each queue, with one server and with two alternately. The first round is the warm-up. */
async function compare(
  { rounds, say }: Bench,
  limit: string,
  jobs: number,
  setups: { one: Setup; two: Setup },
  hold?: (servers: readonly number[]) => () => void,
): Promise<Figure[]> {
  const rates = { one: [] as number[], two: [] as number[] };
  const costs = { one: [] as number[], two: [] as number[] };
  for (let round = 0; round <= rounds; round++) {
    for (const which of ['one', 'two'] as const) {
      say(`two queues, ${limit}, servers: ${which}, ${round === 0 ? 'warm-up' : `round ${round} of ${rounds}`}`);
      const { programs, servers } = setups[which];
      const cpuUs = () => servers.map(cpuUsOf).reduce((total, us) => total + us, 0);
      const release = hold?.(servers);
      const [startedAt, cpuBefore] = [performance.now(), cpuUs()];
      try {
        const results = await Promise.all(programs.map((program) => program.ask<WorkResult>('work', { jobs })));
        for (const { done, repeated } of results) {
          assertCount(jobs, done, 'jobs done');
          assertCount(0, repeated, 'jobs done twice');
        }
      } finally {
        release?.();
      }
      if (round === 0) continue;
      const count = jobs * programs.length;
      rates[which].push((count / (performance.now() - startedAt)) * 1_000);
      costs[which].push((cpuUs() - cpuBefore) / count);
    }
  }
  const name = `jobs of two queues on two Redis servers (floor: on one), ${limit}`;
  return [
    { name: `${name}, rate`, unit: 'a second', service: rates.two, floor: rates.one, ...(hold && { goal: '>= 1.8' }) },
    { name: `${name}, CPU of Redis`, unit: 'us each', service: costs.two, floor: costs.one },
  ];
}

/** Lets these processes run for `runMs` of each `cycleMs`. Returns a function that ends the limit. */
function holdBack(pids: readonly number[]): () => void {
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
    for (const pid of pids) process.kill(pid, name);
  };
  let pause: NodeJS.Timeout | undefined;
  const cycle = setInterval(() => {
    signal('SIGCONT');
    pause = setTimeout(() => signal('SIGSTOP'), runMs);
  }, cycleMs);
  return () => {
    clearInterval(cycle);
    clearTimeout(pause);
    signal('SIGCONT');
  };
}
