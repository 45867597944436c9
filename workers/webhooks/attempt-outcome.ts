/**
 * How an attempt ended.
 * `delivered`: a 2xx status line came in time.
 * `failed`: another answer came, or none.
 * `timeout`: the time limit ended it.
 * `blocked`: the target may not be called, and was not.
 * `lost`: this run no longer held the claim, or could not make sure of it. Nothing was sent, and nothing may be recorded.
 * `unable`: a local fault (local-fault.ts) prevented the attempt, or this process reaches no other host (reach.ts). Nothing was
 * sent; the event is tried again later.
 */
export type AttemptOutcome = 'delivered' | 'failed' | 'timeout' | 'blocked' | 'lost' | 'unable';

export type AttemptResult = {
  outcome: AttemptOutcome;
  httpStatus?: number;
  /** A short code from a fixed set (`ECONNREFUSED`, `redirect`): never a value from the URL or the answer. */
  reason?: string;
};

/** Thrown where an attempt ends early; `send` returns its result. */
export class AttemptError extends Error {
  readonly result: AttemptResult;

  constructor(outcome: AttemptOutcome, reason: string) {
    super(reason);
    this.result = { outcome, reason };
  }
}
