import type { Config } from '../shared/base/config.ts';
import type { Context } from '../shared/base/context.ts';
import { dispatchRounds, driversAsked } from '../shared/base/metrics.ts';
import type { PoolName, TimerJob } from '../shared/base/queues.ts';
import { cellsAtEdge } from '../shared/drivers/cells.ts';
import { markFree, markRoom, noteEdge, noteFull } from '../shared/drivers/change-availability.ts';
import { inactiveAmong } from '../shared/drivers/driver.ts';
import { findNearby, maxRequests, type RequestList, writeRequestLists } from '../shared/drivers/nearby.ts';
import type { Change } from '../shared/rides/decide.ts';
import { movingRidesOf, openRidesOf } from '../shared/rides/driver/driver-rides.ts';
import { settleDriver } from '../shared/rides/driver/settle-driver.ts';
import { fireTimer } from '../shared/rides/fire-timer.ts';
import { wantsOffers } from '../shared/rides/offers.ts';
import { biddingSince, waitsToOpen } from '../shared/rides/opening.ts';
import { readRide } from '../shared/rides/read-ride.ts';
import type { AskedDriver, Offer, Ride, RideState, Timer } from '../shared/rides/ride-types.ts';
import { type Handler, type JobResult, timerOutcome, withLogLine } from './handler.ts';

/**
 * Handles the jobs of the queue `dispatch`: runs the dispatch rounds of a live ride, opens it to more drivers when it
 * wants offers again, and runs `settleDriver` after a driver was assigned or freed.
 */
export const dispatchRide: Handler<TimerJob> = (ctx, { rideId, timer }, { pool }) => {
  if (timer === 'dispatch') return runRound(ctx, rideId, pool);
  return timer === 'ask' ? askAgain(ctx, rideId) : settleDriverOf(ctx, rideId);
};

/** A round opens the ride to at most this many drivers. */
export const roundSize = 20;
/** The most drivers that a round examines, for areas where most drivers have no room for another request. */
const maxExamined = 120;
type Rounds = Config['dispatch'];

/**
 * Runs one dispatch round. Opens the ride to the nearest available drivers who do not have it yet, unless it has enough
 * offers. Sets the timer of the next round. The ride is changed in a single write at the end, so an interrupted round
 * runs again from its start.
 */
async function runRound(ctx: Context, rideId: string, pool: PoolName): Promise<JobResult> {
  const startedAt = performance.now();
  const read = await readRide({ rideId, owner: 'anyone' });
  const timer = read?.ride.timers.find(({ name }) => name === 'dispatch');
  const remainingMs = read && timer ? timer.dueAt.getTime() - read.now.getTime() : 0;
  // Ends here if the timer is early. Otherwise the timer may become due before `fireTimer` below reads it, and a round
  // that opened the ride to no driver would be counted.
  if (remainingMs > 0) return timerOutcome({ result: 'early', remainingMs });
  const gone = read && timer ? await unavailableBidders(read) : noDrivers;
  const without = (offers: readonly Offer[], now: Date) =>
    offers.map((offer) => (isLiveOfferBy(offer, gone) ? { ...offer, withdrawnAt: now } : offer));
  const radiusKm = read ? radiusKmOf(ctx.config.dispatch, read.ride, read.ride.rounds ?? 0) : 0;
  // Before the search: a driver next to the radius may enter it during the search, without leaving the cell.
  if (read && timer) await noteEdge(cellsAtEdge(read.ride.pickup, radiusKm));
  const opened =
    read && timer
      ? await openToDrivers({ ...read, ride: { ...read.ride, offers: without(read.ride.offers, read.now) } }, radiusKm)
      : [];
  const effectOf = (ride: RideState, now: Date): Change => {
    const rounds = (ride.rounds ?? 0) + 1;
    const others = ride.timers.filter(({ name }) => name !== 'dispatch');
    const timers = [...others, ...roundTimer(ctx.config.dispatch, ride, rounds, now)];
    const offers = gone.size > 0 && { offers: without(ride.offers, now) };
    return { set: { rounds, timers, asked: withAsked(ride, opened), ...offers } };
  };
  const fired = await fireTimer(ctx, rideId, 'dispatch', effectOf, { dueAt: timer?.dueAt ?? null });
  if (fired.result !== 'done') return timerOutcome(fired);
  dispatchRounds.inc();
  driversAsked.inc(opened.length);
  // Lets this same job run again for the next round. BullMQ would drop a new job with the same dedupe id while this one
  // is active.
  const { requestId, keyId, dueAgainAt } = fired;
  const again = dueAgainAt && { againInMs: Math.max(0, dueAgainAt.getTime() - ctx.now()), why: 'next round' };
  const durationMs = Math.round(performance.now() - startedAt);
  const fields = { requestId, rideId, keyId, pool, asked: opened.length, outcome: fired.result, durationMs };
  return withLogLine(ctx.log, again ?? fired, fields, 'dispatch round');
}

/**
 * Opens a ride that wants offers again to the nearest drivers who do not have it, within its present radius. The next
 * round keeps its number and its time. Repeats this if the timer was set again in the meantime.
 */
async function askAgain(ctx: Context, rideId: string): Promise<JobResult> {
  for (;;) {
    const read = await readRide({ rideId, owner: 'anyone' });
    const timer = read?.ride.timers.find(({ name }) => name === 'ask');
    const opened = read && timer ? await openToDrivers(read, presentRadiusKm(ctx.config.dispatch, read.ride)) : [];
    const effectOf = (ride: RideState): Change => ({ set: { asked: withAsked(ride, opened) } });
    const fired = await fireTimer(ctx, rideId, 'ask', effectOf, { dueAt: timer?.dueAt ?? null });
    if (fired.result === 'done') driversAsked.inc(opened.length);
    if (!timer || fired.result !== 'stale') return timerOutcome(fired);
  }
}

/** The radius within which a ride is open to drivers at present: that of its last round. */
export const presentRadiusKm = (rounds: Rounds, ride: Pick<Ride, 'rideType' | 'rounds'>): number =>
  radiusKmOf(rounds, ride, Math.max(0, (ride.rounds ?? 0) - 1));

/** True if a ride accepts offers. */
export const isOpen = ({ status, biddingEndsAt }: RideState, now: Date): boolean =>
  status === 'bidding' && now < biddingEndsAt;

/** All drivers to whom the ride was opened. Two concurrent runs may have opened it to the same driver. */
export function withAsked({ asked = [] }: RideState, opened: readonly AskedDriver[]): AskedDriver[] {
  const known = new Set(asked.map(({ driverId }) => driverId));
  return [...asked, ...opened.filter(({ driverId }) => !known.has(driverId))];
}

/** The timer of round number `round` (from 0), or an empty list if the bidding time ends before it. */
function roundTimer(
  { rounds, repeatMs }: Rounds,
  ride: Pick<RideState, 'createdAt' | 'openedAt' | 'biddingEndsAt'>,
  round: number,
  now: Date,
): Timer[] {
  const planned = rounds[round];
  const dueAt = new Date(planned ? biddingSince(ride).getTime() + planned.afterMs : now.getTime() + repeatMs);
  return dueAt < ride.biddingEndsAt ? [{ name: 'dispatch', dueAt }] : [];
}

/** The search radius around the pickup. An intercity ride uses the last (largest) radius in every round. */
export function radiusKmOf({ rounds }: Rounds, { rideType }: Pick<RideState, 'rideType'>, round: number): number {
  const last = rounds[rounds.length - 1]?.radiusKm ?? 0;
  return rideType === 'intercity' ? last : (rounds[round]?.radiusKm ?? last);
}

const noDrivers: ReadonlySet<string> = new Set();

type RideSnapshot = { ride: RideState; now: Date };

/**
 * Adds the ride to the requests of the nearest drivers with room for one more. Resolves with those drivers.
 */
async function openToDrivers({ ride, now }: RideSnapshot, radiusKm: number): Promise<AskedDriver[]> {
  const opened: AskedDriver[] = [];
  if (!isOpen(ride, now) || !wantsOffers(ride) || waitsToOpen(ride)) return opened;
  const passed = [...(ride.asked ?? []).map(({ driverId }) => driverId), ...(ride.excludedDrivers ?? [])];
  const lastToPass = passed.length + maxExamined;
  while (opened.length < roundSize && passed.length < lastToPass) {
    const limit = 2 * roundSize;
    const found = await findNearby(ride, { radiusKm, passed, limit, now });
    const lists = await freeLists(found, now);
    const open = lists.map((list) => ({ ...list, open: list.open.filter((request) => request !== ride._id) }));
    const full = open.filter(isFull);
    if (full.length > 0) await passOver(full, now);
    const wanted = open.filter((list) => !isFull(list)).slice(0, roundSize - opened.length);
    const taken = await writeRequestLists(
      wanted.map((list) => ({ ...list, open: [...list.open, ride._id] })),
      now,
    );
    // Their lists have changed since they were read: another ride was opened to them at the same time, for example.
    const changed = wanted.filter(({ driverId }) => !taken.has(driverId));
    if (changed.length > 0) await markFree(changed.map(({ driverId }) => driverId));
    opened.push(...found.flatMap(({ driverId, pickupKm }) => (taken.has(driverId) ? { driverId, pickupKm } : [])));
    passed.push(...found.map(({ driverId }) => driverId));
    if (found.length < limit) break;
  }
  return opened;
}

/** The open requests of these drivers, without the drivers who are on a ride. */
export async function freeLists(
  found: readonly { driverId: string; requests: readonly string[] }[],
  now: Date,
): Promise<RequestList[]> {
  const [moving, open] = await Promise.all([
    movingRidesOf(found.map(({ driverId }) => driverId)),
    openRidesOf([...new Set(found.flatMap(({ requests }) => requests))], now),
  ]);
  return found
    .filter(({ driverId }) => !moving.has(driverId))
    .map(({ driverId, requests }) => ({ driverId, requests, open: requests.filter((request) => open.has(request)) }));
}

export const isFull = ({ open }: Pick<RequestList, 'open'>): boolean => open.length >= maxRequests;

/** Notes the drivers who have no room. Marks those as free again whose requests have ended in the meantime. */
export async function passOver(full: readonly RequestList[], now: Date): Promise<void> {
  await noteFull(full);
  const open = await openRidesOf([...new Set(full.flatMap((driver) => driver.open))], now);
  const hasRoom = (driver: RequestList) => !isFull({ open: driver.open.filter((rideId) => open.has(rideId)) });
  const others = full.filter(hasRoom).map(({ driverId }) => driverId);
  if (others.length > 0) await markRoom(others);
}

/** The drivers with a live offer who are on another ride or no longer active. The round withdraws their offers. */
async function unavailableBidders({ ride }: RideSnapshot): Promise<ReadonlySet<string>> {
  const bidders = ride.offers.flatMap(({ driver, withdrawnAt }) => (withdrawnAt ? [] : driver.driverId));
  const [moving, inactive] = await Promise.all([movingRidesOf(bidders), inactiveAmong(bidders)]);
  return new Set([...moving.keys(), ...inactive]);
}

const isLiveOfferBy = ({ driver, withdrawnAt }: Offer, drivers: ReadonlySet<string>): boolean =>
  !withdrawnAt && drivers.has(driver.driverId);

const settle = async (ctx: Context, { driver }: RideState): Promise<void> => {
  if (driver) await settleDriver(ctx, driver.driverId);
};

const askedBy = ({ asked = [] }: RideState): string[] => asked.map(({ driverId }) => driverId);

/**
 * Runs `settleDriver` for the ride's driver and makes room in the requests of the drivers who were asked. Repeats both if
 * the timer was set again in the meantime.
 */
async function settleDriverOf(ctx: Context, rideId: string): Promise<JobResult> {
  for (;;) {
    const read = await readRide({ rideId, owner: 'anyone' });
    const timer = read?.ride.timers.find(({ name }) => name === 'driver');
    if (timer && read) await Promise.all([settle(ctx, read.ride), markRoom(askedBy(read.ride))]);
    const fired = await fireTimer(ctx, rideId, 'driver', () => null, { dueAt: timer?.dueAt ?? null });
    if (!timer || fired.result !== 'stale') return timerOutcome(fired);
  }
}
