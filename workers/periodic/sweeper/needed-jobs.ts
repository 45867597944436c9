import type { Context } from '../../../shared/base/context.ts';
import type { PoolName } from '../../../shared/base/queues.ts';
import { enqueueMail } from '../../../shared/mail/mail.ts';
import { type MailRow, mails } from '../../../shared/mail/mail-row.ts';
import { messages } from '../../../shared/messages/message-row.ts';
import { enqueueMessage } from '../../../shared/messages/stored-messages.ts';
import { rides } from '../../../shared/rides/ride.ts';
import {
  deliveryJobId,
  enqueueNextDelivery,
  enqueueTimers,
  type Outbox,
  timerJobId,
  timerPool,
  timersWithJob,
  waitsForNextRide,
} from '../../../shared/rides/ride-jobs.ts';
import type { Claim, Ride } from '../../../shared/rides/ride-types.ts';
import { attemptJobId, enqueueAttempt, laneOf, nextRedeliveries } from '../../../shared/webhooks/attempt-jobs.ts';
import { type AttemptRecord, attempts } from '../../../shared/webhooks/attempts.ts';
import { isSlow } from '../../webhooks/slow-lane.ts';
import { logFailedPart } from '../turns.ts';
import type { Walk } from '../walk.ts';
import { addMissing, type NeededJob } from './add-missing.ts';
import { alongDueTimers, type DueRide, endStalled, hasStalled } from './mongo-work.ts';

/** The numbers of jobs, rides and drivers that a sweep added, changed or read. */
export interface Findings {
  /** Missing jobs that were added. */
  timers: number;
  deliveries: number;
  attempts: number;
  mails: number;
  messages: number;
  /** Trips without progress that were cancelled. */
  stalls: number;
  /** Suspended and revoked drivers whose rides and offers were ended. */
  drivers: number;
  /** Rides, test events and redeliveries that were read. */
  visited: number;
  /** Rides, drivers, attempts and jobs that failed. Each failure is logged and retried in the next sweep. */
  failed: number;
}

export interface Sweep {
  ctx: Context;
  /** True for a full sweep, which visits everything and adds every missing job without the grace time. */
  everything: boolean;
  now: Date;
  /** An ordinary sweep adds only jobs that were due by this time. */
  overdue: Date;
  /** A stored time later than this was stored before MongoDB's clock was set back. */
  ahead: Date;
  swept: Findings;
}

export function dueTimers(current: Sweep): Walk<DueRide> {
  const { ctx, everything, now, swept } = current;
  return alongDueTimers(everything ? null : now, async (due) => {
    const needed = await Promise.all(
      due.map((ride) =>
        neededJobs(current, ride, async () => {
          if (!hasStalled(ride, now)) return timerJobs(current, ride);
          if (await endStalled(ctx, ride)) swept.stalls += 1;
          return [];
        }),
      ),
    );
    const added = await add(current, needed.flat());
    swept.timers += added;
    swept.visited += due.length;
    return added;
  });
}

function timerJobs({ ctx, everything, overdue }: Sweep, ride: DueRide): NeededJob[] {
  const wanted = timersWithJob(ride.timers).filter(({ dueAt }) => everything || dueAt <= overdue);
  return wanted.map((timer) => ({
    pools: [timerPool(timer.name)],
    id: timerJobId(ride._id, timer.name),
    dueAt: timer.dueAt.getTime(),
    add: (options) => enqueueTimers(ctx, ride, [timer], options),
  }));
}

/**
 * True if a run holds the claim. A claim dated ahead of MongoDB's clock does not count as held: its end is uncertain,
 * so the event gets a job, and the job checks the claim (claim.ts).
 */
const isHeld = ({ at, until }: Pick<Claim, 'at' | 'until'>, now: Date): boolean => at <= now && until > now;

type UnsettledRide = Outbox & Pick<Ride, 'claim' | 'timers'>;

export function unsettledEvents(current: Sweep): Walk<UnsettledRide> {
  const { everything, overdue, ahead, swept } = current;
  return {
    collection: rides,
    by: 'unsettledSince',
    filter: { unsettled: { $gt: 0 } },
    projection: { keyId: 1, seq: 1, settledSeq: 1, claim: 1, timers: 1 },
    until: everything ? null : overdue,
    isAhead: (since) => since > ahead,
    async visit(unsettled) {
      const needed = await Promise.all(
        unsettled.map((ride) => neededJobs(current, ride, async () => deliveryJob(current, ride))),
      );
      const added = await add(current, needed.flat());
      swept.deliveries += added;
      swept.visited += unsettled.length;
      return added;
    },
  };
}

const deliveryPools: readonly PoolName[] = ['webhooks', 'webhooks-slow'];
const deliveryPool = async (ctx: Context, receiver: string) =>
  (await isSlow(ctx, receiver)) ? 'webhooks-slow' : 'webhooks';

function deliveryJob({ ctx, now }: Sweep, ride: UnsettledRide): NeededJob[] {
  if (ride.settledSeq >= ride.seq || waitsForNextRide(ride) || (ride.claim && isHeld(ride.claim, now))) return [];
  return [
    {
      pools: deliveryPools,
      id: deliveryJobId(ride._id, ride.settledSeq + 1),
      dueAt: now.getTime(),
      add: async (options) => enqueueNextDelivery(ctx, ride, await deliveryPool(ctx, ride.keyId), options),
    },
  ];
}

type PendingAttempt = Pick<AttemptRecord, '_id' | 'keyId' | 'endpointId' | 'kind' | 'rideId' | 'claim' | 'dueAt'>;

/**
 * A walk along pending test events, redeliveries and events for further endpoints. Those of a ride for one destination
 * run in order, so only the next one needs a job, which adds the job of the following one.
 */
export function pendingAttempts(current: Sweep): Walk<PendingAttempt> {
  const { everything, now, overdue, swept } = current;
  return {
    collection: attempts,
    by: 'dueAt',
    filter: { dueAt: { $exists: true } },
    projection: { keyId: 1, endpointId: 1, kind: 1, rideId: 1, claim: 1 },
    until: everything ? null : overdue,
    async visit(pending) {
      const free = pending.filter(({ claim }) => !claim || !isHeld(claim, now));
      const next = await nextRedeliveries(free.flatMap(({ rideId }) => rideId ?? []));
      const isNext = (each: PendingAttempt) => each.rideId === undefined || next.get(laneOf(each))?._id === each._id;
      const added = await add(
        current,
        free.filter(isNext).map((attempt) => attemptJob(current, attempt)),
      );
      swept.attempts += added;
      swept.visited += pending.length;
      return added;
    },
  };
}

const attemptJob = ({ ctx, now }: Sweep, { _id, keyId, endpointId, kind, dueAt = now }: PendingAttempt): NeededJob => ({
  pools: deliveryPools,
  id: attemptJobId(_id),
  dueAt: dueAt.getTime(),
  add: async (options) =>
    enqueueAttempt(ctx, { _id, keyId, endpointId, kind, dueAt }, await deliveryPool(ctx, endpointId ?? keyId), options),
});

type Waiting = Pick<MailRow, '_id' | 'dueAt'>;

export const waitingMails = (current: Sweep): Walk<Waiting> =>
  waitingIn(current, mails, { pool: 'mail', found: 'mails', enqueue: enqueueMail });

export const waitingMessages = (current: Sweep): Walk<Waiting> =>
  waitingIn(current, messages, { pool: 'messages', found: 'messages', enqueue: enqueueMessage });

interface WaitingKind {
  pool: PoolName;
  found: 'mails' | 'messages';
  enqueue(ctx: Context, row: Waiting, options: { evenIfActive: boolean }): Promise<boolean>;
}

/** A walk along waiting mails or messages, whose jobs have their ids. */
function waitingIn(current: Sweep, collection: unknown, { pool, found, enqueue }: WaitingKind): Walk<Waiting> {
  const { ctx, everything, overdue, swept } = current;
  return {
    collection: collection as Walk<Waiting>['collection'],
    by: 'dueAt',
    filter: { dueAt: { $exists: true } },
    projection: {},
    until: everything ? null : overdue,
    async visit(waiting) {
      const needed = waiting.map((row) => ({
        ...{ pools: [pool], id: row._id, dueAt: row.dueAt?.getTime() ?? 0 },
        add: (options: { evenIfActive: boolean }) => enqueue(ctx, row, options),
      }));
      const added = await add(current, needed);
      swept[found] += added;
      return added;
    },
  };
}

/**
 * Finds the jobs that a ride needs. If this fails, only logs the error, so that the sweep continues with the other
 * rides.
 */
async function neededJobs(
  { ctx, swept }: Sweep,
  { _id: rideId }: { _id: string },
  find: () => Promise<NeededJob[]>,
): Promise<NeededJob[]> {
  try {
    return await find();
  } catch (error) {
    logFailedPart(ctx.log, 'a ride could not be swept', { rideId }, error);
    swept.failed += 1;
    return [];
  }
}

async function add({ ctx, everything, now, swept }: Sweep, needed: NeededJob[]): Promise<number> {
  const { added, failed } = await addMissing(ctx, needed, { nowMs: now.getTime(), distrustActive: everything });
  swept.failed += failed;
  return added;
}
