import type { Context } from '../../shared/context.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import type { Command } from '../../shared/rides/decide.ts';
import type { Driver, Offer, RideStatus } from '../../shared/rides/ride-types.ts';
import type { Client } from './client.ts';

type OfferCommand = Extract<Command, { action: 'offer' }>;

let driversMade = 0;

/** A driver that no other test knows: a ride takes one live offer from each. */
export function newDriver(changes: Partial<Driver> = {}): Driver {
  driversMade += 1;
  return {
    driverId: `driver_${driversMade}`,
    name: 'Dana Okoye',
    phone: '+12025550100',
    rating: 4.8,
    vehicle: 'Toyota Prius, blue',
    plate: `T-${driversMade}`,
    ...changes,
  };
}

/** A driver's offer on a bidding ride: of a new driver at 20 USD and 5 minutes, where nothing else is said. */
export async function offerOn(
  ctx: Context,
  rideId: string,
  { driver = newDriver(), price = 20, etaMinutes = 5 }: Partial<Omit<OfferCommand, 'action'>> = {},
): Promise<Offer> {
  const ride = await applyAction(ctx, rideId, { action: 'offer', driver, price, etaMinutes }, 'anyone');
  return ride.offers.at(-1) as Offer;
}

export interface RideMade {
  rideId: string;
  trackUrl: string;
  /** The offer that the ride has received, and accepted from driver_arriving on. */
  offer: Offer;
}

const waysTo: Record<RideStatus, (offerId: string) => Command[]> = {
  bidding: () => [],
  driver_arriving: (offerId) => [{ action: 'accept', offerId }],
  arrived: (offerId) => [...waysTo.driver_arriving(offerId), { action: 'arrive' }],
  in_progress: (offerId) => [...waysTo.arrived(offerId), { action: 'start' }],
  completed: (offerId) => [...waysTo.in_progress(offerId), { action: 'complete' }],
  cancelled: () => [{ action: 'cancel', by: 'partner' }],
};

/** A ride of the partner that has received one offer and gone on to a status; a cancelled one was cancelled bidding. */
export async function rideIn(
  ctx: Context,
  partner: Client,
  status: RideStatus,
  fields?: object,
  offered?: Parameters<typeof offerOn>[2],
): Promise<RideMade> {
  const { body } = await partner.createRide(fields);
  const offer = await offerOn(ctx, body.rideId, offered);
  for (const command of waysTo[status](offer.offerId)) await applyAction(ctx, body.rideId, command, 'anyone');
  return { rideId: body.rideId, trackUrl: body.trackUrl, offer };
}
