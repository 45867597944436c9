import { batch, batchedFind, oneOf } from '../../shared/batch.ts';
import { sha256 } from '../../shared/ids.ts';
import { type ApiKey, admitted, type Caller, callerFields, keys } from '../../shared/keys/api-key.ts';
import { isWellFormedKey } from '../../shared/keys/key-format.ts';
import { committedReads, timeLimit } from '../../shared/mongo/durability.ts';
import { NotYetCommitted } from '../../shared/mongo/outage.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';

/** Whom a secret key lets in, and the ride of theirs that they ask for, if there is such a one. */
interface Found<Shown> {
  caller: Caller;
  ride: Shown | null;
}

/**
 * Reads a key and a ride at once, where the one after the other would be two round trips: null where the key lets no one
 * in. A ride of another key is none. Like every gathered read it begins after it was asked for. The ride is shown as it
 * cannot be rolled back any more; throws NotYetCommitted where a primary that was just elected does not know of it yet.
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
        // All in one answer: MongoDB's first batch would end after 101.
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
    // The key is always read as it stands: a committed read may come before its revocation.
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
