import { setTimeout } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Evidence } from '../check/checker.ts';
import { latestAfter, workOfAll } from '../check/lateness.ts';
import { overlaps } from '../faults-log.ts';
import type { Figure } from '../figure.ts';
import { between } from '../random.ts';
import { type Arena, makeFault } from '../rounds/arena.ts';
import { runUnderFaults, summaryOf } from '../rounds/run-rounds.ts';
import { redisUrlsOf } from '../world/redis-urls.ts';
import { sum } from './in-world.ts';

const resumedWithinMs = 3_000;
const longMs = 60_000;

/** Stops, kills or pauses Redis repeatedly under load. */
export const redisOutages: Figure = {
  name: 'redis-outages',
  promise: 'The service survives outages of Redis',
  goal: 'create answers 201; all resumes within 3 s of its return; 0 hung workers in 50 outages, three of them of 60 s',
  async measure(run) {
    const outages = run.short ? 4 : 50;
    const hung: string[] = [];
    const latestIn = (evidence: Evidence) => latestAfter(evidence.faults, workOfAll(evidence), resumedWithinMs);
    const { evidence, violations } = await runUnderFaults({
      run,
      world: { wired: false },
      perSecond: 6,
      async faults(arena) {
        for (let number = 1; number <= outages; number++) {
          const isLong = !run.short && number % 16 === 0;
          const ms = isLong ? longMs : between(arena.random, 1_000, run.short ? 3_000 : 10_000);
          await outage(arena, number, ms);
          await setTimeout(resumedWithinMs);
          const missing = await missingWorkers(arena);
          if (missing > 0) hung.push(`${missing} workers hung after outage ${number}`);
        }
      },
      check(evidence) {
        const { ms, what } = latestIn(evidence);
        const refused = creationsDuring(evidence).filter(({ status }) => status !== 201);
        return [
          ...(ms > resumedWithinMs ? [`work resumed only ${ms} ms after Redis's return: ${what}`] : []),
          ...refused.map(({ status }) => `a creation was answered ${status}`),
          ...hung,
        ];
      },
    });
    const latestMs = latestIn(evidence).ms;
    const during = creationsDuring(evidence);
    const slowestMs = Math.max(...during.map(({ ms }) => ms));
    const reached =
      `${outages} outages; ${during.length} creations during them, all but ` +
      `${during.filter(({ status }) => status !== 201).length} answered 201, the slowest after ${slowestMs} ms; the latest ` +
      `work resumed ${(latestMs / 1_000).toFixed(1)} s after the return; ${hung.length} times a worker hung; ` +
      summaryOf(evidence);
    return { reached, violations };
  },
};

/** The creations whose requests overlap a fault. */
export function creationsDuring({ journal, faults }: Evidence) {
  return journal.filter(
    ({ operation, at, ms }) => operation === 'create' && faults.some((fault) => overlaps(fault, at, at + ms)),
  );
}

async function outage(arena: Arena, number: number, ms: number): Promise<void> {
  const { redis } = arena.world;
  const kind = (['stopped', 'killed', 'hung'] as const)[number % 3] ?? 'stopped';
  arena.say(`outage ${number}: Redis ${kind} for ${(ms / 1_000).toFixed(1)} s`);
  await makeFault(arena, { what: `Redis ${kind}`, hit: 'redis' }, async () => {
    if (kind === 'hung') redis.pause();
    else await (kind === 'stopped' ? redis.stop() : redis.kill());
    await setTimeout(ms);
    if (kind === 'hung') redis.resume();
    else await redis.start();
  });
}

/**
 * The number of hung workers. A healthy worker waits for jobs with a blocking command whenever it has none; a hung
 * worker never does.
 */
export async function missingWorkers({ world }: Arena): Promise<number> {
  const servers = (await redisUrlsOf(world)).map((url) => new Redis(url));
  const deadline = Date.now() + 10_000;
  let most = 0;
  while (most < world.workers.length && Date.now() < deadline) {
    const blocked = await Promise.all(servers.map(async (redis) => blockedOf(await redis.info('clients'))));
    most = Math.max(most, sum(blocked));
    await setTimeout(20);
  }
  for (const redis of servers) redis.disconnect();
  return world.workers.length - most;
}

const blockedOf = (info: string): number => Number(/blocked_clients:(\d+)/.exec(info)?.[1]);
