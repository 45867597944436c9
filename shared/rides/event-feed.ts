import mongoose from 'mongoose';
import { timeLimit } from '../mongo/durability.ts';
import { durableRead } from '../mongo/fence.ts';
import { feedIndex, rides } from './ride.ts';
import type { Ride, RideEvent } from './ride-types.ts';

/**
 * The events of all rides of a key, in one order: by position, then by ride. A position is the event's time; it is later
 * where MongoDB's clock was set back. Within a ride positions strictly increase, so two events never have the same place. A
 * reader that continues after the last place that it was shown misses nothing, whatever MongoDB's clock does, because no
 * event appears later at a place that was passed:
 *
 * - positions are shown 3 s after a mark that is at least as high was stored (feed-mark.ts, showing-marks.ts);
 * - an event gets a position above a copy of the mark that is at most 1 s old, and leaves its process within 1.5 s after
 *   the copy was asked for. MongoDB writes it within a second, and only while its clock is at most 2 s past the one that the
 *   event was decided by, and not behind it (event-position.ts);
 * - a page is shown only once a later write is durable (fence.ts).
 *
 * An event that the version before this one writes has its time as its position.
 */
export interface Place {
  /** The position (Unix ms). */
  at: number;
  rideId: string;
}

export interface FeedEvent {
  rideId: string;
  event: RideEvent;
}

export const placeOf = ({ rideId, event }: FeedEvent): Place => ({ at: event.at.getTime(), rideId });

/** Below 0 when `one` comes first. */
const compare = (one: Place, other: Place): number =>
  one.at - other.at || (one.rideId < other.rideId ? -1 : Number(one.rideId > other.rideId));

export const isAfter = (place: Place, other: Place | null): boolean => !other || compare(place, other) > 0;

export interface FeedPage {
  events: FeedEvent[];
  /** Whether further events can be read now. */
  hasMore: boolean;
  /** The position of the first event that is not shown yet, as far as it was read. */
  unshown?: number;
}

/**
 * The events of a key that follow a place (null: the first ones), in order, at most `limit`, up to the position `shownUntil`.
 * Reads about as many rides as that, however many there are. Throws NotYetCommitted while a failover may take back what it read.
 */
export function readFeed(keyId: string, after: Place | null, limit: number, shownUntil: number): Promise<FeedPage> {
  return durableRead(
    () => readPage(keyId, after, limit, shownUntil),
    ({ events }) => events.length === 0,
  );
}

async function readPage(keyId: string, after: Place | null, limit: number, shownUntil: number): Promise<FeedPage> {
  const from = after ?? { at: 0, rideId: '' };
  // The ride of `from` itself is found again, and one event more than asked for tells whether there are more.
  const most = limit + 2;
  const { MaxKey } = mongoose.mongo;
  const found = await rides
    .find<Pick<Ride, '_id' | 'events'>>(
      { keyId, seq: { $gt: 0 } },
      {
        ...timeLimit(),
        // Read in the index's own order: by the first event of each ride that is not before `from`.
        hint: feedIndex,
        min: { keyId, 'events.at': new Date(from.at), _id: from.rideId },
        max: { keyId, 'events.at': new MaxKey(), _id: new MaxKey() },
        projection: {
          events: { $filter: { input: '$events', cond: { $gte: ['$$this.at', new Date(from.at)] } } },
        },
        limit: most,
        batchSize: most + 1,
      },
    )
    .toArray();
  const firsts = found.map((ride) => placesFrom(ride, from)[0] ?? from);
  assertInOrder(firsts);
  // Rides that were not read have no event up to this place.
  const last = found.length === most ? firsts.at(-1) : undefined;
  const events = found
    .flatMap(({ _id: rideId, events }) => events.map((event) => ({ rideId, event })))
    .filter((event) => isShown(placeOf(event)))
    .sort((one, other) => compare(placeOf(one), placeOf(other)));
  const unshown = firsts.find(({ at }) => at > shownUntil)?.at;
  return { events: events.slice(0, limit), hasMore: events.length > limit, unshown };

  function isShown(place: Place): boolean {
    return isAfter(place, after) && place.at <= shownUntil && !(last && isAfter(place, last));
  }
}

const placesFrom = ({ _id: rideId, events }: Pick<Ride, '_id' | 'events'>, from: Place): Place[] =>
  events.map((event) => placeOf({ rideId, event })).filter((place) => compare(place, from) >= 0);

/** The page is complete only if MongoDB has walked the index in its order. */
function assertInOrder(places: readonly Place[]): void {
  for (const [index, place] of places.entries()) {
    const before = places[index - 1];
    if (before && isAfter(before, place)) throw new Error('the feed was not read in order');
  }
}

/**
 * The last place of the feed of each of these keys in a stretch of positions, as far as there is one. `from` and `to` are Unix
 * ms. One query; it only tells whose feed is worth reading.
 */
export async function latestPlaces(keyIds: readonly string[], from: number, to: number): Promise<Map<string, Place>> {
  const between = { $gte: new Date(from), $lte: new Date(to) };
  const found = await rides
    .aggregate<{ _id: string; last: { at: Date; rideId: string } }>(
      [
        { $match: { keyId: { $in: keyIds }, seq: { $gt: 0 }, events: { $elemMatch: { at: between } } } },
        {
          $project: {
            keyId: 1,
            at: {
              $max: { $filter: { input: '$events.at', cond: { $lte: ['$$this', between.$lte] } } },
            },
          },
        },
        { $group: { _id: '$keyId', last: { $max: { at: '$at', rideId: '$_id' } } } },
      ],
      { ...timeLimit(), hint: feedIndex, batchSize: keyIds.length + 1 },
    )
    .toArray();
  return new Map(found.map(({ _id, last }) => [_id, { at: last.at.getTime(), rideId: last.rideId }]));
}
