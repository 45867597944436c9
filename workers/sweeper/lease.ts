import type { Redis } from 'ioredis';
import { randomBase62 } from '../../shared/ids.ts';

/** The sweeper's keys share a hash tag, so that a Redis Cluster can read them together. */
export const leaseKey = '{rides:sweeper}:lease';
/** The lease of a process that sweeps; one that dies is followed when it lapses. */
const leaseMs = 4_000;
/** Stands in the lease between two sweeps. */
const resting = 'resting';

export interface Lease {
  isMine(): Promise<boolean>;
  /** Renews it; false where it is lost. */
  keep(): Promise<boolean>;
  /** Ends the sweep: no process begins another one for so long, unless it may interrupt the rest. */
  rest(ms: number): Promise<void>;
}

/**
 * Takes the lease that one process of all may sweep with, or null. It is held for the interval between two sweeps, so that
 * many processes sweep no more often than one. `interruptRest` takes it also where no sweep is under way.
 */
export async function takeLease(redis: Redis, { interruptRest }: { interruptRest: boolean }): Promise<Lease | null> {
  const token = randomBase62(12);
  const isFree = (await redis.set(leaseKey, token, 'PX', leaseMs, 'NX')) === 'OK';
  if (!isFree) {
    if (!interruptRest || (await redis.get(leaseKey)) !== resting) return null;
    // Of two that do so at once, the first finds before its next stretch that the lease is not its own.
    await redis.set(leaseKey, token, 'PX', leaseMs);
  }
  const isMine = async () => (await redis.get(leaseKey)) === token;
  return {
    isMine,
    keep: async () => (await isMine()) && (await redis.pexpire(leaseKey, leaseMs)) === 1,
    async rest(ms) {
      if (await isMine()) await redis.set(leaseKey, resting, 'PX', Math.ceil(ms));
    },
  };
}
