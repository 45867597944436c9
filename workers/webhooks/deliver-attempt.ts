import type { Context } from '../../shared/base/context.ts';
import { eventId } from '../../shared/base/ids.ts';
import { countDelivery } from '../../shared/base/metrics.ts';
import { clocksDiffer } from '../../shared/base/mongo/clock.ts';
import type { AttemptJob } from '../../shared/base/queues.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { Ride, RideEvent } from '../../shared/rides/ride-types.ts';
import { enqueueAttempt, enqueueNextRedeliveries, nextRedeliveries } from '../../shared/webhooks/attempt-jobs.ts';
import { type AttemptRecord, attempts } from '../../shared/webhooks/attempts.ts';
import { eraseAttemptsOfErased } from '../../shared/webhooks/erase-attempts.ts';
import { type Handler, type JobResult, type Run, withLine } from '../handler.ts';
import { type Attempted, attempt, deliverySettingsOf, type Outgoing, type SettingsOrOutcome } from './attempt.ts';
import { claimClock, renewableClaim } from './claim.ts';
import {
  type ClaimedAttempt,
  claimAttempt,
  extendAttempt,
  heldForMs,
  mayRedeliver,
  releaseAttempt,
} from './claim-attempt.ts';
import { report, waitForClocks } from './postpone.ts';
import { drained, newTrace, type Trace } from './send/trace.ts';
import { settleAttempt } from './settle-attempt.ts';
import { inLane, markSlow } from './slow-lane.ts';

/** An attempt whose runs end so often without an outcome is given up: it may be what ends them. */
const mostTries = 3;
/** Someone waits for the answer to a test event: nobody does after this. */
const testMaxAgeMs = 10 * 60_000;
const redeliveryMaxAgeMs = 24 * 3_600_000;
const shortestPauseMs = 1_000;
const longestPauseMs = 300_000;
/** Redeliveries that are late come back at a random moment within this time. */
const paceRetryMs = 1_000;

/**
 * One attempt that is asked for by hand: a test event or a redelivery. It goes through the same lanes and the same sender as an
 * event's, under a claim of its own, and changes nothing of a ride.
 */
export const deliverAttempt: Handler<AttemptJob> = async (ctx, job, run) =>
  clocksDiffer(ctx.now())
    ? waitForClocks(ctx, job, run)
    : inLane(ctx, job.keyId, run, {
        deliver: () => deliver(ctx, job, run),
        moveToSlow: () => enqueueAttempt(ctx, { _id: job.attemptId, keyId: job.keyId }, 'webhooks-slow'),
      });

async function deliver(ctx: Context, job: AttemptJob, run: Run): Promise<JobResult> {
  const { attemptId, keyId } = job;
  const wanted = await attempts.findOne({ _id: attemptId }, { projection: { rideId: 1, kind: 1, state: 1 } });
  if (!wanted || wanted.state === 'done') return finish(ctx, wanted?.rideId, { result: 'done' });
  if (wanted.rideId !== undefined && !(await isNext(attemptId, wanted.rideId))) return { result: 'not_its_turn' };

  const settings = await deliverySettingsOf(ctx, keyId);
  const isPaced = wanted.kind === 'redelivery' && !('outcome' in settings);
  if (isPaced && !(await mayRedeliver(keyId))) return { againInMs: Math.random() * paceRetryMs, why: 'pace' };
  const claimed = await claimAttempt(attemptId, run.token, claimClock(ctx));
  if (!claimed) {
    const remainingMs = await heldForMs(attemptId, claimClock(ctx));
    if (remainingMs === null) return finish(ctx, wanted.rideId, { result: 'done' });
    return { againInMs: Math.max(100, remainingMs), why: 'held by another run' };
  }

  if (clocksDiffer(claimed.claim.at.getTime())) {
    await releaseAttempt(attemptId, run.token);
    return waitForClocks(ctx, job, run);
  }
  const trace = newTrace();
  const { attempted, body } = await make(ctx, job, run, claimed, settings, trace);
  if (attempted.outcome === 'lost') {
    await releaseAttempt(attemptId, run.token);
    return { againInMs: 100, why: 'claim lost' };
  }
  if (attempted.outcome === 'unable' && !isTooOld(claimed)) return postpone(ctx, job, run, claimed, attempted.reason);
  const outcome = attempted.outcome === 'unable' ? 'failed' : attempted.outcome;

  await drained(trace);
  const made = { ...attempted, outcome, startedAt: claimed.claim.at };
  const isSettled = await settleAttempt(ctx, job, run, made, body, trace);
  if (!isSettled) return { result: 'not recorded' };
  // The ride may have been erased while the attempt was made. What fails here, the retention finds later.
  if (wanted.rideId !== undefined) await eraseAttemptsOfErased([wanted.rideId]).catch(() => {});
  const { kind, event, rideId, seq, requestId } = claimed.record;
  const { reason, httpStatus, durationMs } = attempted;
  const fields = {
    requestId,
    ...job,
    kind,
    rideId,
    seq,
    event,
    outcome,
    reason,
    httpStatus,
    durationMs,
    pool: run.pool,
  };
  countDelivery(kind, run.pool, { outcome, durationMs });
  const finished = { result: outcome, event, httpStatus, reason, durationMs };
  const result = withLine(ctx.log, finished, fields, 'attempt by hand');
  if (outcome === 'timeout') await markSlow(ctx, keyId);
  return finish(ctx, wanted.rideId, result);
}

const isNext = async (attemptId: string, rideId: string): Promise<boolean> =>
  (await nextRedeliveries([rideId])).get(rideId)?._id === attemptId;

/** Adds the job of the ride's next redelivery, also when an earlier run was cut off before it did. */
async function finish(ctx: Context, rideId: string | undefined, result: JobResult): Promise<JobResult> {
  if (rideId !== undefined) await enqueueNextRedeliveries(ctx, [rideId]);
  return result;
}

/** Makes the attempt, or says why it is given up without one. */
async function make(
  ctx: Context,
  { attemptId }: AttemptJob,
  { token }: Run,
  claimed: ClaimedAttempt,
  settings: SettingsOrOutcome,
  trace: Trace,
): Promise<{ attempted: Attempted; body?: string }> {
  const failed = (reason: string) => ({ attempted: { outcome: 'failed', reason, durationMs: 0 } as const });
  if (claimed.record.tries !== undefined && claimed.record.tries > mostTries) return failed('interrupted');
  if (isTooOld(claimed) && !('outcome' in settings)) return failed('too_late');
  const outgoing = await outgoingOf(claimed.record);
  if (!outgoing) return failed('body_erased');
  const claim = renewableClaim(claimed, () => claimAttempt(attemptId, token, claimClock(ctx)));
  return { attempted: await attempt(ctx, outgoing, claim, settings, trace), body: outgoing.body };
}

/** The time since the attempt was asked for, or was due. */
const ageMs = ({ record, claim }: ClaimedAttempt): number => claim.at.getTime() - record.at.getTime();

const isTooOld = (claimed: ClaimedAttempt): boolean =>
  ageMs(claimed) > (claimed.record.kind === 'test' ? testMaxAgeMs : redeliveryMaxAgeMs);

/** What is sent; null when its body is erased. */
async function outgoingOf(record: AttemptRecord): Promise<Outgoing | null> {
  const { _id, keyId, kind, event, body, rideId, seq, requestId } = record;
  const asked = { keyId, event, rideId, requestId };
  if (kind === 'test' || rideId === undefined || seq === undefined) {
    return body ? { ...asked, eventId: eventId(_id, 1), seq: 1, body, mark: { 'X-Service-Test': 'true' } } : null;
  }
  const ride = await rides.findOne<Pick<Ride, 'webhookUrl'> & { events: Pick<RideEvent, 'body'>[] }>(
    { _id: rideId, 'events.seq': seq },
    { projection: { webhookUrl: 1, 'events.$': 1 } },
  );
  const eventAsSent = { ...asked, eventId: eventId(rideId, seq), seq, body: ride?.events[0]?.body ?? '' };
  if (!eventAsSent.body) return null;
  return { ...eventAsSent, webhookUrl: ride?.webhookUrl, mark: { 'X-Service-Redelivery': 'true' } };
}

/** A fault of this host, or a missing SECRETS_KEY, is no outcome: the attempt is made later, at growing intervals. */
async function postpone(
  ctx: Context,
  job: AttemptJob,
  run: Run,
  claimed: ClaimedAttempt,
  reason = 'unknown',
): Promise<JobResult> {
  report(ctx.log, reason, job);
  const againInMs = Math.min(Math.max(ageMs(claimed), shortestPauseMs), longestPauseMs);
  await extendAttempt(job.attemptId, run.token, againInMs);
  return { againInMs, why: reason };
}
