import type { Context } from '../../shared/base/context.ts';
import { newRideId } from '../../shared/base/ids.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import { searchTermsOf } from '../../shared/rides/search-terms.ts';
import { dayMs } from '../../shared/usage/days.ts';
import { attempts } from '../../shared/webhooks/attempts.ts';
import { attemptRecord } from './attempts.ts';
import { newDriver, type RideWish, rideIn } from './rides.ts';
import { storedRide } from './stored-rides.ts';

/** Texts in a ride of `endedRide` that its erasure must remove. */
export const personal = [
  ...['Ada Lovelace', '+12025550111', 'Ring twice', 'Ward 7', 'Main entrance', '+12025550122', 'Grace Hopper'],
  ...['Saab 900, green', 'GH 1906', 'booking-4711', 'bed 12', '/hook-of-ward-7', '40.7128', '-73.9855', '40.741895'],
  // Search terms.
  'lovelace',
  'booking4711',
];

const person = { name: 'Grace Hopper', phone: '+12025550122', vehicle: 'Saab 900, green', plate: 'GH 1906' };
const hook = 'https://partner.example/hook-of-ward-7';

/** A completed live ride with every possible field, which ended `daysAgo` with all events delivered. */
export async function endedRide(ctx: Context, daysAgo: number, wish: RideWish = {}): Promise<Ride> {
  const { rideId } = await rideIn(ctx, 'completed', {
    passenger: { name: 'Ada Lovelace', phone: '+12025550111' },
    notes: 'Ring twice',
    pickup: { lat: 40.7128, lng: -74.006, address: 'Ward 7' },
    destination: { lat: 40.758, lng: -73.9855, address: 'Main entrance' },
    webhookUrl: hook,
    offers: [{ driver: newDriver(person) }, { driver: newDriver(person) }],
    ...wish,
  });
  const ride = await storedRide(rideId);
  const endedAt = new Date(ctx.now() - daysAgo * dayMs);
  const _id = newRideId(endedAt.getTime());
  const events = ride.events.map((event) => ({
    ...event,
    body: event.body.replace(rideId, _id),
    delivery: { outcome: 'delivered' as const, url: hook, durationMs: 7, at: endedAt },
  }));
  const ended = {
    ...ride,
    ...{ _id, events, createdAt: endedAt, statusAt: endedAt, settledSeq: ride.seq, unsettled: 0, timers: [] },
    ...{ reference: 'booking-4711', metadata: { bed: 'bed 12' }, autoAccept: { maxPrice: 30, maxEtaMinutes: 8 } },
    lastPosition: { lat: 40.741895, lng: -73.989308, heading: 10, at: endedAt },
    searchTerms: searchTermsOf({ ...ride, reference: 'booking-4711' }),
  };
  const { nextDueAt: _, ...stored } = ended;
  await rides.deleteOne({ _id: rideId });
  await rides.insertOne(stored, { ignoreUndefined: true });
  await attempts.insertMany(
    events.map(({ seq, body }) =>
      attemptRecord({ rideId: _id, accountId: ride.accountId, keyId: ride.keyId, seq, body, url: hook, at: endedAt }),
    ),
    { ignoreUndefined: true },
  );
  return storedRide(_id);
}

/** All stored data of a ride, as text. */
export async function storedText(rideId: string): Promise<string> {
  return JSON.stringify([await rides.findOne({ _id: rideId }), await attempts.find({ rideId }).toArray()]);
}

/** The personal texts that are still stored for a ride. */
export async function personalIn(rideId: string): Promise<string[]> {
  const text = await storedText(rideId);
  return personal.filter((one) => text.includes(one));
}
