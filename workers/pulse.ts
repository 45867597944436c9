/**
 * A pool that neither asked Redis for a job nor ended one for this long hangs. An idle pool asks every 5 s; the longest job, a
 * mail, takes less than a minute.
 */
const silentMs = 60_000;

/** Notes the signs of life of a pool. A process whose pool hangs still answers pings, so a ping proves nothing. */
export interface Pulse {
  /** A job was asked for, or has ended. */
  beat(): void;
  readonly isBeating: boolean;
}

export function startPulse(now: () => number = () => performance.now()): Pulse {
  let lastAt = now();
  return {
    beat() {
      lastAt = now();
    },
    get isBeating() {
      return now() - lastAt < silentMs;
    },
  };
}

/** Rejects while one of the pools hangs. */
export async function assertBeating(pulses: Readonly<Record<string, Pulse>>): Promise<void> {
  const hanging = Object.keys(pulses).filter((pool) => !pulses[pool]?.isBeating);
  if (hanging.length > 0) throw Object.assign(new Error('a pool takes no jobs'), { code: hanging.join('+') });
}
