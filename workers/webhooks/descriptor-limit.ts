import { readFileSync } from 'node:fs';
import type { Config } from '../../shared/base/config.ts';
import type { Logger } from '../../shared/base/logger.ts';
import type { PoolName } from '../../shared/base/queues.ts';

/** Descriptors that attempts may not use: for 100 MongoDB connections, the Redis connections and Node's own files. */
const reservedDescriptors = 150;
/** An attempt uses at most two descriptors: first for two DNS queries, later for one connection. */
const descriptorsPerAttempt = 2;

type Concurrency = Config['concurrency'];

/** The limit of open files of this process (`ulimit -n`), or Infinity if it is unknown. */
export function descriptorLimit(): number {
  try {
    // Node raises the soft limit to the hard limit when it starts.
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? Infinity : Number(soft);
  } catch {
    return Infinity;
  }
}

/**
 * Reduces the concurrency of the delivery pools of one process to what its limit of open files allows: all pools in
 * proportion, each to at least 1. Logs a warning if it reduces the configured concurrency.
 */
export function withinDescriptorLimit(
  pools: readonly PoolName[],
  wanted: Concurrency,
  log: Logger,
  limit = descriptorLimit(),
): Concurrency {
  const delivering = pools.filter((pool) => pool === 'webhooks' || pool === 'webhooks-slow');
  const attempts = delivering.reduce((sum, pool) => sum + wanted[pool], 0);
  const room = Math.floor(Math.max(limit - reservedDescriptors, limit / 2) / descriptorsPerAttempt);
  if (attempts <= room) return wanted;
  const allowed = { ...wanted };
  for (const pool of delivering) allowed[pool] = Math.max(1, Math.floor((wanted[pool] * room) / attempts));
  const concurrency = Object.fromEntries(delivering.map((pool) => [pool, allowed[pool]]));
  log.warn({ limit, wanted: attempts, concurrency }, 'the limit of open files allows less concurrency than configured');
  return allowed;
}
