import type { Context } from '../../shared/base/context.ts';
import { clocksDiffer } from '../../shared/base/mongo/clock.ts';
import type { AttemptJob, DeliveryJob } from '../../shared/base/queues.ts';
import { enqueueNextDelivery } from '../../shared/rides/ride-jobs.ts';
import { enqueueAttempt } from '../../shared/webhooks/attempt-jobs.ts';
import { copyUnsettled } from '../../shared/webhooks/copies-of-event.ts';
import type { Handler, JobResult } from '../handler.ts';
import { mayHaveEndpoints, prefetchSettings, type SettingsOrOutcome } from './attempt.ts';
import { deliverEvent } from './deliver-event.ts';
import { waitForClocks } from './postpone.ts';
import { resend } from './resend.ts';
import { enterLane } from './slow-lane.ts';

/**
 * Handles the jobs of the pools `webhooks` and `webhooks-slow`: one attempt to deliver an event, or one resend. The
 * fast lane moves a job to the slow lane if its key is slow or has too many attempts in flight. It does so before the
 * claim, so that the slow lane can claim the event at once.
 */
export const deliver: Handler<DeliveryJob | AttemptJob> = async (ctx, job, run) => {
  if (clocksDiffer(ctx.now())) return waitForClocks(ctx, job, run);
  if ('copiesOnly' in job) {
    await copyUnsettled(ctx, job.rideId);
    return { result: 'copied' };
  }
  // Begins before the lane is known, because both reads may wait for a batch.
  const readSettings = prefetchSettings(ctx, job);
  const leave = await enterLane(ctx, receiverOf(job), run.pool);
  if (!leave) return moveToSlowLane(ctx, job, readSettings);
  try {
    return await ('attemptId' in job ? resend(ctx, job, run, readSettings) : deliverEvent(ctx, job, run, readSettings));
  } finally {
    leave();
  }
};

/** What the lanes count by: the key, or its further endpoint, so that a slow one does not delay the others. */
const receiverOf = (job: DeliveryJob | AttemptJob): string => ('attemptId' in job && job.endpointId) || job.keyId;

async function moveToSlowLane(
  ctx: Context,
  job: DeliveryJob | AttemptJob,
  readSettings: () => Promise<SettingsOrOutcome>,
): Promise<JobResult> {
  const { keyId } = job;
  if ('attemptId' in job)
    await enqueueAttempt(ctx, { _id: job.attemptId, keyId, endpointId: job.endpointId }, 'webhooks-slow');
  else {
    // The further endpoints do not wait for the slow lane.
    if (mayHaveEndpoints(await readSettings())) await copyUnsettled(ctx, job.rideId);
    await enqueueNextDelivery(ctx, { _id: job.rideId, keyId, settledSeq: job.seq - 1, seq: job.seq }, 'webhooks-slow');
  }
  return { result: 'handed to webhooks-slow' };
}
