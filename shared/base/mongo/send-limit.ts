import mongoose from 'mongoose';

/** The time at which a write must have left this process has passed, and it never left. Decide it again. */
export class SendLimitPassed extends Error {
  override name = 'SendLimitPassed';
}

interface SendLimit {
  /** On this process's monotonic clock (ms). */
  before: number;
  wasSent: boolean;
}

const limits = new WeakMap<object, SendLimit>();

/**
 * The update with this filter is written to a connection before `before` (performance.now(), ms) or never: not after it has
 * waited for a server, a connection or a batch, and not again by the driver's own retry. Then it fails: with
 * SendLimitPassed when it was never sent, with an outage when an earlier try was.
 */
export function limitSend(filter: object, before: number): void {
  limits.set(filter, { before, wasSent: false });
}

/** Called by the driver's patch with each command, right before its bytes are written. */
export function checkSendLimits({ updates, ops }: { updates?: unknown; ops?: unknown }): void {
  for (const filter of [...filtersOf(updates, 'q'), ...filtersOf(ops, 'filter')]) {
    const limit = limits.get(filter);
    if (!limit) continue;
    if (performance.now() >= limit.before) {
      throw limit.wasSent
        ? new mongoose.mongo.MongoNetworkError('too late to repeat the write')
        : new SendLimitPassed();
    }
    limit.wasSent = true;
  }
}

/** The driver's own bulks have another form; no update in them has a limit. */
const filtersOf = (updates: unknown, field: string): object[] =>
  Array.isArray(updates) ? updates.map((update) => update[field]).filter(Boolean) : [];
