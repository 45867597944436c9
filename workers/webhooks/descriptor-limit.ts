import { readFileSync } from 'node:fs';
import type { Config } from '../../shared/config.ts';
import type { Logger } from '../../shared/logger.ts';
import type { PoolName } from '../../shared/queues.ts';

/** What a process may have open beside its attempts: 100 connections to MongoDB, those to Redis, and Node's own. */
const reserved = 150;
/** An attempt has two questions to name servers open, and later its connection. */
const perAttempt = 2;

type Concurrency = Config['concurrency'];

/** How many files this process may have open (`ulimit -n`); Infinity where the system does not say. */
export function descriptorLimit(): number {
  try {
    // Node has raised the soft limit to the hard one at its start.
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? Infinity : Number(soft);
  } catch {
    return Infinity;
  }
}

/**
 * The concurrency of the pools of one process, with its attempts at a time held to what the limit of open files has room for:
 * each delivery pool in proportion, one attempt at least. Logs where that is less than was set.
 */
export function withinDescriptorLimit(
  pools: readonly PoolName[],
  wanted: Concurrency,
  log: Logger,
  limit = descriptorLimit(),
): Concurrency {
  const delivering = pools.filter((pool) => pool === 'webhooks' || pool === 'webhooks-slow');
  const attempts = delivering.reduce((sum, pool) => sum + wanted[pool], 0);
  const room = Math.floor(Math.max(limit - reserved, limit / 2) / perAttempt);
  if (attempts <= room) return wanted;
  const held = { ...wanted };
  for (const pool of delivering) held[pool] = Math.max(1, Math.floor((wanted[pool] * room) / attempts));
  const concurrency = Object.fromEntries(delivering.map((pool) => [pool, held[pool]]));
  log.warn(
    { limit, wanted: attempts, concurrency },
    'the limit of open files allows fewer attempts at a time than are set',
  );
  return held;
}
