import type { Context } from '../../shared/base/context.ts';
import { describeError } from '../../shared/base/errors.ts';
import { isOutageOfMongo } from '../../shared/base/mongo/outage.ts';
import type { AttemptJob, DeliveryJob } from '../../shared/base/queues.ts';
import type { Run } from '../handler.ts';
import { retryWrite } from '../retry-write.ts';

/** A write that records an outcome, and the log fields of the outcome. */
interface OutcomeWrite<T> {
  fields: { outcome: string; reason?: string };
  write(): Promise<T>;
}

/**
 * Records the outcome of an attempt. An unrecorded attempt would be made again, so this function retries the write
 * during an outage of MongoDB, until the pool stops and the claim expires. `writes` are alternatives: if MongoDB
 * refuses one, logs the message `refused` and tries the next one. Resolves with null if nothing was recorded.
 */
export async function settle<T extends object>(
  ctx: Context,
  job: DeliveryJob | AttemptJob,
  run: Run,
  refused: string,
  writes: readonly OutcomeWrite<T>[],
): Promise<T | null> {
  const { keyId: _, ...named } = job;
  for (const { fields, write } of writes) {
    try {
      return await retryWrite(ctx.log, named, run, write);
    } catch (error) {
      const failure = { ...job, ...fields, error: describeError(error) };
      if (isOutageOfMongo(error)) {
        ctx.log.warn(failure, 'stopped before the outcome was recorded: the attempt will be made again');
        return null;
      }
      ctx.log.error(failure, refused);
    }
  }
  return null;
}
