import { randomBase62 } from '../../shared/base/ids.ts';
import type { RedisClient } from '../../shared/base/redis/redis-nodes.ts';

/** The default duration of a lease without renewal. */
const defaultLeaseMs = 4_000;
/** The value of the lease's Redis key during the rest between two turns, when no process holds the lease. */
const resting = 'resting';

export interface Lease {
  isMine(): Promise<boolean>;
  /** Renews the lease. Resolves with false if it is lost. */
  keep(): Promise<boolean>;
  /** Ends the turn. For the next `ms`, no process starts another turn, unless it acquires with `interruptRest`. */
  rest(ms: number): Promise<void>;
}

export interface LeaseOptions {
  /** The Redis key of the lease. */
  key: string;
  /** The duration of the lease without renewal. If its process dies, another one can acquire it after this time. */
  leaseMs?: number;
  /** Acquires the lease even during the rest between two turns. */
  interruptRest?: boolean;
}

/**
 * Acquires a lease, which lets one process at a time do a kind of work. Resolves with null if the lease is not free. It
 * is not free during the rest after a turn either, so that more processes do not mean more turns.
 */
export async function acquireLease(
  redis: RedisClient,
  { key, leaseMs = defaultLeaseMs, interruptRest = false }: LeaseOptions,
): Promise<Lease | null> {
  const token = randomBase62(12);
  const isFree = (await redis.set(key, token, 'PX', leaseMs, 'NX')) === 'OK';
  if (!isFree) {
    if (!interruptRest || (await redis.get(key)) !== resting) return null;
    // If two processes do this at the same time, the second one gets the lease. The first one finds at its next renewal
    // that it has lost it.
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
