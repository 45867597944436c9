import { UnrecoverableError } from 'bullmq';
import type { Done } from './handler.ts';

const notArrived = new Set(['failed', 'timeout', 'blocked']);

/**
 * What BullMQ keeps of a run. The job of an event that did not arrive ends as failed, by throwing, so that it stands where a
 * developer looks for it. Nothing else changes: the outcome is recorded, the next event has its job, and nothing is retried.
 * The text consists of our own words and codes only (`failed: 500 status`).
 */
export function jobResult(done: Done): Done {
  if (!notArrived.has(done.result)) return done;
  const why = [done.httpStatus, done.reason].filter(Boolean).join(' ');
  const error = new UnrecoverableError(why ? `${done.result}: ${why}` : done.result);
  // BullMQ would keep the stack too, which says nothing about the receiver.
  error.stack = error.message;
  throw error;
}
