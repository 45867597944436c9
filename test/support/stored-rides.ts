import type { Context } from '../../shared/base/context.ts';
import { AppError, type ErrorCode } from '../../shared/base/errors.ts';
import type { PoolName } from '../../shared/base/queues.ts';
import type { TimerName } from '../../shared/base/terms.ts';
import { rides } from '../../shared/rides/ride.ts';
import { copiesJobId, deliveryJobId, timerJobId } from '../../shared/rides/ride-jobs.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import { autoAccept } from '../../workers/bidding.ts';

/** Reads the whole ride from MongoDB. */
export async function storedRide(rideId: string): Promise<Ride> {
  const ride = await rides.findOne({ _id: rideId });
  if (!ride) throw new Error(`ride ${rideId} does not exist`);
  return ride;
}

export const statusesSent = (ride: Ride): string[] =>
  ride.events.map(({ body }) => JSON.parse(body).status ?? JSON.parse(body).event);

const longAgo = () => new Date(Date.now() - 60_000);

/** Moves a timer into the past. MongoDB's clock decides which timers are due, and a test cannot set that clock. */
export async function makeDue(rideId: string, name: TimerName, dueAt = longAgo()): Promise<void> {
  // The opener finds its timer by `biddingOpensAt`, the sweeper finds all others by `nextDueAt`.
  const indexed = name === 'open' ? 'biddingOpensAt' : 'nextDueAt';
  await rides.updateOne({ _id: rideId, 'timers.name': name }, { $set: { 'timers.$.dueAt': dueAt, [indexed]: dueAt } });
}

/** Makes the ride's `auto_accept` timer due, and runs the timer. */
export async function autoAcceptNow(ctx: Context, rideId: string) {
  await makeDue(rideId, 'auto_accept');
  return runAutoAccept(ctx, rideId);
}

/** Runs the ride's `auto_accept` timer as a worker would. */
export function runAutoAccept(ctx: Context, rideId: string) {
  return autoAccept(
    ctx,
    { rideId, timer: 'auto_accept' },
    { pool: 'bidding', token: 'test', stopping: new AbortController().signal },
  );
}

/** Ends the bidding time. The ride is still in the status `bidding`. */
export async function endBidding(rideId: string): Promise<void> {
  await rides.updateOne({ _id: rideId }, { $set: { biddingEndsAt: longAgo() } });
  await makeDue(rideId, 'expire');
}

/** Resolves with `done`, or with the code of the operation's AppError. */
export async function outcomeOf(operation: Promise<unknown>): Promise<'done' | ErrorCode> {
  try {
    await operation;
    return 'done';
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}

/** The work of a job: a timer or an event of a ride, an attempt, a mail, or a message. */
export type Work =
  | { rideId: string; timer: TimerName }
  | { rideId: string; seq: number; copiesOnly?: true }
  | { attemptId: string }
  | { mailId: string }
  | { messageId: string };

/** The pending job in a queue for this work. */
export async function jobFor(ctx: Context, pool: PoolName, work: Work) {
  const jobId = await ctx.queues[pool].getDeduplicationJobId(dedupeIdOf(work));
  return jobId ? ctx.queues[pool].getJob(jobId) : undefined;
}

function dedupeIdOf(work: Work): string {
  if ('attemptId' in work) return work.attemptId;
  if ('mailId' in work) return work.mailId;
  if ('messageId' in work) return work.messageId;
  if ('timer' in work) return timerJobId(work.rideId, work.timer);
  return (work.copiesOnly ? copiesJobId : deliveryJobId)(work.rideId, work.seq);
}
