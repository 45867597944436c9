import { sha256 } from '../base/ids.ts';
import { batch, batchedFind, oneOf } from '../base/mongo/batch.ts';
import { committedReads, timeLimit } from '../base/mongo/durability.ts';
import { NotYetCommitted } from '../base/mongo/outage.ts';
import { type ApiKey, keys } from '../keys/api-key.ts';
import { type Caller, callerFields, toActiveCaller } from '../keys/find-caller.ts';
import { isWellFormedKey } from '../keys/key-format.ts';
import { rides } from './ride.ts';
import type { Ride } from './ride-types.ts';

/** A stage that adds the field `as`. */
export interface Lookup {
  $lookup: { as: string };
}

/** A lookup costs about 0.1 ms of MongoDB's CPU, a separate read 0.4 ms for a whole batch. */
const maxLookups = 4;

interface KeyAndRideId {
  hash: string;
  rideId: string;
}

/** The owner of a secret key, and the requested ride, or null if the caller has no such ride. */
interface CallerAndRide<ProjectedRide> {
  caller: Caller;
  ride: ProjectedRide | null;
}

/**
 * The returned function reads a key and a ride in one round trip instead of two, and batches concurrent requests. It
 * resolves with null if the key is unknown, revoked or suspended; the ride is null if it belongs to another key. The read
 * begins after the call, so a revocation applies immediately.
 *
 * The ride is in its majority-committed state, which no failover can roll back. Throws NotYetCommitted if the majority
 * does not have the ride yet.
 *
 * `lookup` adds documents of another collection to the ride, in their newest state, before the projection. It runs only
 * in small batches: it saves a round trip, but in a large batch a separate read of all these documents costs MongoDB
 * less. So the caller must read what is missing.
 */
export function findKeyAndRide<ProjectedRide extends Pick<Ride, '_id' | 'keyId'>>(
  projection: object,
  lookup?: Lookup,
): (secretKey: string, rideId: string, nowMs: number) => Promise<CallerAndRide<ProjectedRide> | null> {
  const findBoth = batch<KeyAndRideId, { key: ApiKey | null; ride: ProjectedRide | null }>(async (asked) => {
    const lookups = lookup && asked.length <= maxLookups ? [lookup] : [];
    const isAskedRide = { _id: oneOf(asked.map(({ rideId }) => rideId)) };
    const found = await keys
      .aggregate<ApiKey | ProjectedRide>(
        [
          { $match: { hash: oneOf(asked.map(({ hash }) => hash)) } },
          { $project: callerFields },
          {
            $unionWith: {
              coll: rides.collectionName,
              pipeline: [{ $match: isAskedRide }, ...lookups, { $project: projection }],
            },
          },
        ],
        // The reply contains all documents: by default MongoDB's first reply has at most 101.
        { batchSize: 2 * asked.length + 1, ...timeLimit() },
      )
      .toArray();
    const byHash = new Map<string, ApiKey>();
    const byId = new Map<string, ProjectedRide>();
    for (const document of found) {
      if ('hash' in document) byHash.set(document.hash, document);
      else byId.set(document._id, document);
    }
    return asked.map(({ hash, rideId }) => ({ key: byHash.get(hash) ?? null, ride: byId.get(rideId) ?? null }));
  });

  const findCommitted = batchedFind<Ride, ProjectedRide>(rides, '_id', projection, committedReads);

  const lookedUp = (ride: ProjectedRide): object => {
    const field = lookup?.$lookup.as as keyof ProjectedRide | undefined;
    return field ? { [field]: ride[field] } : {};
  };

  return async (secretKey, rideId, nowMs) => {
    if (!isWellFormedKey(secretKey)) return null;
    // Reads the newest state of the key, from the primary, because a majority-committed read could miss a revocation.
    const [{ key, ride }, committed] = await Promise.all([
      findBoth({ hash: sha256(secretKey), rideId }),
      committedReads().readConcern ? findCommitted(rideId) : undefined,
    ]);
    const caller = toActiveCaller(key, nowMs);
    if (!caller || ride?.keyId !== caller.keyId) return caller && { caller, ride: null };
    if (committed === null) throw new NotYetCommitted();
    return { caller, ride: committed ? { ...committed, ...lookedUp(ride) } : ride };
  };
}
