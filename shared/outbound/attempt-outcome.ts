/**
 * The outcome of an attempt.
 * `delivered`: the receiver answered 2xx in time.
 * `failed`: the receiver gave another answer or none, or could not be reached.
 * `timeout`: the time limit ended the attempt.
 * `blocked`: the target is not allowed. Nothing was sent.
 * `lost`: this run no longer held the claim, or could not confirm it. Nothing was sent, and nothing may be recorded.
 * `unable`: a local fault (our-faults.ts) prevented the attempt. Nothing was sent, and the attempt is postponed.
 */
type AttemptOutcome = 'delivered' | 'failed' | 'timeout' | 'blocked' | 'lost' | 'unable';

export type AttemptResult = {
  outcome: AttemptOutcome;
  httpStatus?: number;
  /** A short code from a fixed set (`ECONNREFUSED`, `redirect`): never a value from the URL or the answer. */
  reason?: string;
};

/** Ends an attempt early. `send` returns its result. */
export class AttemptError extends Error {
  readonly result: AttemptResult;

  constructor(outcome: AttemptOutcome, reason: string) {
    super(reason);
    this.result = { outcome, reason };
  }
}
