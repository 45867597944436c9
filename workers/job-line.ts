import type { Logger } from '../shared/base/logger.ts';
import type { JobResult } from './handler.ts';

const lined = new WeakSet<JobResult>();

/** Writes the one line of a job's run with fields of its kind, instead of the line that every other run gets. */
export function withLine<Result extends JobResult>(
  log: Logger,
  result: Result,
  fields: object,
  message: string,
  level: 'info' | 'warn' = 'info',
): Result {
  log[level](fields, message);
  lined.add(result);
  return result;
}

export const hasLine = (result: JobResult): boolean => lined.has(result);
