import { randomBase62 } from '../../shared/base/ids.ts';
import type { RedisClient } from '../../shared/base/redis/redis-nodes.ts';

/** The sweeper's keys share a hash tag, so that one command can read them in a Redis Cluster. */
export const leaseKey = '{rides:sweeper}:lease';
/** How long a sweeping process holds the lease between two renewals. If it dies, another takes the lease after this time. */
const leaseMs = 4_000;
/** The value of the lease between two sweeps. */
const resting = 'resting';

export interface Lease {
  isMine(): Promise<boolean>;
  /** Renews the lease. False when it is lost. */
  keep(): Promise<boolean>;
  /** Ends the sweep. No process begins another one within `ms`, unless it takes the lease with `interruptRest`. */
  rest(ms: number): Promise<void>;
}

interface LeaseOptions {
  /** Whose lease it is. */
  key?: string;
  /** Takes the lease within the interval after the last one, too. */
  interruptRest?: boolean;
}

/**
 * Takes the lease, which lets one process at a time sweep, or resolves with null. The lease lasts through the interval after
 * a sweep, so that many processes sweep no more often than one.
 */
export async function takeLease(
  redis: RedisClient,
  { key = leaseKey, interruptRest = false }: LeaseOptions = {},
): Promise<Lease | null> {
  const token = randomBase62(12);
  const isFree = (await redis.set(key, token, 'PX', leaseMs, 'NX')) === 'OK';
  if (!isFree) {
    if (!interruptRest || (await redis.get(key)) !== resting) return null;
    // If two processes do this at once, the first one finds before its next page that it has lost the lease.
    await redis.set(key, token, 'PX', leaseMs);
  }
  const isMine = async () => (await redis.get(key)) === token;
  return {
    isMine,
    keep: async () => (await isMine()) && (await redis.pexpire(key, leaseMs)) === 1,
    async rest(ms) {
      if (await isMine()) await redis.set(key, resting, 'PX', Math.ceil(ms));
    },
  };
}
