import mongoose from 'mongoose';
import { AppError } from '../base/errors.ts';
import { collection, exists, findAmong, recordSchema } from '../base/mongo/collection.ts';
import { durableWrites, timeLimit } from '../base/mongo/durability.ts';
import { messages } from '../messages/message-row.ts';
import { eraseMessages } from '../messages/stored-messages.ts';
import { erasedIdempotencyKey } from '../rides/create-ride.ts';
import { erasedFields } from '../rides/fields.ts';
import { erasable, rides } from '../rides/ride.ts';
import type { Ride } from '../rides/ride-types.ts';
import { hasEnded } from '../rides/transitions.ts';
import { attempts, eraseAttempts } from '../webhooks/attempts.ts';

const rounded = (place: string) => ({
  lat: { $round: [`$${place}.lat`, 2] },
  lng: { $round: [`$${place}.lng`, 2] },
});
/** An erased driver keeps the id, for the driver's own trips, and the rating. */
const withoutPerson = (driver: string) => ({
  $mergeObjects: [driver, { name: '', phone: '', vehicle: '', plate: '' }],
});

/** The events of a ride's offers, in the order of the offers (ride-history.ts). */
const offerEvents = { $filter: { input: '$events', cond: { $eq: ['$$this.event', 'offer.received'] } } };
/** The number of the accepted offer's event; missing if no offer was accepted. */
const acceptedSeq = {
  $let: {
    vars: { place: { $indexOfArray: ['$offers.offerId', '$acceptedOfferId'] }, ofOffers: offerEvents },
    in: { $cond: [{ $gte: ['$$place', 0] }, { $arrayElemAt: ['$$ofOffers.seq', '$$place'] }, '$$REMOVE'] },
  },
};
const keptEvents = {
  $filter: {
    input: '$events',
    cond: { $or: [{ $ne: ['$$this.event', 'offer.received'] }, { $eq: ['$$this.seq', acceptedSeq] }] },
  },
};
const keptOffers = { $filter: { input: '$offers', cond: { $eq: ['$$this.offerId', '$acceptedOfferId'] } } };

/** A ride can have 50 offers, which are about drivers who had nothing to do with the trip. */
const erasure = [
  {
    $set: {
      pickup: rounded('pickup'),
      destination: rounded('destination'),
      driver: { $cond: ['$driver', withoutPerson('$driver'), '$$REMOVE'] },
      offers: {
        $map: {
          input: keptOffers,
          as: 'offer',
          in: { $mergeObjects: ['$$offer', { driver: withoutPerson('$$offer.driver') }] },
        },
      },
      offersCount: { $size: '$offers' },
      events: { $map: { input: keptEvents, as: 'event', in: { $mergeObjects: ['$$event', { body: '' }] } } },
      rev: { $add: ['$rev', 1] },
      erasedAt: '$$NOW',
    },
  },
  {
    $unset: [
      'pickup.address',
      'destination.address',
      ...erasedFields,
      'events.delivery.url',
      'events.sender',
      'events.requestId',
      'origin.requestId',
      'changes.sender',
      'changes.requestId',
      'firstTerms',
      'idempotency.requestHash',
      'undeliveredAt',
      'trackToken',
      'searchTerms',
      'leg',
      'route',
      'lastPosition',
      'pinCode',
      'wrongPinsAt',
      'driverNotes',
      'helpAskedAt',
      'rating.comment',
      'asked',
      'excludedDrivers',
    ],
  },
];

/**
 * Erases the personal data of the given rides; skips rides that have not ended or have unsettled events. That is:
 * the fields of the request that fields.ts marks, addresses, drivers' names, phones and cars, the drivers who were asked, all
 * offers except the accepted one with their events, the ids of clients' requests, the Idempotency-Key (a
 * hash stays until it expires), search terms, track token, PIN, messages to the driver, requests for help, the comment
 * of a rating, last position, the bodies of events, the contents of attempts, and the numbers and texts of messages.
 * Coordinates keep two decimals (about a kilometre). Price, distance, `autoAccept`, times and outcomes stay. An erased ride takes less than 2 kB.
 *
 * After its end, a ride can only be rated, and after its erasure not even that, so no other write conflicts. Attempts
 * are erased first, so that a ride counts as erased only when all of it is. Idempotent. Resolves with the number of erased rides.
 */
export async function eraseRides(rideIds: readonly string[]): Promise<number> {
  const found = await findAmong(rides, rideIds, { keyId: 1, 'idempotency.key': 1 }, erasable);
  const ended = found.map(({ _id }) => _id);
  if (ended.length === 0) return 0;
  await eraseAttempts({ rideId: { $in: ended } });
  await eraseMessages(ended);
  await hashIdempotencyKeys(found);
  const options = { writeConcern: durableWrites(), ...timeLimit() };
  const { modifiedCount } = await rides.updateMany({ _id: { $in: ended }, ...erasable }, erasure, options);
  // The attempts are erased again: one that was inserted late, after its event was settled, may have been missed above.
  await eraseAttempts({ rideId: { $in: ended } });
  await eraseMessages(ended);
  return modifiedCount;
}

/** Only a ride that is erased within a day of its creation still has its Idempotency-Key. A repeat must find the ride. */
async function hashIdempotencyKeys(found: readonly Pick<Ride, '_id' | 'keyId' | 'idempotency'>[]): Promise<void> {
  for (const { _id, keyId, idempotency } of found) {
    if (!idempotency) continue;
    const $set = { 'idempotency.key': erasedIdempotencyKey(keyId, idempotency.key) };
    const options = { writeConcern: durableWrites(), ...timeLimit() };
    await rides.updateOne({ _id, 'idempotency.key': idempotency.key }, { $set }, options);
  }
}

type Erasable = Pick<
  Ride,
  '_id' | 'accountId' | 'status' | 'unsettled' | 'erasedAt' | 'messagesOwed' | 'withdrawalsOwed'
>;

/**
 * Erases one ride now, and resolves with its account. Throws `ride_not_found`, or a 409 with the reason for a ride that
 * has not ended, has an event, a redelivery or a message to send, or is already erased.
 */
export async function eraseRide(rideId: string): Promise<string> {
  const projection = {
    accountId: 1,
    status: 1,
    unsettled: 1,
    erasedAt: 1,
    messagesOwed: 1,
    withdrawalsOwed: 1,
  } as const;
  const ride = await rides.findOne<Erasable>({ _id: rideId }, { projection, ...timeLimit() });
  if (!ride) throw new AppError('ride_not_found');
  const isPending = { rideId, dueAt: { $exists: true } };
  const refusal =
    refusalOf(ride) ??
    ((await exists(attempts, isPending)) ? 'An event of the ride is being resent' : null) ??
    ((await exists(messages, isPending)) ? 'A message about the ride has not been sent yet' : null);
  // An earlier call may have crashed before it erased the last attempts.
  if (ride.erasedAt) {
    await eraseAttempts({ rideId });
    await eraseMessages([rideId]);
  }
  if (refusal) throw new AppError('not_erasable', { message: refusal });
  await eraseRides([rideId]);
  return ride.accountId;
}

function refusalOf({ status, unsettled, erasedAt, messagesOwed = [], withdrawalsOwed = [] }: Erasable): string | null {
  if (erasedAt) return `The ride was erased on ${erasedAt.toISOString().slice(0, 10)}`;
  if (!hasEnded(status)) return `The ride has not ended: it is ${status}`;
  if (messagesOwed.length > 0) return 'A message about the ride has not been sent yet';
  // Negative on a held ride (ride.ts).
  return unsettled !== 0 || withdrawalsOwed.length > 0 ? 'An event of the ride has not been sent yet' : null;
}

/** The progress of the erasure of attempts. The collection has one document. */
interface RetentionProgress {
  _id: 'retention';
  /** The attempts up to this id are erased. */
  attemptsThrough?: string;
}

export const RetentionProgressModel = mongoose.model('RetentionProgress', recordSchema(), 'retention_progress');
const progress = collection<RetentionProgress>(RetentionProgressModel);

const retention = { _id: 'retention' } as const;

/** The id of the last erased attempt, after which erasing continues; initially an empty text. */
export async function erasedThrough(): Promise<string> {
  return (await progress.findOne(retention, timeLimit()))?.attemptsThrough ?? '';
}

/** Records that the attempts up to this id are erased. Losing the record only repeats an erasure, without harm. */
export async function noteErased(attemptsThrough: string): Promise<void> {
  await progress.updateOne(retention, { $max: { attemptsThrough } }, { upsert: true, writeConcern: { w: 1 } });
}
