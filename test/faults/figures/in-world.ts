import type { Context } from '../../../shared/base/context.ts';
import { openContext } from '../../../shared/process/open-context.ts';
import type { WorldOptions } from '../world/settings.ts';
import { startWorld, type World } from '../world/world.ts';

/**
 * Starts a world for one measurement and always stops it. Resolves with the result and every unexpected end of a
 * process.
 */
export async function inWorld<T>(
  options: WorldOptions,
  measure: (world: World) => Promise<T>,
): Promise<{ measured: T; crashes: string[] }> {
  const world = await startWorld(options);
  try {
    const measured = await measure(world);
    return { measured, crashes: crashesOf(world) };
  } finally {
    await world.stop();
  }
}

export const crashesOf = ({ apis, workers }: World): string[] =>
  [...apis, ...workers].flatMap(({ name, crashes }) => crashes.map((how) => `${name} ended unexpectedly: ${how}`));

/** Gives this process the service's own context, so that it can change rides as the drivers' gateway does. */
export async function withContext<T>(world: World, use: (ctx: Context) => Promise<T>): Promise<T> {
  const ctx = await openContext({ ...world.config, logLevel: 'silent' }, 'faults');
  try {
    return await use(ctx);
  } finally {
    // Does not call `close`, because the world owns the connection to MongoDB.
    await Promise.allSettled(Object.values(ctx.queues).map((queue) => queue.close()));
    ctx.redis.disconnect();
  }
}

/** Runs `work` for each item, `concurrency` at a time. */
export async function runConcurrently<T>(items: readonly T[], concurrency: number, work: (item: T) => Promise<void>) {
  const rest = items.values();
  const lane = async () => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
}

const creationsOfKey = 30;

/** Returns the same key for 30 creations, which is its limit per minute, and then a new key. */
export function keysInTurn(world: World, mode: 'live' | 'test'): () => Promise<string> {
  let key = Promise.resolve('');
  let used = creationsOfKey;
  return () => {
    if (used++ >= creationsOfKey) {
      used = 1;
      key = world.newKey({ mode, manner: 'none' }).then((made) => made.key);
    }
    return key;
  };
}

export const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
