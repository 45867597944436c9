import { type Update, updateDocuments } from '../base/mongo/batch.ts';
import { type DriverPosition, heardLately, notJournaled, positions } from './positions.ts';

/** The most open requests that a driver has. */
export const maxRequests = 5;

/** A free slot in a driver's list of requests. */
export interface RequestSlot {
  driverId: string;
  /** The list as it was read. */
  requests: readonly string[];
  /** Those of them that are still open for offers, fewer than five. */
  open: readonly string[];
}

/**
 * Adds a ride to the lists of drivers who are available at this moment and whose list is as it was read. Resolves with
 * the drivers whose list now has the ride. So no driver gets a sixth open request, however many rounds run at once.
 */
export async function takeSlots(rideId: string, slots: readonly RequestSlot[], now: Date): Promise<Set<string>> {
  if (slots.length === 0) return new Set();
  const updates = slots.map(
    ({ driverId, requests, open }): Update<DriverPosition> => ({
      filter: {
        _id: driverId,
        available: true,
        seenAt: heardLately(now),
        requests: { $eq: [...requests] },
      },
      change: { $set: { requests: [...open, rideId] } },
    }),
  );
  const outcomes = await updateDocuments(positions, updates, notJournaled);
  return new Set(slots.filter((_, index) => outcomes[index] === true).map(({ driverId }) => driverId));
}
