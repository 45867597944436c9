import { pause } from '../shared/base/abort-signal.ts';
import { describeError } from '../shared/base/errors.ts';
import type { Logger } from '../shared/base/logger.ts';
import { isOutageOfMongo } from '../shared/base/mongo/outage.ts';
import type { Run } from './handler.ts';

const retryMs = 250;

/**
 * Repeats the write of an attempt's outcome until MongoDB answers or the pool stops: an attempt that is not recorded is
 * made again. Rethrows the last error. `fields` name the job in the log.
 */
export async function retryWrite<T>(
  log: Logger,
  fields: object,
  { stopping }: Pick<Run, 'stopping'>,
  write: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!isOutageOfMongo(error) || stopping.aborted) throw error;
      log.debug({ ...fields, error: describeError(error) }, 'outcome not recorded yet');
      await pause(retryMs, stopping);
    }
  }
}
