import type { Context } from '../base/context.ts';
import { copyAttemptId } from '../base/ids.ts';
import { insertDocuments } from '../base/mongo/batch.ts';
import { isDuplicate } from '../base/mongo/collection.ts';
import type { EndpointFacts } from '../keys/endpoints.ts';
import type { Ride } from '../rides/ride-types.ts';
import { enqueueNextRedeliveries } from './attempt-jobs.ts';
import { type AttemptRecord, attempts, waitingUntil } from './attempts.ts';

/** What the copies of an event have in common. */
type CopiedEvent = Pick<AttemptRecord, 'event' | 'rideStatus' | 'seq' | 'at' | 'offerId' | 'body' | 'requestId'> & {
  eventId: string;
};

/**
 * Stores the attempts of an event of a ride for further endpoints, and adds the jobs of those that are next. Idempotent:
 * the id of a copy names the event and the endpoint, so a repeat stores nothing again. Throws if MongoDB refuses one.
 */
export async function storeCopies(
  ctx: Context,
  ride: Pick<Ride, '_id' | 'accountId' | 'keyId' | 'mode'>,
  wanted: readonly Pick<EndpointFacts, '_id'>[],
  { eventId, ...event }: CopiedEvent,
): Promise<void> {
  if (wanted.length === 0) return;
  const copies = wanted.map(
    ({ _id: endpointId }): AttemptRecord => ({
      _id: copyAttemptId(event.at.getTime(), eventId, endpointId),
      accountId: ride.accountId,
      keyId: ride.keyId,
      mode: ride.mode,
      kind: 'event',
      ...event,
      endpointId,
      rideId: ride._id,
      ...waitingUntil(event.at),
    }),
  );
  const refused = (await insertDocuments(attempts, copies)).find((error) => error && !isDuplicate(error));
  if (refused) throw refused;
  await enqueueNextRedeliveries(ctx, [ride._id]);
}
