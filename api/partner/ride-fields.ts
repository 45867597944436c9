import type { Config } from '../../shared/base/config.ts';
import { objectSchema, type Shape } from '../../shared/base/json-schema.ts';
import { pick } from '../../shared/base/pick.ts';
import { type EtaFields, etaFields, etaOf } from '../../shared/rides/arrival.ts';
import { exampleOffer, exampleTrackUrl } from '../../shared/rides/event-schemas.ts';
import { partnerFields, trackUrl as trackUrlOf } from '../../shared/rides/events.ts';
import { fieldsIn, projectionOf, schemasIn } from '../../shared/rides/fields.ts';
import {
  agreedPrice,
  biddingOpensAt,
  cancelledBy,
  cancelReason,
  carType,
  driverName,
  eta,
  fare,
  lat,
  lng,
  offersCount,
  passengerCount,
  phone,
  plate,
  rating,
  replacedBy,
  replaces,
  rideId,
  rideRating,
  status,
  testMode,
  trackUrl,
  unixMs,
  vehicle,
} from '../../shared/rides/public-schemas.ts';
import type { ReportedPosition, Ride } from '../../shared/rides/ride-types.ts';
import { type RideWithSteps, stepFields, stepsOf } from '../../shared/rides/steps.ts';
import { distanceKm, exampleRideId } from './request-fields.ts';

/** The fields of a ride that `GET /rides/:rideId` and `GET /rides` share: schema, example, projection and presenter. */

const location = (description: string) =>
  objectSchema(
    { lat, lng, address: { type: 'string', description: 'The address as you gave it.' } },
    { description, optional: ['address'] },
  );

const { pickupAt, ...given } = schemasIn('ride');

export const rideFields = {
  rideId,
  status,
  fare,
  carType,
  passengerCount,
  distanceKm,
  offersCount,
  driversAsked: {
    type: 'integer',
    minimum: 0,
    description:
      'The number of drivers to whom the live ride was opened. Absent in test mode, and once the ride is erased.',
  },
  pickup: location('The start of the ride.'),
  destination: location('The end of the ride.'),
  driver: objectSchema(
    { name: driverName, phone, rating, vehicle, plate },
    { description: 'The driver. Present once an offer is accepted.' },
  ),
  agreedPrice,
  eta,
  trackUrl,
  cancelledBy,
  cancelReason,
  replacedBy,
  replaces,
  rating: rideRating,
  pickupAt,
  biddingOpensAt,
  ...given,
  testMode,
  createdAt: unixMs('The time of creation'),
  biddingEndsAt: unixMs('The end of the bidding time, also after an offer was accepted'),
  statusAt: unixMs('The time since which the ride has its status'),
  steps: {
    type: 'array',
    items: objectSchema({
      status: { ...status, description: 'A status of the ride.' },
      at: unixMs('The time since which the ride had this status'),
    }),
    description: 'Every status that the ride has had, in order. The last one is `status`.',
  },
} as const;

export const optionalFields = [
  'driversAsked',
  'driver',
  'agreedPrice',
  'eta',
  'cancelledBy',
  'cancelReason',
  'replacedBy',
  'replaces',
  'rating',
  ...fieldsIn('ride'),
  'biddingOpensAt',
  'testMode',
] as const;

const exampleSteps: Shape<typeof rideFields.steps> = [
  { status: 'bidding', at: 1_795_269_600_031 },
  { status: 'driver_arriving', at: 1_795_269_605_127 },
];

export const exampleRide = {
  rideId: exampleRideId,
  status: 'driver_arriving',
  fare: 24.5,
  carType: 'regular',
  passengerCount: 1,
  distanceKm: 5.31,
  offersCount: 1,
  driversAsked: 12,
  pickup: { lat: 40.758, lng: -73.9855, address: 'Times Square' },
  destination: { lat: 40.7128, lng: -74.006 },
  driver: { ...exampleOffer.driver, phone: '+12025550143' },
  agreedPrice: 24.5,
  eta: { minutes: 3, at: 1_795_269_785_127, source: 'route' },
  trackUrl: exampleTrackUrl,
  reference: given.reference.examples[0],
  createdAt: 1_795_269_600_031,
  biddingEndsAt: 1_795_270_200_031,
  statusAt: 1_795_269_605_127,
  steps: exampleSteps,
} as const;

/** The MongoDB projection for `presentFields`. */
export const readFields = {
  keyId: 1,
  mode: 1,
  fare: 1,
  agreedPrice: 1,
  carType: 1,
  passengerCount: 1,
  distanceKm: 1,
  pickup: 1,
  destination: 1,
  driver: 1,
  trackToken: 1,
  cancelledBy: 1,
  cancelReason: 1,
  replacedBy: 1,
  replaces: 1,
  rating: 1,
  ...projectionOf(fieldsIn('ride')),
  biddingOpensAt: 1,
  openedAt: 1,
  biddingEndsAt: 1,
  statusAt: 1,
  ...stepFields,
  offersCount: { $ifNull: ['$offersCount', { $size: '$offers' }] },
  erasedAt: 1,
  driversAsked: { $size: { $ifNull: ['$asked', []] } },
  ...etaFields,
} as const;

export type ReadRide = Pick<
  Ride,
  '_id' | Exclude<keyof typeof readFields, 'offersCount' | 'driversAsked' | 'statusesAt' | `offers.${string}`>
> &
  EtaFields &
  RideWithSteps & { offersCount: number; driversAsked: number; reported?: ReportedPosition };

/** The fields of a ride at a time (Unix ms). A live ride that moves needs the reported position for its ETA. */
export function presentFields({ trackBaseUrl }: Pick<Config, 'trackBaseUrl'>, ride: ReadRide, nowMs: number) {
  const eta = etaOf(ride, nowMs);
  return {
    rideId: ride._id,
    ...pick(ride, 'status', 'fare', 'carType', 'passengerCount', 'distanceKm', 'offersCount'),
    ...(ride.mode === 'live' && !ride.erasedAt && { driversAsked: ride.driversAsked }),
    ...pick(ride, 'pickup', 'destination'),
    ...(ride.driver && {
      driver: pick(ride.driver, 'name', 'phone', 'rating', 'vehicle', 'plate'),
      agreedPrice: ride.agreedPrice,
    }),
    ...(eta && { eta }),
    trackUrl: trackUrlOf(trackBaseUrl, ride),
    ...pick(ride, 'cancelledBy', 'cancelReason', 'replacedBy'),
    ...(ride.rating && { rating: { ...ride.rating, at: ride.rating.at.getTime() } }),
    ...partnerFields('ride', ride),
    createdAt: ride.createdAt.getTime(),
    biddingEndsAt: ride.biddingEndsAt.getTime(),
    statusAt: ride.statusAt.getTime(),
    steps: stepsOf(ride).map(({ status, at }) => ({ status, at: at.getTime() })),
  };
}
