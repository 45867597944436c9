import mongoose from 'mongoose';
import { collection, recordSchema } from '../base/mongo/collection.ts';
import { movingStatuses, type Ride } from './ride-types.ts';
import { endedStatuses } from './transitions.ts';

/** Only this folder, the webhook workers, the erasure and the count of ratings write rides. */
const rideSchema = recordSchema();
// The index is partial, because erased rides have no token.
rideSchema.index(
  { trackToken: 1 },
  { name: 'trackToken_if_any', unique: true, partialFilterExpression: { trackToken: { $exists: true } } },
);
rideSchema.index(
  { keyId: 1, 'idempotency.key': 1 },
  { unique: true, partialFilterExpression: { 'idempotency.key': { $exists: true } } },
);
// Finds the Idempotency-Keys that have expired (workers/periodic/retention).
rideSchema.index(
  { 'idempotency.expiresAt': 1 },
  { partialFilterExpression: { 'idempotency.expiresAt': { $exists: true } } },
);
// Orders the rides in the dashboard's lists, newest first: an id begins with the time of creation (list-rides.ts).
rideSchema.index({ accountId: 1, mode: 1, status: 1, _id: -1 });
/** Orders a key's rides of each status, newest first. */
export const statusIndex = { keyId: 1, status: 1, _id: -1 } as const;
rideSchema.index(statusIndex);
/** Orders a partner's rides with one reference, newest first. */
export const referenceIndex = { keyId: 1, reference: 1, status: 1, _id: -1 } as const;
rideSchema.index(referenceIndex, { partialFilterExpression: { reference: { $exists: true } } });
/** The dashboard's search, newest first (search-rides.ts). Partial, because a ride without texts has no terms. */
export const searchIndex = { accountId: 1, searchTerms: 1, _id: -1 } as const;
rideSchema.index(searchIndex, { partialFilterExpression: { searchTerms: { $exists: true } } });
// The sweeper walks these two indexes, oldest first. They are partial, so they contain only rides with pending work.
rideSchema.index({ unsettledSince: 1, _id: 1 }, { partialFilterExpression: { unsettled: { $gt: 0 } } });
rideSchema.index({ nextDueAt: 1, _id: 1 }, { partialFilterExpression: { nextDueAt: { $exists: true } } });
/** The rides for later that have not opened. */
export const waitingToOpen = { 'timers.name': 'open' } as const;
// The opener walks this index, earliest opening first.
rideSchema.index({ biddingOpensAt: 1, _id: 1 }, { partialFilterExpression: waitingToOpen });
/**
 * A ride that was under way in a restored backup is held until an operator releases it, because its partner and driver
 * may have continued it after the backup (held-rides.ts). Its timers and due time are set aside in `held`, and
 * `unsettled` is negative, so the sweeper and the retention do not find it. `changeRide` refuses to change it.
 */
export const heldRides = { heldAt: { $exists: true } } as const;
export const heldIndex = { heldAt: 1, _id: 1 } as const;
rideSchema.index(heldIndex, { partialFilterExpression: heldRides });
/** The rides for later that are open or will open. */
export const plannedRides = { status: 'bidding', biddingOpensAt: { $exists: true } } as const;
/** Lists a key's rides for later by their opening, for the desk's board (board-rides.ts). */
export const plannedIndex = { keyId: 1, biddingOpensAt: 1 } as const;
rideSchema.index(plannedIndex, { partialFilterExpression: plannedRides });
/** The rides that can be erased: they have ended, their events are settled, and they are not erased yet. */
export const erasable = {
  status: { $in: endedStatuses },
  unsettled: 0,
  trackToken: { $exists: true },
};
// The retention walks this index, earliest end first (workers/periodic/retention).
rideSchema.index({ statusAt: 1, _id: 1 }, { partialFilterExpression: erasable });
// For "Resend failed events". Contains only rides with an undelivered event.
rideSchema.index({ keyId: 1, undeliveredAt: 1 }, { partialFilterExpression: { undeliveredAt: { $exists: true } } });

/** The event feed of a key (event-feed.ts): an entry for each event, in order. Only rides with an event are in it. */
export const feedIndex = { keyId: 1, 'events.at': 1, _id: 1 } as const;
rideSchema.index(feedIndex, { partialFilterExpression: { seq: { $gt: 0 } } });

/** Counts a key's creations by time, without reading rides (shared/usage). A ride with `replaces` is no creation. */
export const createdIndex = { keyId: 1, createdAt: 1, replaces: 1 } as const;
/** In a `$group` stage: counts the creations. */
export const countCreations = { $sum: { $cond: [{ $gt: ['$replaces', null] }, 0, 1] } } as const;
rideSchema.index(createdIndex);

/** The trips that an account pays for (contract, section 1). */
export const completedTrips = { mode: 'live', status: 'completed' } as const;
/** Lists and sums these trips by their end, without reading a ride (shared/usage). Has only ended rides. */
export const tripIndex = {
  accountId: 1,
  mode: 1,
  status: 1,
  statusAt: 1,
  _id: 1,
  keyId: 1,
  agreedPrice: 1,
} as const;
rideSchema.index(tripIndex, { partialFilterExpression: completedTrips });

/** Finds a driver's completed trips by their end (driver/driver-rides.ts). */
export const driverTripIndex = { 'driver.driverId': 1, statusAt: -1 } as const;
rideSchema.index(driverTripIndex, { partialFilterExpression: completedTrips });

/** Finds a driver's last ratings, without reading any ride (workers/periodic/driver-ratings.ts). */
export const ratingIndex = { 'driver.driverId': 1, mode: 1, 'rating.at': -1, 'rating.stars': 1 } as const;
rideSchema.index(ratingIndex, { partialFilterExpression: { mode: 'live', 'rating.at': { $exists: true } } });
// Contains only rides whose ratings are not counted yet.
rideSchema.index({ ratingOwed: 1, 'driver.driverId': 1 }, { partialFilterExpression: { ratingOwed: true } });

/** The rides that a partner lost: they were cancelled, but not by the partner. */
export const lostRides = { status: 'cancelled', cancelledBy: { $in: ['driver', 'timeout'] } } as const;
/** Lists a key's lost rides by their end, for the desk's board (board-rides.ts). A ride enters the index when it ends. */
export const lostIndex = { keyId: 1, statusAt: -1 } as const;
rideSchema.index(lostIndex, { partialFilterExpression: lostRides });

// Gives a driver at most one moving ride: of two accepts, the second fails. Test rides are excluded, because they share
// their simulated drivers.
rideSchema.index(
  { 'driver.driverId': 1 },
  { unique: true, partialFilterExpression: { mode: 'live', status: { $in: movingStatuses } } },
);
// Finds the live rides that are open to a driver.
rideSchema.index(
  { 'asked.driverId': 1 },
  { partialFilterExpression: { mode: 'live', status: 'bidding', 'asked.driverId': { $exists: true } } },
);

/** The live rides that wait for offers. */
export const openRides = { mode: 'live', status: 'bidding' } as const;
/** Finds the open rides around a driver who has become available (workers/periodic/free-drivers.ts). */
export const pickupIndex = { pickupCells: 1 } as const;
rideSchema.index(pickupIndex, { partialFilterExpression: { ...openRides, pickupCells: { $exists: true } } });

export const RideModel = mongoose.model('Ride', rideSchema);

/** The driver's collection: building a mongoose document would cost more than the rest of a creation. */
export const rides = collection<Ride>(RideModel);
