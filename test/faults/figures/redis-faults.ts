import { setTimeout } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Evidence } from '../check/checker.ts';
import { latestAfter, workOfAll } from '../check/lateness.ts';
import { overlaps } from '../faults-log.ts';
import type { FigureResult, FigureRun } from '../figure.ts';
import type { Arena } from '../rounds/arena.ts';
import { runUnderFaults, summaryOf } from '../rounds/run-rounds.ts';
import { redisUrlsOf } from '../world/redis-urls.ts';
import type { WorldOptions } from '../world/settings.ts';
import { sum } from './in-world.ts';

interface RedisFaults {
  run: FigureRun;
  world?: Pick<WorldOptions, 'redis'>;
  withPeople?: boolean;
  /** The number of faults, with a pause after each. */
  count: number;
  pauseMs: number;
  resumedWithinMs: number;
  /** Makes a fault; the first number is 1. Resolves when Redis works again. */
  fault(arena: Arena, number: number): Promise<void>;
}

/**
 * Makes faults of Redis under load. Checks that every creation beside a fault is answered 201, that all work resumes in
 * time, and that no worker hangs.
 */
export async function measureRedisFaults(options: RedisFaults): Promise<FigureResult & { evidence: Evidence }> {
  const { run, world, withPeople, count, pauseMs, resumedWithinMs, fault } = options;
  const hung: string[] = [];
  const latestIn = (evidence: Evidence) => latestAfter(evidence.faults, workOfAll(evidence), resumedWithinMs);
  const { evidence, violations } = await runUnderFaults({
    run,
    world: { wired: false, ...world },
    perSecond: 6,
    withPeople,
    async faults(arena) {
      for (let number = 1; number <= count; number++) {
        await fault(arena, number);
        await setTimeout(pauseMs);
        const missing = await missingWorkers(arena);
        if (missing > 0) hung.push(`${missing} workers hung after fault ${number}`);
      }
    },
    check(evidence) {
      const { ms, what } = latestIn(evidence);
      return [
        ...(ms > resumedWithinMs ? [`work resumed only ${ms} ms after a fault: ${what}`] : []),
        ...refusedIn(evidence).map(({ status }) => `a creation was answered ${status}`),
        ...hung,
      ];
    },
  });
  const during = creationsDuring(evidence);
  const reached =
    `${during.length} creations during the faults, all but ${refusedIn(evidence).length} answered 201, the slowest after ` +
    `${Math.max(0, ...during.map(({ ms }) => ms))} ms; the latest work resumed ${(latestIn(evidence).ms / 1_000).toFixed(1)} s ` +
    `after a fault; ${hung.length} times a worker hung; ${summaryOf(evidence)}`;
  return { reached, violations, evidence };
}

/** The creations whose requests overlap a fault. */
const creationsDuring = ({ journal, faults }: Evidence) =>
  journal.filter(
    ({ operation, at, ms }) => operation === 'create' && faults.some((fault) => overlaps(fault, at, at + ms)),
  );

const refusedIn = (evidence: Evidence) => creationsDuring(evidence).filter(({ status }) => status !== 201);

/**
 * The number of hung workers. A healthy worker waits for jobs with a blocking command whenever it has none; a hung
 * worker never does.
 */
async function missingWorkers({ world }: Arena): Promise<number> {
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
