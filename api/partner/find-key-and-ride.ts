import { sha256 } from '../../shared/base/ids.ts';
import { batch, batchedFind, oneOf } from '../../shared/base/mongo/batch.ts';
import { committedReads, timeLimit } from '../../shared/base/mongo/durability.ts';
import { NotYetCommitted } from '../../shared/base/mongo/outage.ts';
import { type ApiKey, admitted, type Caller, callerFields, keys } from '../../shared/keys/api-key.ts';
import { isWellFormedKey } from '../../shared/keys/key-format.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';

/** The caller that a secret key belongs to, and the requested ride, or null where the caller has no such ride. */
interface Found<Shown> {
  caller: Caller;
  ride: Shown | null;
}

/**
 * Reads a key and a ride in one round trip instead of two, and concurrent requests in one batch. Resolves with null where the
 * key admits no one; a ride of another key counts as none. The read begins after it was asked for, so a revocation holds at
 * once. The ride is shown only as the majority has it, so a failover cannot take back what was shown; throws
 * NotYetCommitted where a newly elected primary does not have the ride yet.
 */
export function batchedFindKeyAndRide<Shown extends Pick<Ride, '_id' | 'keyId'>>(
  projection: object,
): (secretKey: string, rideId: string, nowMs: number) => Promise<Found<Shown> | null> {
  const findBoth = batch<Asked, { key: ApiKey | null; ride: Shown | null }>(async (asked) => {
    const found = await keys
      .aggregate<ApiKey | Shown>(
        [
          { $match: { hash: oneOf(asked.map(({ hash }) => hash)) } },
          { $project: callerFields },
          {
            $unionWith: {
              coll: rides.collectionName,
              pipeline: [{ $match: { _id: oneOf(asked.map(({ rideId }) => rideId)) } }, { $project: projection }],
            },
          },
        ],
        // All documents in one answer: by default MongoDB sends the first 101 and waits to be asked for more.
        { batchSize: 2 * asked.length + 1, ...timeLimit() },
      )
      .toArray();
    const byHash = new Map<string, ApiKey>();
    const byId = new Map<string, Shown>();
    for (const document of found) {
      if ('hash' in document) byHash.set(document.hash, document);
      else byId.set(document._id, document);
    }
    return asked.map(({ hash, rideId }) => ({ key: byHash.get(hash) ?? null, ride: byId.get(rideId) ?? null }));
  });

  const findCommitted = batchedFind<Ride, Shown>(rides, '_id', projection, committedReads);

  return async (secretKey, rideId, nowMs) => {
    if (!isWellFormedKey(secretKey)) return null;
    // The key is read from the primary as it is now: a committed read may still miss its revocation.
    const [{ key, ride }, committed] = await Promise.all([
      findBoth({ hash: sha256(secretKey), rideId }),
      committedReads().readConcern ? findCommitted(rideId) : undefined,
    ]);
    const caller = admitted(key, nowMs);
    if (!caller || ride?.keyId !== caller.keyId) return caller && { caller, ride: null };
    if (committed === null) throw new NotYetCommitted();
    return { caller, ride: committed ?? ride };
  };
}

interface Asked {
  hash: string;
  rideId: string;
}
