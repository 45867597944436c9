/**
 * How an attempt ended. `delivered`: a 2xx status line in time. `failed`: another answer or none. `timeout`: cut at the
 * limit. `blocked`: the target may not be called, and was not. `lost`: the claim on the event was not ours any more or could
 * not be made sure of, so that nothing was sent and nothing may be recorded. `unable`: this process lacked what an attempt
 * takes (own-lack.ts), which is no outcome of the event either.
 */
export type Outcome = 'delivered' | 'failed' | 'timeout' | 'blocked' | 'lost' | 'unable';

export type Verdict = {
  outcome: Outcome;
  httpStatus?: number;
  /** A short code out of a fixed set (`ECONNREFUSED`, `redirect`): never a value out of the URL or the answer. */
  reason?: string;
};

/** Thrown where it shows how an attempt ends; `send` turns it into its result. */
export class AttemptError extends Error {
  readonly verdict: Verdict;

  constructor(outcome: Outcome, reason: string) {
    super(reason);
    this.verdict = { outcome, reason };
  }
}
