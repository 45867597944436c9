import { setTimeout } from 'node:timers/promises';
import type { RedisGroup, RedisKind } from '../../support/redis-group.ts';
import type { Figure } from '../figure.ts';
import { between, oneOf } from '../random.ts';
import { type Arena, makeFault } from '../rounds/arena.ts';
import { measureRedisFaults } from './redis-faults.ts';

const trials = 12;

export const redisCluster = failovers('cluster');
export const redisSentinel = failovers('sentinel');

/** Under load, kills or pauses a primary of Redis until its replica has replaced it, or kills all nodes. */
function failovers(kind: RedisKind): Figure {
  return {
    name: `redis-${kind}`,
    goal: `create answers 201; all resumes within 5 s of the failover; 0 hung workers, in ${trials} failovers`,
    async measure(run) {
      const count = run.short ? kindsOfFailure.length : trials;
      const faults = { count, world: { redis: kind }, resumedWithinMs: 5_000, pauseMs: 5_000, fault: failover };
      const { reached, violations, evidence } = await measureRedisFaults({ run, ...faults });
      const seconds = evidence.faults.map(({ from, until }) => ((until - from) / 1_000).toFixed(1));
      return { reached: `${count} failovers of ${seconds.join(', ')} s; ${reached}`, violations };
    },
  };
}

const kindsOfFailure = ['killed', 'hung', 'all killed'] as const;

/** Makes one failover. Resolves when all nodes work again, so that the next failover has a replica. */
async function failover(arena: Arena, number: number): Promise<void> {
  const group = arena.world.redisGroup as RedisGroup;
  const kind = kindsOfFailure[(number - 1) % kindsOfFailure.length] ?? 'killed';
  const victim = oneOf(arena.random, await group.primaries());
  arena.say(`failover ${number}: ${kind === 'all killed' ? 'all nodes killed' : `a primary ${kind}`}`);
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
