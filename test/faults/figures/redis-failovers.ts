import { setTimeout } from 'node:timers/promises';
import type { RedisGroup, RedisKind } from '../../support/redis-group.ts';
import type { Evidence } from '../check/checker.ts';
import { latestAfter, workOfAll } from '../check/lateness.ts';
import type { Figure } from '../figure.ts';
import { between, oneOf } from '../random.ts';
import { type Arena, makeFault } from '../rounds/arena.ts';
import { runUnderFaults, summaryOf } from '../rounds/run-rounds.ts';
import { creationsDuring, missingWorkers } from './redis-outages.ts';

const resumedWithinMs = 5_000;
const trials = 12;

export const redisCluster = failovers('cluster', 'a Redis Cluster of three primaries with a replica each');
export const redisSentinel = failovers('sentinel', 'a primary with a replica, and three sentinels');

/** Under load, kills or pauses a primary of Redis until its replica has replaced it, or kills all nodes. */
function failovers(kind: RedisKind, what: string): Figure {
  return {
    name: `redis-${kind}`,
    promise: `The service survives the failure of a Redis node (${what})`,
    goal: `create answers 201; all resumes within 5 s of the failover; 0 hung workers, in ${trials} failovers`,
    async measure(run) {
      const count = run.short ? kindsOfFailure.length : trials;
      const hung: string[] = [];
      const latestIn = (evidence: Evidence) => latestAfter(evidence.faults, workOfAll(evidence), resumedWithinMs);
      const { evidence, violations } = await runUnderFaults({
        run,
        world: { wired: false, redis: kind },
        perSecond: 6,
        async faults(arena) {
          for (let number = 0; number < count; number++) {
            await failover(arena, number);
            await setTimeout(resumedWithinMs);
            const missing = await missingWorkers(arena);
            if (missing > 0) hung.push(`${missing} workers hung after failover ${number + 1}`);
          }
        },
        check(evidence) {
          const { ms, what } = latestIn(evidence);
          const refused = creationsDuring(evidence).filter(({ status }) => status !== 201);
          return [
            ...(ms > resumedWithinMs ? [`work resumed only ${ms} ms after the failover: ${what}`] : []),
            ...refused.map(({ status }) => `a creation was answered ${status}`),
            ...hung,
          ];
        },
      });
      const during = creationsDuring(evidence);
      const reached =
        `${count} failovers of ${evidence.faults.map(({ from, until }) => ((until - from) / 1_000).toFixed(1)).join(', ')} s; ` +
        `${during.length} creations during them, all but ${during.filter(({ status }) => status !== 201).length} answered 201, ` +
        `the slowest after ${Math.max(...during.map(({ ms }) => ms))} ms; the latest work resumed ` +
        `${(latestIn(evidence).ms / 1_000).toFixed(1)} s after the failover; ${hung.length} times a worker hung; ${summaryOf(evidence)}`;
      return { reached, violations };
    },
  };
}

const kindsOfFailure = ['killed', 'hung', 'all killed'] as const;

/** Makes one failover. Resolves when all nodes work again, so that the next failover has a replica. */
async function failover(arena: Arena, number: number): Promise<void> {
  const group = arena.world.redisGroup as RedisGroup;
  const kind = kindsOfFailure[number % kindsOfFailure.length] ?? 'killed';
  const victim = oneOf(arena.random, await group.primaries());
  arena.say(`failover ${number + 1}: ${kind === 'all killed' ? 'all nodes killed' : `a primary ${kind}`}`);
  await makeFault(arena, { what: `Redis: ${kind}`, hit: 'redis' }, async () => {
    if (kind === 'all killed') return allKilled(group, between(arena.random, 1_000, 5_000));
    if (kind === 'hung') victim.pause();
    else await victim.kill();
    await group.replaced(victim);
  });
  if (kind === 'hung') victim.resume();
  if (kind === 'killed') await victim.start();
  await group.whole();
}

async function allKilled(group: RedisGroup, ms: number): Promise<void> {
  await Promise.all(group.nodes.map((node) => node.kill()));
  await setTimeout(ms);
  await Promise.all(group.nodes.map((node) => node.start()));
  await group.whole();
}
