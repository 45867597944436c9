import type { Ride } from '../../../shared/rides/ride-types.ts';
import { nextStep } from '../../../shared/rides/simulation.ts';
import type { Fault } from '../faults-log.ts';
import type { Evidence } from './checker.ts';

/** One piece of work, with the times when it was due and done, in Unix ms. */
export interface Work {
  rideId: string;
  what: string;
  dueAt: number;
  doneAt: number;
}

/**
 * The work that the service does without a request, with its due time and actual time: the simulated driver's steps,
 * the end of bidding, and the start of each event's first attempt, which is due when the previous event is settled.
 */
export function workOfAll({ rides, speed, receipts }: Pick<Evidence, 'rides' | 'speed' | 'receipts'>): Work[] {
  const firstReceived = new Map<string, number>();
  for (const { rideId, seq, receivedAt } of receipts) {
    const event = `${rideId}_${seq}`;
    firstReceived.set(event, Math.min(firstReceived.get(event) ?? receivedAt, receivedAt));
  }
  const byId = new Map(rides.map((ride) => [ride._id, ride]));
  return rides.flatMap((ride) => [
    ...openingOf(ride),
    ...successorOf(ride, byId),
    ...stepsOf(ride, speed),
    ...attemptsOf(ride, firstReceived),
  ]);
}

function openingOf({ _id: rideId, biddingOpensAt, openedAt }: Ride): Work[] {
  if (!biddingOpensAt || !openedAt || openedAt < biddingOpensAt) return [];
  return [{ rideId, what: 'open', dueAt: biddingOpensAt.getTime(), doneAt: openedAt.getTime() }];
}

function successorOf({ _id: rideId, statusAt, replacedBy = '' }: Ride, byId: ReadonlyMap<string, Ride>): Work[] {
  const successor = byId.get(replacedBy);
  return successor ? [{ rideId, what: 'rebid', dueAt: statusAt.getTime(), doneAt: successor.createdAt.getTime() }] : [];
}

function stepsOf(ride: Ride, speed: number): Work[] {
  const isSimulated = ride.mode === 'test';
  const works: Work[] = [];
  const scenario = ride.scenario ?? 'default';
  let offers = 0;
  let before: { step: NonNullable<ReturnType<typeof nextStep>>['step'] | 'create'; at: Date } = {
    step: 'create',
    at: ride.openedAt ?? ride.createdAt,
  };
  for (const { event, at, body } of ride.events) {
    const status = event === 'offer.received' ? 'offer' : JSON.parse(body).status;
    if (status === 'offer') offers += 1;
    const step = stepThatMade(status, offers);
    const due = isSimulated ? nextStep(scenario, before.step) : undefined;
    // An accept or cancellation by the partner has no timer.
    const dueAt = due && before.at.getTime() + due.afterMs / speed;
    if (due && dueAt && step === due.step && at.getTime() >= dueAt) {
      works.push({ rideId: ride._id, what: step, dueAt, doneAt: at.getTime() });
    }
    if (status === 'cancelled' && ride.cancelledBy === 'timeout') {
      works.push({ rideId: ride._id, what: 'expire', dueAt: ride.biddingEndsAt.getTime(), doneAt: at.getTime() });
    }
    before = { step, at };
  }
  return works;
}

type Step = Parameters<typeof nextStep>[1];

function stepThatMade(status: string, offers: number): Exclude<Step, 'create'> {
  if (status === 'offer') return offers === 1 ? 'offer' : offers === 2 ? 'offer_2' : 'offer_3';
  const steps: Record<string, Exclude<Step, 'create'>> = {
    driver_arriving: 'accept',
    arrived: 'arrive',
    in_progress: 'start',
    completed: 'complete',
    cancelled: 'driver_cancel',
  };
  return steps[status] as Exclude<Step, 'create'>;
}

function attemptsOf(ride: Ride, firstReceived: ReadonlyMap<string, number>): Work[] {
  let settledBefore = 0;
  return ride.events.flatMap(({ seq, at, delivery }) => {
    if (!delivery) return [];
    const dueAt = Math.max(at.getTime(), settledBefore);
    settledBefore = delivery.at.getTime() + delivery.durationMs;
    // The record is of the last attempt; a fault may have interrupted an earlier one, which only the receiver has seen.
    const doneAt = Math.min(delivery.at.getTime(), firstReceived.get(`${ride._id}_${seq}`) ?? Number.POSITIVE_INFINITY);
    return [{ rideId: ride._id, what: `event ${seq}`, dueAt, doneAt }];
  });
}

/**
 * Finds the work with the longest delay after an outage, and its delay in ms. The delay counts from the end of the
 * outage, or from the due time if that is later, and only up to the next outage. Work that was due more than `withinMs`
 * after the end is ignored.
 */
export function latestAfter(
  outages: readonly Fault[],
  works: readonly Work[],
  withinMs: number,
): { ms: number; what: string } {
  const inOrder = [...outages].sort((a, b) => a.from - b.from);
  let latest = { ms: 0, what: 'nothing' };
  for (const [index, outage] of inOrder.entries()) {
    const next = inOrder[index + 1]?.from ?? Number.POSITIVE_INFINITY;
    for (const { rideId, what, dueAt, doneAt } of works) {
      if (doneAt < outage.until || dueAt > Math.min(outage.until + withinMs, next)) continue;
      const ms = Math.min(doneAt, next) - Math.max(dueAt, outage.until);
      if (ms > latest.ms) latest = { ms, what: `${what} of ${rideId}, outage ${index + 1} (${outage.what})` };
    }
  }
  return latest;
}

/**
 * The longest time, in ms, without progress in one piece of work. The times of progress are its due time, its end, and
 * the marks in between (an attempt, or another kill).
 */
export function longestStandstill(works: readonly Work[], marksOf: (work: Work) => readonly number[]): number {
  let longestMs = 0;
  for (const work of works) {
    const between = marksOf(work).filter((at) => at > work.dueAt && at < work.doneAt);
    const moments = [work.dueAt, ...between.sort((a, b) => a - b), work.doneAt];
    for (const [index, at] of moments.entries()) longestMs = Math.max(longestMs, at - (moments[index - 1] ?? at));
  }
  return longestMs;
}
