import { addPlace, chooseDeskKey } from '../../shared/accounts/desk.ts';
import type { Context } from '../../shared/base/context.ts';
import { derivedPlaceId, sha256 } from '../../shared/base/ids.ts';
import type { ApiKey } from '../../shared/keys/api-key.ts';
import { applyAction } from '../../shared/rides/change-ride.ts';
import { validRide } from './client.ts';
import type { Visitor } from './dashboard.ts';

/**
 * An account with everything that forms change: two sessions, a key, a bidding ride with an offer, and a ride with a
 * failed event.
 */
export interface World {
  ctx: Context;
  visitor: Visitor;
  key: ApiKey;
  rideId: string;
  offerId: string;
  failedRideId: string;
  /** The token of a session in another browser. */
  otherSession: string;
}

/** A form: the status of its answer, its fields, and the parameters of its path. */
export interface FormCase {
  status: number;
  fields?: (world: World) => Record<string, string>;
  params?: (world: World) => Record<string, string>;
  prepare?: (world: World) => Promise<unknown>;
  /** Set if the form is idempotent even without a form id. */
  needsNoId?: true;
}

/** Every form of a signed-in person. The sign-in forms have their own test (sign-in-repeated.test.ts). */
export const formCases: Record<string, FormCase> = {
  '/sign-out': { status: 303, needsNoId: true },
  '/sign-out-everywhere': { status: 303 },
  '/account/end-session': {
    status: 303,
    fields: ({ otherSession }) => ({ session: sha256(otherSession) }),
  },
  '/keys': { status: 200, fields: () => ({ name: 'Night desk', mode: 'live' }) },
  '/keys/:keyId/name': { status: 303, fields: () => ({ name: 'Night desk' }) },
  '/keys/:keyId/webhook-url': { status: 303, fields: () => ({ webhookUrl: 'https://partner.example/other' }) },
  '/keys/:keyId/test-event': { status: 303 },
  '/keys/:keyId/signing-secret': { status: 200 },
  '/keys/:keyId/roll-secret': { status: 200, fields: () => ({ seen: '0' }) },
  '/keys/:keyId/rotate': { status: 200, fields: () => ({ seen: '0' }) },
  '/keys/:keyId/revoke': { status: 303 },
  '/rides/:rideId/accept': { status: 303, fields: ({ offerId }) => ({ offerId }) },
  '/rides/:rideId/cancel': { status: 303 },
  '/rides/:rideId/events/:seq/send-again': {
    status: 303,
    params: ({ failedRideId }) => ({ rideId: failedRideId, seq: '1' }),
  },
  '/desk': {
    status: 303,
    prepare: ({ visitor, key }) => chooseDeskKey(visitor.account._id, 'desk key', key._id),
    fields: () => ({ from: '40.7128, -74.006', to: '40.758, -73.9855', fare: '25', car: 'regular', passengers: '1' }),
  },
  '/desk/hint': { status: 200, needsNoId: true },
  '/desk/search': { status: 404, needsNoId: true },
  '/desk/settings': { status: 303, fields: ({ key }) => ({ key: key._id }) },
  '/desk/places': { status: 303, fields: () => ({ name: 'Front door', at: '40.7128, -74.006' }) },
  '/desk/places/default': { status: 303, prepare: twoPlaces, fields: () => ({ id: derivedPlaceId('second') }) },
  '/desk/places/remove': { status: 303, prepare: twoPlaces, fields: () => ({ id: derivedPlaceId('second') }) },
  '/deliveries/send-again': { status: 303, fields: ({ key }) => ({ keyId: key._id, since: '2020-01-01 00:00' }) },
  '/console': {
    status: 303,
    fields: ({ key }) => ({ key: key._id, scenario: 'no_offers', ...placesOf(validRide) }),
  },
  '/console/:rideId/accept': { status: 303, fields: ({ offerId }) => ({ offerId }) },
  '/console/:rideId/cancel': { status: 303 },
  '/console/:rideId/steps/:step offer': { status: 303, fields: () => ({ price: '21', etaMinutes: '6' }) },
  '/console/:rideId/steps/:step withdraw': { status: 303, fields: ({ offerId }) => ({ offerId }) },
  '/console/:rideId/steps/:step expire': { status: 303 },
  '/console/:rideId/steps/:step arrive': { status: 303, prepare: accepted },
};
export const testedElsewhere = /^\/(sign-in|confirm)(\/|$)/;

function accepted({ ctx, rideId, offerId, key }: World): Promise<unknown> {
  return applyAction(ctx, rideId, { action: 'accept', offerId }, { keyId: key._id });
}

async function twoPlaces({ visitor: { account } }: World): Promise<void> {
  for (const name of ['first', 'second']) await addPlace(account._id, name, { name, lat: 40.7, lng: -74 });
}

const placesOf = ({ pickup, destination, fare }: typeof validRide) => ({
  ...{ pickupLat: String(pickup.lat), pickupLng: String(pickup.lng) },
  ...{ destinationLat: String(destination.lat), destinationLng: String(destination.lng), fare: String(fare) },
});
