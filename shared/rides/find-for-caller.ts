import { gather, oneOf } from '../gather.ts';
import { sha256 } from '../ids.ts';
import { type ApiKey, admitted, type Caller, callerFields, keys } from '../keys/api-key.ts';
import { isWellFormedKey } from '../keys/key-format.ts';
import { type Ride, rides } from './ride.ts';

/** Whom a secret key lets in, and the ride of theirs that they ask for, if there is such a one. */
interface Found<Shown> {
  caller: Caller;
  ride: Shown | null;
}

/**
 * Reads a key and a ride at once, where the one after the other would be two round trips: null where the key lets no one
 * in. A ride of another key is none. Like every gathered read it begins after it was asked for.
 */
export function gatheredFindForCaller<Shown extends Pick<Ride, '_id' | 'keyId'>>(
  projection: object,
): (secretKey: string, rideId: string, nowMs: number) => Promise<Found<Shown> | null> {
  const findBoth = gather<Asked, { key: ApiKey | null; ride: Shown | null }>(async (asked) => {
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
        { batchSize: 2 * asked.length + 1 },
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

  return async (secretKey, rideId, nowMs) => {
    if (!isWellFormedKey(secretKey)) return null;
    const { key, ride } = await findBoth({ hash: sha256(secretKey), rideId });
    const caller = admitted(key, nowMs);
    return caller && { caller, ride: ride?.keyId === caller.keyId ? ride : null };
  };
}

interface Asked {
  hash: string;
  rideId: string;
}
