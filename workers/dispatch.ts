import type { Context } from '../shared/base/context.ts';
import { dispatchRounds, driversAsked } from '../shared/base/metrics/metrics.ts';
import type { PoolName, TimerJob } from '../shared/base/queues.ts';
import { inactiveAmong } from '../shared/drivers/driver.ts';
import { findNearby, type Nearby } from '../shared/drivers/nearby.ts';
import { maxRequests, type RequestSlot, takeSlots } from '../shared/drivers/requests.ts';
import { enoughOffers, radiusKmOf, roundTimer } from '../shared/rides/dispatch-rounds.ts';
import { movingRidesOf, openRidesOf } from '../shared/rides/driver/driver-rides.ts';
import { settleDriver } from '../shared/rides/driver/settle-driver.ts';
import { fireTimer } from '../shared/rides/fire-timer.ts';
import { readRide } from '../shared/rides/read-ride.ts';
import type { AskedDriver, Offer, RideState } from '../shared/rides/ride-types.ts';
import { type Handler, type JobResult, timerOutcome, withLine } from './handler.ts';

/** The jobs of the queue `dispatch`: the rounds of a live ride, and what follows when it gets a driver or ends. */
export const dispatchRide: Handler<TimerJob> = (ctx, { rideId, timer }, { pool }) =>
  timer === 'dispatch' ? runRound(ctx, rideId, pool) : settleDriverOf(ctx, rideId);

/** How many drivers a round asks at most. */
const roundSize = 20;
/** In a crowd of drivers who cannot take another request, a round looks past so many. */
const mostLookedAt = 120;

/**
 * One round: opens the ride to the nearest available drivers who were not asked before, unless it has enough offers, and
 * sets the timer of the next round. All of that is one write, so a round that is cut off runs again.
 */
async function runRound(ctx: Context, rideId: string, pool: PoolName): Promise<JobResult> {
  const startedAt = performance.now();
  const read = await readRide({ rideId, owner: 'anyone' });
  const timer = read?.ride.timers.find(({ name }) => name === 'dispatch');
  const remainingMs = read && timer ? timer.dueAt.getTime() - read.now.getTime() : 0;
  // It may be due by the time that it fires, and would then ask nobody.
  if (remainingMs > 0) return timerOutcome({ result: 'early', remainingMs });
  const [opened, gone] = read && timer ? await Promise.all([openToDrivers(ctx, read), goneBidders(read)]) : [[], none];
  let nextDueAt: Date | undefined;
  const effectOf = (ride: RideState, now: Date) => {
    const rounds = (ride.rounds ?? 0) + 1;
    const next = roundTimer(ctx.config.dispatch, ride, rounds, now);
    nextDueAt = next[0]?.dueAt;
    const timers = [...ride.timers.filter(({ name }) => name !== 'dispatch'), ...next];
    const offers = ride.offers.map((offer) => (isOf(offer, gone) ? { ...offer, withdrawnAt: now } : offer));
    return { set: { rounds, timers, asked: [...(ride.asked ?? []), ...opened], ...(gone.size > 0 && { offers }) } };
  };
  const fired = await fireTimer(ctx, rideId, 'dispatch', effectOf, { dueAt: timer?.dueAt ?? null });
  if (fired.result !== 'done') return timerOutcome(fired);
  dispatchRounds.inc();
  driversAsked.inc(opened.length);
  // This job again: another one under its id is not accepted while it runs.
  const again = nextDueAt && { againInMs: Math.max(0, nextDueAt.getTime() - ctx.now()), why: 'next round' };
  const durationMs = Math.round(performance.now() - startedAt);
  const { requestId, keyId } = fired;
  const fields = { requestId, rideId, keyId, pool, asked: opened.length, outcome: fired.result, durationMs };
  return withLine(ctx.log, again ?? fired, fields, 'dispatch round');
}

const none: ReadonlySet<string> = new Set();

type ReadRide = { ride: RideState; now: Date };

/** Takes a place in the requests of the nearest drivers who have one left, and resolves with those drivers. */
async function openToDrivers(ctx: Context, { ride, now }: ReadRide): Promise<AskedDriver[]> {
  const opened: AskedDriver[] = [];
  const liveOffers = ride.offers.filter(({ withdrawnAt }) => !withdrawnAt).length;
  if (ride.status !== 'bidding' || now >= ride.biddingEndsAt || liveOffers >= enoughOffers) return opened;
  const radiusKm = radiusKmOf(ctx.config.dispatch, ride, ride.rounds ?? 0);
  const passed = (ride.asked ?? []).map(({ driverId }) => driverId);
  const lastToPass = passed.length + mostLookedAt;
  while (opened.length < roundSize && passed.length < lastToPass) {
    const limit = 2 * roundSize;
    const found = await findNearby(ride, { radiusKm, passed, limit, now });
    const [moving, open] = await Promise.all([
      movingRidesOf(found.map(({ driverId }) => driverId)),
      openRidesOf([...new Set(found.flatMap(({ requests }) => requests))], now),
    ]);
    const free = found.filter(({ driverId }) => !moving.has(driverId)).map((driver) => slotOf(driver, ride._id, open));
    const wanted = free.filter((slot) => slot.open.length < maxRequests).slice(0, roundSize - opened.length);
    const taken = await takeSlots(ride._id, wanted, now);
    opened.push(...found.flatMap(({ driverId, pickupKm }) => (taken.has(driverId) ? { driverId, pickupKm } : [])));
    passed.push(...found.map(({ driverId }) => driverId));
    if (found.length < limit) break;
  }
  return opened;
}

/** Without this ride itself: an earlier run that was cut off may have taken the place already. */
const slotOf = ({ driverId, requests }: Nearby, rideId: string, open: ReadonlySet<string>): RequestSlot => ({
  driverId,
  requests,
  open: requests.filter((request) => request !== rideId && open.has(request)),
});

/** The drivers with a live offer who have taken another ride or may not drive: nobody withdrew their offers before. */
async function goneBidders({ ride }: ReadRide): Promise<ReadonlySet<string>> {
  const bidders = ride.offers.flatMap(({ driver, withdrawnAt }) => (withdrawnAt ? [] : driver.driverId));
  const [moving, inactive] = await Promise.all([movingRidesOf(bidders), inactiveAmong(bidders)]);
  return new Set([...moving.keys(), ...inactive]);
}

const isOf = ({ driver, withdrawnAt }: Offer, drivers: ReadonlySet<string>): boolean =>
  !withdrawnAt && drivers.has(driver.driverId);

/** Follows a change of who drives the ride; again where the ride has changed meanwhile. */
async function settleDriverOf(ctx: Context, rideId: string): Promise<JobResult> {
  for (;;) {
    const read = await readRide({ rideId, owner: 'anyone' });
    const timer = read?.ride.timers.find(({ name }) => name === 'driver');
    if (timer && read?.ride.driver) await settleDriver(ctx, read.ride.driver.driverId);
    const fired = await fireTimer(ctx, rideId, 'driver', () => null, { dueAt: timer?.dueAt ?? null });
    if (!timer || fired.result !== 'stale') return timerOutcome(fired);
  }
}
