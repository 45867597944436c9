import { setTimeout } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { poolNames, queuePrefix } from '../../../shared/base/queues.ts';
import type { RedisGroup } from '../../support/redis-group.ts';
import type { Restartable } from '../../support/restartable.ts';
import type { Figure } from '../figure.ts';
import { type Arena, makeFault } from '../rounds/arena.ts';
import { measureRedisFaults } from './redis-faults.ts';

/**
 * Time limit for work to continue: if Redis refuses a job during a move, the sweeper adds it after a grace time of 10
 * s.
 */
const resumedWithinMs = 15_000;
const trials = 6;
const keysAtOnce = 20;

/** Under load, moves the slots of all queues, with their keys, between the primaries of a Redis Cluster. */
export const redisReshard: Figure = {
  name: 'redis-reshard',
  goal: `create answers 201; all resumes within 15 s; 0 hung workers, with every queue moved ${trials} times`,
  async measure(run) {
    const count = run.short ? 2 : trials;
    let moved = 0;
    const { reached, violations } = await measureRedisFaults({
      run,
      count,
      world: { redis: 'cluster' },
      withPeople: true,
      resumedWithinMs,
      pauseMs: 5_000,
      async fault(arena, number) {
        run.say(`resharding ${number} of ${count}`);
        moved += await moveQueues(arena);
      },
    });
    const nothing = moved === 0 ? ['no key was moved'] : [];
    return {
      reached: `every queue moved ${count} times, with ${moved} keys; ${reached}`,
      violations: [...violations, ...nothing],
    };
  },
};

/** Moves the slot of each queue to another primary. Resolves with the number of moved keys. */
async function moveQueues(arena: Arena): Promise<number> {
  const group = arena.world.redisGroup as RedisGroup;
  const primaries = (await group.primaries()).map(connect);
  let moved = 0;
  try {
    await makeFault(arena, { what: 'Redis resharded', hit: 'redis' }, async () => {
      for (const pool of poolNames) moved += await moveSlot(primaries, queuePrefix(pool));
    });
  } finally {
    for (const { client } of primaries) client.disconnect();
  }
  return moved;
}

interface Primary {
  client: Redis;
  port: number;
}

function connect({ url }: Restartable): Primary {
  const port = Number(new URL(url).port);
  const client = new Redis(port);
  client.on('error', () => {});
  return { client, port };
}

/**
 * Moves one slot in the same steps as redis-cli: marks it on both primaries, migrates keys in batches, changes the
 * owner.
 */
async function moveSlot(primaries: readonly Primary[], name: string): Promise<number> {
  const slot = Number(await primaries[0]?.client.cluster('KEYSLOT', name));
  const ids = await Promise.all(primaries.map(({ client }) => client.cluster('MYID') as Promise<string>));
  const from = await ownerOf(primaries, slot);
  const to = (from + 1) % primaries.length;
  const [source, target] = [primaries[from] as Primary, primaries[to] as Primary];
  const setSlot = ({ client }: Primary, ...state: string[]) => client.call('CLUSTER', 'SETSLOT', slot, ...state);
  await setSlot(target, 'IMPORTING', ids[from] as string);
  await setSlot(source, 'MIGRATING', ids[to] as string);
  let moved = 0;
  for (;;) {
    const keys = (await source.client.call('CLUSTER', 'GETKEYSINSLOT', slot, keysAtOnce)) as string[];
    if (keys.length === 0) break;
    await source.client.call('MIGRATE', '127.0.0.1', target.port, '', 0, 5_000, 'KEYS', ...keys);
    moved += keys.length;
  }
  const others = primaries.filter((primary) => primary !== source && primary !== target);
  for (const primary of [target, source, ...others]) await setSlot(primary, 'NODE', ids[to] as string);
  return moved;
}

/**
 * The index of the primary that serves a slot. Waits while several or none claim it, because gossip is slow after a
 * move.
 */
async function ownerOf(primaries: readonly Primary[], slot: number): Promise<number> {
  for (let patience = 100; patience > 0; patience--) {
    const claims = await Promise.all(primaries.map((primary) => serves(primary, slot)));
    if (claims.filter(Boolean).length === 1) return claims.indexOf(true);
    await setTimeout(100);
  }
  throw new Error(`no single primary serves slot ${slot}`);
}

async function serves({ client, port }: Primary, slot: number): Promise<boolean> {
  const ranges = (await client.call('CLUSTER', 'SLOTS')) as [number, number, [string, number]][];
  return ranges.some(([first, last, [, ownPort]]) => first <= slot && slot <= last && ownPort === port);
}
