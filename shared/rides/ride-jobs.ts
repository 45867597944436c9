import type { Context } from '../base/context.ts';
import { addJob, type PoolName } from '../base/queues.ts';
import type { TimerName } from '../base/terms.ts';
import { endpointsOf } from '../keys/endpoints.ts';
import type { Ride, RideState, Timer } from './ride-types.ts';

/** The first due time of these timers, if any. `open` does not count: rides that wait to open have their own index. */
export const earliestDueAt = (timers: readonly Timer[]): Date | undefined =>
  byDueTime(timers.filter(({ name }) => name !== 'open'))[0]?.dueAt;

const byDueTime = (timers: readonly Timer[]): Timer[] =>
  [...timers].sort((a, b) => a.dueAt.getTime() - b.dueAt.getTime());

/** The timers that have a job. `stall` and `open` are hours or days away: the sweeper and the opener find them. */
export const timersWithJob = (timers: readonly Timer[]): Timer[] =>
  timers.filter(({ name }) => name !== 'stall' && name !== 'open');

/** A timer that is due within this time gets its job at once. Not 0, because `ctx.now()` is an estimate. */
const atOnceMs = 500;

/**
 * Adds the delayed job of the timer that is due next, unless that timer was already next in `before`. Each following
 * timer gets its job when the previous one fires. A new timer that is due now has a job of its own, so that it does not
 * wait for a pool that is slow or stopped. `route` and `message` always have one. Never fails.
 */
export async function enqueueNextTimer(
  ctx: Context,
  ride: Pick<RideState, '_id' | 'timers'>,
  before?: Pick<RideState, 'timers'>,
): Promise<void> {
  const earlier = before?.timers ?? [];
  const [next, previous] = [firstInLine(ride.timers), firstInLine(earlier)];
  const isDue = ({ name, dueAt }: Timer) => hasOwnJob(name) || dueAt.getTime() <= ctx.now() + atOnceMs;
  const timers = timersWithJob(ride.timers).filter((timer) =>
    timer === next ? !isSame(timer, previous) : isDue(timer) && !earlier.some((one) => isSame(timer, one)),
  );
  if (timers.length > 0) await enqueueTimers(ctx, ride, timers);
}

const isSame = (timer: Timer, other: Timer | undefined): boolean =>
  timer.name === other?.name && timer.dueAt.getTime() === other.dueAt.getTime();

const hasOwnJob = (name: TimerName): boolean => name === 'route' || name === 'message';

const firstInLine = (timers: readonly Timer[]): Timer | undefined =>
  byDueTime(timersWithJob(timers)).find(({ name }) => !hasOwnJob(name));

/**
 * The timers that can be set again while the job of the previous one is still running: by the next offer, by the end of
 * a ride that was just accepted, by the next withdrawal, by the next change that owes a message. Without a job, they would wait for the sweeper.
 */
const setWhileRunning: ReadonlySet<TimerName> = new Set<TimerName>([
  'auto_accept',
  'driver',
  'ask',
  'message',
  'withdrawn',
]);

/** Adds a delayed job for each timer. Never fails. True if Redis accepted all. `evenIfActive` is for due timers. */
export async function enqueueTimers(
  ctx: Context,
  ride: Pick<RideState, '_id'>,
  timers: readonly Timer[],
  { evenIfActive = false } = {},
): Promise<boolean> {
  const accepted = await Promise.all(
    timers.map(({ name, dueAt }) =>
      addJob(ctx, timerPool(name), {
        id: timerJobId(ride._id, name),
        name: `${name} ${ride._id}`,
        data: { rideId: ride._id, timer: name },
        dueAt,
        evenIfActive: setWhileRunning.has(name) || (evenIfActive && dueAt.getTime() <= ctx.now()),
      }),
    ),
  );
  return accepted.every(Boolean);
}

/** The queue of a timer's job. */
export function timerPool(name: TimerName): PoolName {
  if (name === 'message') return 'messages';
  if (name === 'expire' || name === 'auto_accept' || name === 'rebid' || name === 'withdrawn') return 'bidding';
  if (name === 'route') return 'routing';
  return name === 'dispatch' || name === 'ask' || name === 'driver' ? 'dispatch' : 'simulator';
}

/** The dedupe id of a timer's job: a ride has at most one timer of each name. */
export const timerJobId = (rideId: string, name: TimerName): string => `${rideId}_${name}`;

/** The fields that determine a ride's next event to deliver: number `settledSeq + 1`, unless `seq` is lower. */
export type Outbox = Pick<Ride, '_id' | 'keyId' | 'seq' | 'settledSeq'>;

/**
 * True if the only event left to deliver is the last one, which names the successor, and the timer that inserts the
 * successor has not fired yet (rebid.ts). The write that fires it adds the event's job.
 */
export const waitsForNextRide = ({ seq, settledSeq, timers }: Pick<Ride, 'seq' | 'settledSeq' | 'timers'>): boolean =>
  settledSeq + 1 === seq && timers.some(({ name }) => name === 'rebid');

/**
 * Adds the job for the ride's oldest unsettled event, if there is one. One job is one attempt of one event. Never
 * fails, because the event is in MongoDB. Resolves with false if Redis did not accept the job; the sweeper then adds it
 * later.
 */
export async function enqueueNextDelivery(
  ctx: Context,
  ride: Outbox,
  pool: Extract<PoolName, `webhooks${string}`> = 'webhooks',
  { evenIfActive = false } = {},
): Promise<boolean> {
  if (ride.settledSeq >= ride.seq) return true;
  const seq = ride.settledSeq + 1;
  return addJob(ctx, pool, {
    id: deliveryJobId(ride._id, seq),
    name: `event ${seq} of ${ride._id}`,
    data: { rideId: ride._id, keyId: ride.keyId, seq },
    evenIfActive,
  });
}

/**
 * Adds the job for a ride's new event, or for its last one once the next ride exists: its delivery, or, while earlier
 * events are unsettled, only its copies for further endpoints, which wait for no other URL. Never fails: the delivery
 * stores missing copies.
 */
export async function enqueueNewEvent(ctx: Context, ride: Outbox): Promise<boolean> {
  const { _id: rideId, keyId, seq, settledSeq } = ride;
  if (seq === settledSeq + 1) return enqueueNextDelivery(ctx, ride);
  if ((await endpointsOf(keyId).catch(() => [])).length === 0) return true;
  return addJob(ctx, 'webhooks', {
    id: copiesJobId(rideId, seq),
    name: `copies of event ${seq} of ${rideId}`,
    data: { rideId, keyId, seq, copiesOnly: true },
    // A run in progress may have left out the ride, because it waited for the next one.
    evenIfActive: true,
  });
}

/** The dedupe id of an event's job, in both `webhooks` and `webhooks-slow`. */
export const deliveryJobId = (rideId: string, seq: number): string => `${rideId}_${seq}`;
/** The dedupe id of the job that only stores an event's copies. */
export const copiesJobId = (rideId: string, seq: number): string => `${deliveryJobId(rideId, seq)}_copies`;
