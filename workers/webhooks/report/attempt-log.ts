import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../../../shared/base/context.ts';
import { describeError } from '../../../shared/base/errors.ts';
import { newAttemptId } from '../../../shared/base/ids.ts';
import { insertDocuments } from '../../../shared/base/mongo/batch.ts';
import { isDuplicate } from '../../../shared/base/mongo/collection.ts';
import { isOutageOfMongo } from '../../../shared/base/mongo/outage.ts';
import { type Trace, traceFields, whenDrained } from '../../../shared/outbound/trace.ts';
import type { Delivery, Ride, RideEvent } from '../../../shared/rides/ride-types.ts';
import { type AttemptRecord, attempts, eraseAttemptsOfErased, eventFields } from '../../../shared/webhooks/attempts.ts';
import { createBufferedWriter } from './buffered-writer.ts';

const batchSize = 200;
/** Attempts are collected for this long: inserting them as a batch is much cheaper for MongoDB and for this process. */
const delayMs = 100;
/** The most attempts that wait while MongoDB accepts no inserts. Further attempts are dropped. */
const maxWaiting = 2_000;

/** Attempts whose answer is still being read. */
const draining = new Set<() => void>();
let waiting: AttemptRecord[] = [];
let dropped = 0;
/** Rides whose attempts were inserted, and that may have been erased before the insert. */
let unchecked: string[] = [];
let log: Context['log'] | undefined;

const inserts = createBufferedWriter(insertBatches, () => waiting.length > 0, delayMs);

/** An event that was sent, and its ride. */
interface SentEvent {
  ride: Pick<Ride, '_id' | 'accountId' | 'keyId' | 'mode'>;
  event: RideEvent;
}

/**
 * Inserts the attempt of an event, for the dashboard. Returns at once and never fails: an attempt that MongoDB refuses
 * is dropped, because the ride itself has the outcome.
 */
export function recordAttempt(ctx: Pick<Context, 'log'>, sent: SentEvent, delivery: Delivery, trace: Trace): void {
  log = ctx.log;
  const record = () => {
    if (!draining.delete(record)) return;
    if (waiting.length < maxWaiting) waiting.push(recordOf(sent, delivery, trace));
    else dropped += 1;
    inserts.soon();
  };
  draining.add(record);
  whenDrained(trace, record);
}

/** Inserts all waiting attempts before the process ends. Takes a second at most. */
export async function flushAttempts(): Promise<void> {
  for (const record of draining) record();
  await inserts.flush();
}

function recordOf({ ride, event }: SentEvent, delivery: Delivery, trace: Trace): AttemptRecord {
  return {
    _id: newAttemptId(delivery.at.getTime()),
    accountId: ride.accountId,
    keyId: ride.keyId,
    mode: ride.mode,
    kind: 'event',
    ...eventFields(event),
    rideId: ride._id,
    ...delivery,
    body: event.body,
    ...traceFields(trace, delivery.outcome),
  };
}

async function insertBatches(): Promise<void> {
  let isReachable: boolean;
  do isReachable = await insertBatch();
  while (isReachable && waiting.length >= batchSize);
}

/** Resolves with false if MongoDB is unavailable. The attempts then wait for the next try. */
async function insertBatch(): Promise<boolean> {
  const batch = waiting.slice(0, batchSize);
  waiting = waiting.slice(batchSize);
  try {
    const outcomes = await insertDocuments(attempts, batch, { w: 1 });
    // An earlier try, whose answer was lost, has inserted the duplicates.
    dropped += outcomes.filter((error) => error !== null && !isDuplicate(error)).length;
  } catch (error) {
    log?.debug({ error: describeError(error) }, 'attempts not inserted');
    if (isOutageOfMongo(error)) {
      waiting = [...batch, ...waiting];
      // While the process stops, the next try follows at once.
      await sleep(delayMs, undefined, { ref: false });
      return false;
    }
    dropped += batch.length;
  }
  await eraseOfErasedRides(batch);
  if (dropped > 0) log?.debug({ dropped }, 'attempts dropped: the dashboard does not show them');
  dropped = 0;
  return true;
}

/**
 * Rides that could not be checked are checked again with the next batch. The retention erases the rest after
 * ERASE_AFTER_DAYS.
 */
async function eraseOfErasedRides(inserted: readonly AttemptRecord[]): Promise<void> {
  unchecked = [...unchecked, ...inserted.flatMap(({ rideId }) => rideId ?? [])].slice(-maxWaiting);
  try {
    await eraseAttemptsOfErased(unchecked);
    unchecked = [];
  } catch (error) {
    log?.debug({ error: describeError(error) }, 'attempts of erased rides not erased yet');
  }
}
