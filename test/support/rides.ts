import type { Context } from '../../shared/base/context.ts';
import { newDriverId, newKeyId } from '../../shared/base/ids.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { createRide, type NewRide } from '../../shared/rides/create-ride.ts';
import type { Command } from '../../shared/rides/decide.ts';
import { labelledFields } from '../../shared/rides/fields.ts';
import type { Driver, Offer, Ride, RideRequest, RideStatus } from '../../shared/rides/ride-types.ts';
import type { Client } from './client.ts';

type OfferWish = Partial<Omit<Extract<Command, { action: 'offer' }>, 'action'>>;

/** The options of a test ride. The default is a live ride of a new key, with one offer. */
export type RideWish = Partial<RideRequest> & {
  /** The partner that creates the ride through the API. Without one, the ride is created without the API. */
  by?: Client;
  keyId?: string;
  accountId?: string;
  mode?: Ride['mode'];
  scenario?: NewRide['scenario'];
  idempotencyKey?: string;
  /**
   * The offers on the ride. The first one is accepted if the status requires it. Defaults of an offer: a new driver, 20
   * USD, 5 minutes.
   */
  offers?: OfferWish[];
};

const request: RideRequest = {
  pickup: { lat: 40.7128, lng: -74.006 },
  destination: { lat: 40.758, lng: -73.9855 },
  fare: 25,
  carType: 'regular',
  rideType: 'standard',
  passengerCount: 1,
  distanceKm: 5.31,
};

/** A value of each field that has only a label (fields.ts). */
export const labelledExamples: Partial<RideRequest> = Object.fromEntries(
  labelledFields.map(({ name, isNumber }) => [name, isNumber ? 7 : 'seven']),
);

const pathTo: Record<RideStatus, readonly Command['action'][]> = {
  bidding: [],
  driver_arriving: ['accept'],
  arrived: ['accept', 'arrive'],
  in_progress: ['accept', 'arrive', 'start'],
  completed: ['accept', 'arrive', 'start', 'complete'],
  cancelled: ['cancel'],
};

/** Creates a bidding ride without an offer. Resolves with its id. */
export async function newRide(ctx: Context, wish: Omit<RideWish, 'by' | 'offers'> = {}): Promise<string> {
  const { keyId = newKeyId(), accountId = 'acct_of_tests', mode = 'live', scenario, idempotencyKey, ...fields } = wish;
  const key = { keyId, accountId, mode, limit: undefined };
  const ride = await createRide(ctx, { key, request: { ...request, ...fields }, scenario, idempotencyKey });
  return ride._id;
}

/**
 * Creates a ride with offers and brings it to a status. For `cancelled`, the partner cancels it while it is bidding.
 */
export async function rideIn(ctx: Context, status: RideStatus, { by, offers: wanted = [{}], ...wish }: RideWish = {}) {
  const created = by && (await by.createRide(wish)).body;
  const rideId: string = created?.rideId ?? (await newRide(ctx, wish));
  const offers: Offer[] = [];
  for (const offer of wanted) offers.push(await offerOn(ctx, rideId, offer));
  const [offer] = offers as [Offer];
  for (const action of pathTo[status]) {
    const by = action === 'accept' || action === 'cancel' ? 'partner' : 'driver';
    await applyAction(ctx, rideId, { action, offerId: offer.offerId, by: 'partner' } as Command, 'anyone', { by });
  }
  return { rideId, trackUrl: created?.trackUrl as string, offer, offerId: offer.offerId, offers };
}

/** Creates a live ride of the key with `count` undelivered events (1 to 5). Resolves with its id. */
export async function rideWithEvents(
  ctx: Context,
  { keyId }: { keyId: string },
  count: number,
  wish?: RideWish,
): Promise<string> {
  const statuses: RideStatus[] = ['bidding', 'driver_arriving', 'arrived', 'in_progress', 'completed'];
  return (await rideIn(ctx, statuses[count - 1] as RideStatus, { keyId, ...wish })).rideId;
}

let driversMade = 0;

/** A new driver. Most offers need one, because a ride accepts one live offer per driver. */
export function newDriver(changes: Partial<Driver> = {}): Driver {
  driversMade += 1;
  return {
    driverId: newDriverId(),
    name: 'Dana Okoye',
    phone: '+12025550100',
    rating: 4.8,
    vehicle: 'Toyota Prius, blue',
    plate: `T-${driversMade}`,
    ...changes,
  };
}

/** Makes an offer on a bidding ride. Defaults: a new driver, 20 USD, 5 minutes. */
export async function offerOn(
  ctx: Context,
  rideId: string,
  { driver = newDriver(), price = 20, etaMinutes = 5 }: OfferWish = {},
): Promise<Offer> {
  const ride = await applyAction(ctx, rideId, { action: 'offer', driver, price, etaMinutes }, 'anyone', {
    by: 'driver',
  });
  return ride.offers.at(-1) as Offer;
}
