import type { Context } from '../../shared/base/context.ts';
import { describeError } from '../../shared/base/errors.ts';
import type { Logger } from '../../shared/base/logger.ts';
import { isOutageOfMongo } from '../../shared/base/mongo/outage.ts';
import type { RedisClient } from '../../shared/base/redis/redis-nodes.ts';
import { pause, rejectOnAbort } from '../abort-signal.ts';
import { type Lease, type LeaseOptions, takeLease } from './lease.ts';

/** The turn must end: this process stops, or another one has the lease. */
export class TurnOverError extends Error {
  override name = 'TurnOverError';
}

/** Called before each query of long work. Waits so that requests are not slowed. Throws TurnOverError. */
export type Pace = () => Promise<void>;

/** Work that a lease lets one worker process at a time do, at a pace that leaves time to requests. */
export interface PacedWork {
  /** The lease's key in Redis. */
  leaseKey: string;
  /** The time between two turns, counted over all processes. */
  intervalMs: number;
  /** Each process asks for a turn this often in an interval: another one continues soon after one has died. */
  asksPerInterval: number;
  /** Each query is followed by a rest `perWork` times as long as the query took, `longestMs` at most. */
  rests: { perWork: number; longestMs: number };
  /** The log message of a turn that fails. */
  failure: string;
  /** Does what is due. It can end anywhere: a later turn does the rest. */
  work(ctx: Context, pace: Pace): Promise<void>;
}

/** Takes turns at some work until it is stopped. Every worker process does this. */
export function startPacedWork(ctx: Context, paced: PacedWork): Loop {
  const pauseMs = paced.intervalMs / paced.asksPerInterval;
  return startLoop(ctx.log, { failure: paced.failure, pauseMs }, async (signal) => {
    await takePacedTurn(ctx, paced, signal);
    return pauseMs;
  });
}

/** Does some work if it is this process's turn. */
export async function takePacedTurn(ctx: Context, paced: PacedWork, signal: AbortSignal): Promise<void> {
  if (ctx.redis.status !== 'ready') return;
  const { leaseKey, intervalMs, asksPerInterval } = paced;
  await takeTurn(ctx.redis, { key: leaseKey, restAfterErrorMs: intervalMs / asksPerInterval }, async (lease) => {
    try {
      await paced.work(ctx, paceOf(lease, signal, paced.rests));
    } catch (error) {
      if (!(error instanceof TurnOverError)) throw error;
      // Another process continues at once.
      return 1;
    }
    return intervalMs;
  });
}

/** The lease is renewed after this time. It lasts several times as long. */
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

/** Logs that a part of a turn failed, so that the other parts are done. Throws the error again if it ends the turn. */
export function logFailedPart(log: Logger, message: string, part: object, error: unknown): void {
  if (error instanceof TurnOverError || isOutageOfMongo(error)) throw error;
  log.warn({ ...part, error: describeError(error) }, message);
}

/**
 * Does some work if the lease is free. No process begins the next turn within the time (ms) that `work` resolves with, or
 * after an error within `restAfterErrorMs`.
 */
export async function takeTurn(
  redis: RedisClient,
  { restAfterErrorMs, ...options }: LeaseOptions & { restAfterErrorMs: number },
  work: (lease: Lease) => Promise<number>,
): Promise<void> {
  const lease = await takeLease(redis, options);
  if (!lease) return;
  let restMs = restAfterErrorMs;
  try {
    restMs = await work(lease);
  } finally {
    await lease.rest(restMs);
  }
}

interface Loop {
  /** Ends the pause between two rounds. */
  wake(): void;
  /** Resolves when the round under way has ended, after 500 ms at most, whatever MongoDB or Redis does. */
  stop(): Promise<void>;
}

const stopTimeoutMs = 500;

/**
 * Calls `round` until it is stopped, each time after about the pause (ms) that the round before resolved with. A round that
 * fails is logged, and followed by `pauseMs`.
 */
export function startLoop(
  log: Logger,
  { failure, pauseMs }: { failure: string; pauseMs: number },
  round: (signal: AbortSignal) => Promise<number>,
): Loop {
  const stopping = new AbortController();
  let wake = new AbortController();

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      wake = new AbortController();
      const nextMs = await round(stopping.signal).catch((error) => {
        if (!stopping.signal.aborted) log.warn({ error: describeError(error) }, failure);
        return pauseMs;
      });
      // Spreads the processes over the interval.
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
