import { randomBase62 } from '../../shared/base/ids.ts';
import type { RedisClient } from '../../shared/base/redis/redis-nodes.ts';

/** How long a process holds a lease between two renewals. If it dies, another takes the lease after this time. */
const leaseMs = 4_000;
/** The value of a lease between two turns. */
const resting = 'resting';

export interface Lease {
  isMine(): Promise<boolean>;
  /** Renews the lease. False when it is lost. */
  keep(): Promise<boolean>;
  /** Ends the turn. No process begins another one within `ms`, unless it takes the lease with `interruptRest`. */
  rest(ms: number): Promise<void>;
}

export interface LeaseOptions {
  /** Its key in Redis. */
  key: string;
  /** Takes the lease between two turns, too. */
  interruptRest?: boolean;
}

/**
 * Takes a lease, which admits one process at a time to a kind of work, or resolves with null. The lease lasts through the
 * interval after a turn, so that many processes take no more turns than one.
 */
export async function takeLease(
  redis: RedisClient,
  { key, interruptRest = false }: LeaseOptions,
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
