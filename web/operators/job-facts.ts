import type { JobsOptions } from 'bullmq';
import type { AttemptJob, DeliveryJob, MailJob, MessageJob, TimerJob } from '../../shared/base/queues.ts';

export type JobData = Partial<TimerJob & DeliveryJob & MailJob & MessageJob & AttemptJob>;

/** The work of a job, in words. */
export function stepOf({ timer, mailId, messageId, attemptId, endpointId, seq, copiesOnly }: JobData): string {
  if (timer) return timer;
  if (mailId) return 'send the mail';
  if (messageId) return `send the message ${messageId.split(':').slice(1).join(' to ')}`;
  if (copiesOnly) return `copies of event ${seq}`;
  if (endpointId) return `attempt to ${endpointId}`;
  return attemptId ? 'test event or resend' : `delivery of event ${seq}`;
}

/** The due time of a job. */
export const dueAtOf = ({ timestamp, opts }: { timestamp: number; opts: Pick<JobsOptions, 'delay'> }): Date =>
  new Date(timestamp + (opts.delay ?? 0));
