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

const crashesOf = ({ apis, workers }: World): string[] =>
  [...apis, ...workers].flatMap(({ name, crashes }) => crashes.map((how) => `${name} ended unexpectedly: ${how}`));

/** Runs `work` for each item, `concurrency` at a time. */
export async function runConcurrently<T>(items: readonly T[], concurrency: number, work: (item: T) => Promise<void>) {
  const rest = items.values();
  const lane = async () => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
}

export const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
