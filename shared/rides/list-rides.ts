import type mongoose from 'mongoose';
import { firstRideId } from '../base/ids.ts';
import { findAll, findAmong } from '../base/mongo/collection.ts';
import { committedReads } from '../base/mongo/durability.ts';
import type { Mode } from '../base/terms.ts';
import { keys } from '../keys/api-key.ts';
import { fieldsIn, projectionOf } from './fields.ts';
import { referenceIndex, rides, statusIndex } from './ride.ts';
import { type Ride, type RideStatus, rideStatuses } from './ride-types.ts';

/** The account for which rides are read. A ride of another account counts as unknown. */
export interface RidesOwner {
  accountId: string;
}

export interface RideFilter {
  /** A key of the account. The key determines the mode, so `mode` is ignored. */
  keyId?: string;
  mode?: Mode;
  status?: RideStatus | readonly RideStatus[];
  /** Created at this time or later (a number is Unix ms). */
  from?: Date | number;
  /** Created before this time. */
  to?: Date | number;
  /** The id of the last ride of the previous page. */
  after?: string;
}

/** The MongoDB projection of `ListedRide`. */
export const listedFields = {
  keyId: 1,
  mode: 1,
  status: 1,
  statusAt: 1,
  fare: 1,
  agreedPrice: 1,
  createdAt: 1,
  biddingEndsAt: 1,
  cancelledBy: 1,
  replacedBy: 1,
  biddingOpensAt: 1,
  openedAt: 1,
  erasedAt: 1,
  ...projectionOf(fieldsIn('lists')),
  pickup: 1,
  destination: 1,
  // A missing field sorts before null.
  liveOffers: { $size: { $filter: { input: '$offers', cond: { $lte: ['$$this.withdrawnAt', null] } } } },
  missed: {
    $map: {
      input: {
        $filter: {
          input: '$events',
          cond: { $in: ['$$this.delivery.outcome', ['failed', 'timeout', 'blocked']] },
        },
      },
      in: '$$this.seq',
    },
  },
} as const;

/**
 * A ride in a list. `liveOffers` is the number of its offers that are not withdrawn. `missed` has the numbers of its
 * events that have a URL and did not arrive with their first attempt (`withoutResent` drops those that a resend
 * delivered).
 */
export type ListedRide = Pick<Ride, '_id' | Exclude<keyof typeof listedFields, 'liveOffers' | 'missed'>> & {
  liveOffers: number;
  missed: number[];
};

/**
 * A page of an account's rides, newest first; `hasOlder` is true if more follow. New rides do not shift later pages.
 * Reads about as many index entries as the page has rides, for any filter.
 */
export function listRides(
  filter: RideFilter,
  limit: number,
  { accountId }: RidesOwner,
): Promise<{ rides: ListedRide[]; hasOlder: boolean }> {
  const { keyId, mode } = filter;
  const modes = { $in: mode ? [mode] : (['live', 'test'] satisfies Mode[]) };
  return readNewest(
    {
      accountId,
      ...(keyId === undefined ? { mode: modes } : { keyId }),
      status: oneOfStatuses(filter),
      ...idsWithin(filter),
    },
    {
      projection: listedFields,
      hint: keyId === undefined ? { accountId: 1, mode: 1, status: 1, _id: -1 } : statusIndex,
      limit,
    },
  );
}

/**
 * The newest `limit` rides of a filter, which lists all statuses and modes: so MongoDB merges one ordered scan of the
 * index for each of them instead of sorting all rides.
 */
async function readNewest<Listed extends Pick<Ride, '_id'>>(
  filter: mongoose.mongo.Filter<Ride>,
  { limit, ...options }: { projection: object; hint: Record<string, 1 | -1>; limit: number },
): Promise<{ rides: Listed[]; hasOlder: boolean }> {
  const size = { sort: { _id: -1 }, limit: limit + 1 } as const;
  const found = await findAll<Ride, Listed>(rides, filter, { ...committedReads(), ...options, ...size });
  return { rides: found.slice(0, limit), hasOlder: found.length > limit };
}

/** One of these statuses; without any, one of all. */
export const oneOfStatuses = ({ status = rideStatuses }: Pick<RideFilter, 'status'>): { $in: RideStatus[] } => ({
  $in: typeof status === 'string' ? [status] : [...status],
});

/** The condition on the ids, which begin with the times of creation, of the rides within the filter's times. */
export function idsWithin({ from, to, after }: RideFilter): mongoose.mongo.Filter<Ride> {
  const ends = [to !== undefined && firstRideId(Number(to)), after].filter((id) => typeof id === 'string').sort();
  const _id = {
    ...(from !== undefined && { $gte: firstRideId(Number(from)) }),
    ...(ends[0] !== undefined && { $lt: ends[0] }),
  };
  return Object.keys(_id).length > 0 ? { _id } : {};
}

/**
 * A page of a key's rides, newest first; `hasOlder` is true if more follow. Reads about as many index entries as the
 * page has rides, for any filter.
 *
 * The order is by id, which never changes. So the pages of one list show each ride at most once, and include every ride
 * that was acknowledged before the first page was read. A ride whose insert is in flight at that time may be missing,
 * because its id is older than its insert.
 */
export function listKeyRides<Listed extends Pick<Ride, '_id'>>(
  keyId: string,
  { reference, ...filter }: Omit<RideFilter, 'keyId' | 'mode'> & { reference?: string },
  page: { limit: number; projection: object },
): Promise<{ rides: Listed[]; hasOlder: boolean }> {
  const named = reference !== undefined && { reference };
  const hint = named ? referenceIndex : statusIndex;
  return readNewest({ keyId, ...named, status: oneOfStatuses(filter), ...idsWithin(filter) }, { ...page, hint });
}

/** A complete ride with its events and the name of its key, in one read; null if the account has no such ride. */
export async function rideWithKey(
  rideId: string,
  { accountId }: RidesOwner,
): Promise<{ ride: Ride; apiKey?: { name: string; webhookUrl?: string } } | null> {
  const itsKey = { from: keys.collectionName, localField: 'keyId', foreignField: '_id', as: 'keys' };
  const [found] = await rides
    .aggregate<Ride & { keys: { name: string; webhookUrl?: string }[] }>(
      [
        { $match: { _id: rideId, accountId } },
        { $lookup: { ...itsKey, pipeline: [{ $project: { name: 1, webhookUrl: 1 } }] } },
      ],
      committedReads(),
    )
    .toArray();
  if (!found) return null;
  const { keys: itsKeys, ...ride } = found;
  return { ride, apiKey: itsKeys[0] };
}

/** A complete ride with its events; null if the account has no such ride. */
export async function rideOf(rideId: string, { accountId }: RidesOwner): Promise<Ride | null> {
  return rides.findOne({ _id: rideId, accountId }, committedReads());
}

/** What people call a ride. */
export type RideName = Pick<Ride, 'passenger' | 'reference'>;

/** The names of an account's rides by ride id, in one query, which reads each ride by its id. */
export async function rideNames(rideIds: readonly string[], { accountId }: RidesOwner): Promise<Map<string, RideName>> {
  const fields = { passenger: 1, reference: 1 };
  const found = await findAmong(rides, rideIds, fields, { accountId }, committedReads());
  return new Map(found.map(({ _id, ...name }) => [_id, name]));
}
