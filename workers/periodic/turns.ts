import { pause, rejectOnAbort } from '../../shared/base/abort-signal.ts';
import type { Context } from '../../shared/base/context.ts';
import { describeError } from '../../shared/base/errors.ts';
import type { Logger } from '../../shared/base/logger.ts';
import { isOutageOfMongo } from '../../shared/base/mongo/outage.ts';
import type { RedisClient } from '../../shared/base/redis/redis-nodes.ts';
import { acquireLease, type Lease, type LeaseOptions } from './lease.ts';

/** Thrown by a `Pace` when the turn must end, because this process stops or another one holds the lease. */
export class TurnOverError extends Error {
  override name = 'TurnOverError';
}

/**
 * Call it before each query of long work. It waits, so that requests are not slowed down, and throws TurnOverError if
 * the turn must end.
 */
export type Pace = () => Promise<void>;

/** Work that one worker process at a time does under a lease, at a pace that leaves MongoDB time for requests. */
export interface PacedWork {
  /** The Redis key of the lease. */
  leaseKey: string;
  /** The time between two turns, whichever processes take them. */
  intervalMs: number;
  /**
   * Each process asks for a turn this many times per interval. With a higher number, another process takes over sooner
   * from a dead one.
   */
  asksPerInterval: number;
  /** After each query, sleeps `perWork` times as long as the query took, at most `longestMs`. */
  rests: { perWork: number; longestMs: number };
  /** The log message of a turn that fails. */
  failure: string;
  /** Does all work that is due. It may be interrupted at any point: a later turn does the rest. */
  work(ctx: Context, pace: Pace): Promise<void>;
}

/** The pace of work that is rarely due. Usually one small read shows that nothing is. */
export const onceAMinute = { intervalMs: 60_000, asksPerInterval: 1, rests: { perWork: 1, longestMs: 50 } };

/** Takes turns at paced work until it is stopped. Every worker process does this. */
export function startPacedWork(ctx: Context, paced: PacedWork): Loop {
  const pauseMs = paced.intervalMs / paced.asksPerInterval;
  return startLoop(ctx.log, { failure: paced.failure, pauseMs }, async (signal) => {
    await takePacedTurn(ctx, paced, signal);
    return pauseMs;
  });
}

/** Does paced work if this process can acquire the lease. */
export async function takePacedTurn(ctx: Context, paced: PacedWork, signal: AbortSignal): Promise<void> {
  if (ctx.redis.status !== 'ready') return;
  const { leaseKey, intervalMs, asksPerInterval } = paced;
  await takeTurn(ctx.redis, { key: leaseKey, restAfterErrorMs: intervalMs / asksPerInterval }, async (lease) => {
    try {
      await paced.work(ctx, paceOf(lease, signal, paced.rests));
    } catch (error) {
      if (!(error instanceof TurnOverError)) throw error;
      // The turn was cut short: rests only 1 ms, so that another process can continue at once.
      return 1;
    }
    return intervalMs;
  });
}

/** The interval between renewals of the lease, several times shorter than the lease. */
const renewMs = 500;

function paceOf(lease: Lease, signal: AbortSignal, { perWork, longestMs }: PacedWork['rests']): Pace {
  let renewedAt = performance.now();
  let restedAt = performance.now();
  return async () => {
    await pause(Math.min(longestMs, perWork * (performance.now() - restedAt)), signal);
    if (signal.aborted) throw new TurnOverError();
    if (performance.now() - renewedAt > renewMs) {
      if (!(await lease.keep())) throw new TurnOverError();
      renewedAt = performance.now();
    }
    restedAt = performance.now();
  };
}

/** Logs that a part of a turn failed, so that the other parts can run. Rethrows an error that must end the turn. */
export function logFailedPart(log: Logger, message: string, part: object, error: unknown): void {
  if (error instanceof TurnOverError || isOutageOfMongo(error)) throw error;
  log.warn({ ...part, error: describeError(error) }, message);
}

/**
 * Calls `work` if the lease is free. Afterwards no process starts the next turn for the time (ms) with which `work`
 * resolved, or for `restAfterErrorMs` if `work` failed.
 */
export async function takeTurn(
  redis: RedisClient,
  { restAfterErrorMs, ...options }: LeaseOptions & { restAfterErrorMs: number },
  work: (lease: Lease) => Promise<number>,
): Promise<void> {
  const lease = await acquireLease(redis, options);
  if (!lease) return;
  let restMs = restAfterErrorMs;
  try {
    restMs = await work(lease);
  } finally {
    await lease.rest(restMs);
  }
}

interface Loop {
  /** Ends the current pause. */
  wake(): void;
  /** Ends the loop. Resolves when the current round has ended, or after 500 ms if MongoDB or Redis hangs. */
  stop(): Promise<void>;
}

const stopTimeoutMs = 500;

/**
 * Calls `round` repeatedly until it is stopped. Each round resolves with the pause until the next one (ms), which gets
 * a jitter of up to 25 %. A failed round is followed by `pauseMs`, and logged unless the round before it failed too: an
 * outage causes one line.
 */
export function startLoop(
  log: Logger,
  { failure, pauseMs }: { failure: string; pauseMs: number },
  round: (signal: AbortSignal) => Promise<number>,
): Loop {
  const stopping = new AbortController();
  let wake = new AbortController();

  let hasFailed = false;

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      wake = new AbortController();
      const nextMs = await round(stopping.signal).then(
        (ms) => {
          hasFailed = false;
          return ms;
        },
        (error) => {
          if (!hasFailed && !stopping.signal.aborted) log.warn({ error: describeError(error) }, failure);
          hasFailed = true;
          return pauseMs;
        },
      );
      // Spreads the rounds of different processes over the interval.
      const jitter = 1 + Math.random() / 4;
      await pause(nextMs * jitter, AbortSignal.any([wake.signal, stopping.signal]));
    }
  }

  const running = run();
  return {
    wake: () => wake.abort(),
    async stop() {
      stopping.abort();
      await rejectOnAbort(AbortSignal.timeout(stopTimeoutMs), running).catch(() => {});
    },
  };
}
