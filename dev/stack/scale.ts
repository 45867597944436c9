import { type PoolName, poolNames } from '../../shared/base/queues.ts';
import { UsageError } from '../../shared/process/command-line.ts';

/** The number of processes of each pool; 1 for a pool that is not named. */
export type Scale = Partial<Record<PoolName, number>>;

const most = 20;

/** Reads the values of `--scale`. Throws UsageError unless each is POOL=N. */
export function readScale(values: readonly string[]): Scale {
  return Object.fromEntries(
    values.map((value) => {
      const [, name, count] = /^(.+)=(\d{1,2})$/.exec(value) ?? [];
      const pool = poolNames.find((known) => known === name);
      if (pool && Number(count) <= most) return [pool, Number(count)];
      const pools = poolNames.join(' ');
      throw new UsageError(`--scale ${value} must be POOL=N: N is 0 to ${most}, and POOL is one of: ${pools}`);
    }),
  );
}

/** The worker processes of a stack: the name of each, and its pool. */
export const workersOf = (scale: Scale): { name: string; pool: PoolName }[] =>
  poolNames.flatMap((pool) =>
    Array.from({ length: scale[pool] ?? 1 }, (_, index) => ({ name: index ? `${pool}-${index + 1}` : pool, pool })),
  );
