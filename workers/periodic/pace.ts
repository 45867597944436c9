import type { Pace } from '../../shared/usage/sum-rides.ts';
import { pause } from '../abort-signal.ts';
import type { Lease } from './lease.ts';

/** The work must end: this process stops, or another one has taken over. */
export class Ended extends Error {
  override name = 'Ended';
}

/** The lease is renewed after this time. It lasts several times as long. */
const renewMs = 500;

/**
 * Paces long work beside requests. Each call rests `perWork` times as long as the work since the last call took, `longestMs`
 * at most, and renews the lease. Throws Ended when the signal aborts or the lease is lost.
 */
export function paceOf(lease: Lease, signal: AbortSignal, rests: { perWork: number; longestMs: number }): Pace {
  let renewedAt = performance.now();
  let restedAt = performance.now();
  return async () => {
    await pause(Math.min(rests.longestMs, rests.perWork * (performance.now() - restedAt)), signal);
    if (signal.aborted) throw new Ended();
    if (performance.now() - renewedAt > renewMs) {
      if (!(await lease.keep())) throw new Ended();
      renewedAt = performance.now();
    }
    restedAt = performance.now();
  };
}
