import { pause } from '../../shared/base/abort-signal.ts';
import type { Context } from '../../shared/base/context.ts';
import { driversAsked } from '../../shared/base/metrics.ts';
import { type Update, updateDocuments } from '../../shared/base/mongo/batch.ts';
import { findAll } from '../../shared/base/mongo/collection.ts';
import { timeLimit } from '../../shared/base/mongo/durability.ts';
import { type RequestList, writeRequestLists } from '../../shared/drivers/nearby.ts';
import {
  type DriverPosition,
  freeDrivers,
  maxReportAgeMs,
  notJournaled,
  positions,
} from '../../shared/drivers/positions.ts';
import { changeRide } from '../../shared/rides/change-ride.ts';
import type { AskedDriver } from '../../shared/rides/ride-types.ts';
import { freeLists, isFull, isOpen, passOver, roundSize, withAsked } from '../dispatch.ts';
import { acquireLease } from './lease.ts';
import { type FreeDriver, findPairs, freeFields, isJustOpened, type Pair } from './match-free-drivers.ts';
import { logFailedPart, startLoop } from './turns.ts';

/** The pause between two turns of the process that has the lease. */
const intervalMs = 75;
/** The lease ends this long after its process has died, and another process then acquires it within `askMs`. */
const leaseMs = 1_000;
const askMs = 500;
/**
 * While Redis does not answer, every process takes turns, with this pause between them. With the time limit of a command
 * (1 s), a driver waits about 2 s.
 */
const withoutRedisMs = 800;
/** One turn serves at most this many drivers. */
const maxDrivers = 300;
/**
 * Opens the rides around drivers who become available to them at once, instead of with the next dispatch round, until it
 * is stopped. Every worker process does this; a lease lets one of them do it at a time. The mark of a driver is stored
 * with the change that makes the driver available, and is removed only afterwards, so nothing is lost by a crash. Two
 * processes that do this at the same time cause no harm, because all writes are conditional.
 */
export function startFreeDrivers(ctx: Context): { stop(): Promise<void> } {
  const loop = { failure: 'opening rides to free drivers failed', pauseMs: askMs };
  // In every second turn the newest go first: otherwise many who must wait for a round would hold up those behind them.
  let first: First = 'newest';
  const serve = () => {
    first = first === 'oldest' ? 'newest' : 'oldest';
    return serveFreeDrivers(ctx, undefined, first);
  };
  const options = { key: '{rides:free-drivers}:lease', leaseMs };
  return startLoop(ctx.log, loop, async (signal) => {
    const lease = await acquireLease(ctx.redis, options).catch(() => 'unknown' as const);
    if (lease === 'unknown') {
      await serve();
      return withoutRedisMs;
    }
    if (!lease) return askMs;
    const isKept = () => lease.keep().catch(() => false);
    try {
      while (!signal.aborted && (await isKept())) {
        await serve();
        await pause(intervalMs, signal);
      }
    } finally {
      await lease.rest(1).catch(() => {});
    }
    return askMs;
  });
}

/** The drivers whom a turn serves first, if it cannot serve all. */
type First = 'oldest' | 'newest';

/**
 * Opens the rides around the drivers who have become available to them. May run twice or late: a ride is opened to a
 * driver once. `now` is MongoDB's time. Resolves with the number of drivers who were served; the others keep their
 * marks for a later turn.
 */
export async function serveFreeDrivers(
  ctx: Context,
  now = new Date(ctx.now()),
  first: First = 'oldest',
): Promise<number> {
  const marked = await findAll<DriverPosition, FreeDriver>(positions, freeDrivers, {
    ...timeLimit(),
    projection: freeFields,
    limit: maxDrivers,
    sort: { freeSince: first === 'oldest' ? 1 : -1 },
  });
  if (marked.length === 0) return 0;
  const isSilent = ({ seenAt }: FreeDriver) => Math.abs(now.getTime() - seenAt.getTime()) > maxReportAgeMs;
  const full = await fullAmong(marked, now);
  const available = marked.filter((driver) => driver.available && !isSilent(driver) && !full.has(driver._id));
  const { pairs, atEdge, later } = await findPairs(ctx, available, now);
  for (const driverId of await openAll(ctx, pairs, available, now)) later.add(driverId);
  const served = marked.filter(({ _id }) => !later.has(_id));
  await unmark(served, atEdge);
  return served.length;
}

/** Those of the drivers noted as full who still are. They are marked again as soon as they have room. */
async function fullAmong(drivers: readonly FreeDriver[], now: Date): Promise<ReadonlySet<string>> {
  const noted = drivers.filter((driver) => driver.isFull).map(({ _id, requests }) => ({ driverId: _id, requests }));
  const lists = noted.length > 0 ? await freeLists(noted, now) : [];
  return new Set(lists.filter(isFull).map(({ driverId }) => driverId));
}

/**
 * Opens the rides to the drivers, the shortest way to a pickup first: each ride to at most as many drivers as a round
 * does, and each driver's requests to at most five. Each driver and each ride is written once. Resolves with the drivers
 * who must be served again.
 */
async function openAll(
  ctx: Context,
  pairs: readonly Pair[],
  drivers: readonly FreeDriver[],
  now: Date,
): Promise<string[]> {
  if (pairs.length === 0) return [];
  const offered = new Set(pairs.map(({ driverId }) => driverId));
  const asRead = drivers
    .filter(({ _id }) => offered.has(_id))
    .map(({ _id, requests }) => ({ driverId: _id, requests }));
  const lists = new Map((await freeLists(asRead, now)).map((list) => [list.driverId, list]));
  // An interrupted turn has added the ride to the driver's list, but not the driver to the ride.
  for (const { ride, driverId } of pairs) {
    const list = lists.get(driverId);
    if (list) lists.set(driverId, { ...list, open: list.open.filter((rideId) => rideId !== ride._id) });
  }
  const asked = new Map<string, AskedDriver[]>();
  const full = new Map<string, RequestList>();
  for (const { ride, driverId, km } of [...pairs].sort((a, b) => a.km - b.km)) {
    const list = lists.get(driverId);
    const others = asked.get(ride._id) ?? [];
    if (!list || others.length >= roundSize) continue;
    if (isFull(list)) full.set(driverId, list);
    else {
      lists.set(driverId, { ...list, open: [...list.open, ride._id] });
      asked.set(ride._id, [...others, { driverId, pickupKm: Math.round(km * 100) / 100 }]);
    }
  }
  const gets = new Set([...asked.values()].flat().map(({ driverId }) => driverId));
  const taken = await writeRequestLists(
    [...lists.values()].filter(({ driverId }) => gets.has(driverId)),
    now,
  );
  const opened = await Promise.all(
    [...asked].map(async ([rideId, planned]) => {
      const added = planned.filter(({ driverId }) => taken.has(driverId));
      return added.length === 0 || (await open(ctx, rideId, added, now)) ? [] : added;
    }),
  );
  // Drivers who are already noted are marked again as soon as they have room.
  const isNoted = new Set(drivers.filter((driver) => driver.isFull).map(({ _id }) => _id));
  const unnoted = [...full.values()].filter(({ driverId }) => !isNoted.has(driverId));
  if (unnoted.length > 0) await passOver(unnoted, now);
  const changed = [...gets].filter((driverId) => !taken.has(driverId));
  return [...changed, ...opened.flat().map(({ driverId }) => driverId)];
}

/** Resolves with false if a later turn must open the ride to these drivers. */
async function open(ctx: Context, rideId: string, added: readonly AskedDriver[], turnAt: Date): Promise<boolean> {
  try {
    const changed = await changeRide(ctx, { rideId, owner: 'anyone' }, (ride, _at, now) => {
      if (!isOpen(ride, now)) return { change: null, result: true };
      if (isJustOpened(ride, turnAt)) return { change: 'not yet', result: false };
      return { change: { set: { asked: withAsked(ride, added), openedToFreeAt: turnAt } }, result: true };
    });
    if (changed?.result) driversAsked.inc(added.length);
    return changed?.result ?? true;
  } catch (error) {
    logFailedPart(ctx.log, 'a ride could not be opened to free drivers', { rideId }, error);
    return false;
  }
}

/**
 * Removes the marks, unless a driver has become available again in the meantime, or has moved at the edge of a radius.
 * Only the driver's next report removes `atEdge`: a round may have noted it since the rides were read.
 */
async function unmark(served: readonly FreeDriver[], atEdge: ReadonlySet<string>): Promise<void> {
  const updates = served.map(({ _id, freeSince, lat, lng }): Update<DriverPosition> => {
    const isAtEdge = atEdge.has(_id);
    return {
      filter: { _id, freeSince, ...(isAtEdge && { lat, lng }) },
      change: { ...(isAtEdge && { $set: { atEdge: true } }), $unset: { freeSince: '', freeFrom: '' } },
    };
  });
  if (updates.length > 0) await updateDocuments(positions, updates, notJournaled);
}
