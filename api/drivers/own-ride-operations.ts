import { objectSchema } from '../../shared/base/json-schema.ts';
import { answerOf } from '../../shared/base/operation.ts';
import { exampleRideId, exampleWish, ride } from '../../shared/rides/driver/driver-schemas.ts';
import { presentOwnRide } from '../../shared/rides/driver/own-ride.ts';
import { encodeLine } from '../../shared/rides/path.ts';
import { get } from '../http/route.ts';
import type { DriverOperation } from './driver-operation.ts';

const answer = objectSchema(
  { ride: { anyOf: [ride, { type: 'null' }], description: '`null` while you are not on a ride.' } },
  { title: 'DriverOwnRide' },
);

export const showOwnRide: DriverOperation = {
  id: 'showOwnRide',
  method: 'GET',
  path: '/ride',
  summary: 'Show your ride',
  description: 'Shows the ride that you were chosen for, with addresses, passenger and notes, until it ends.',
  tag: 'trip',
  answer: answerOf(200, 'Your ride, or `null`.', answer, {
    ride: {
      rideId: exampleRideId,
      status: 'driver_arriving',
      statusAt: 1_795_269_605_127,
      agreedPrice: 26,
      ...exampleWish,
      pickup: { lat: 40.758, lng: -73.9855, address: 'Times Square' },
      destination: { lat: 40.7128, lng: -74.006 },
      passenger: { name: 'Sam Lee', phone: '+12025550178', callUrl: 'tel:+12025550178' },
      eta: { minutes: 4, at: 1_795_269_840_000, source: 'route' },
      road: encodeLine([
        { lat: 40.7614, lng: -73.9776 },
        { lat: 40.7596, lng: -73.9819 },
        { lat: 40.758, lng: -73.9855 },
      ]),
      notes: 'Two suitcases; waiting at the main entrance.',
    },
  }),
  errors: [],
  route: ({ authenticate, ridesOf }) =>
    get({
      authenticate: async (ctx) => ridesOf((await authenticate(ctx)).driverId),
      present: presentOwnRide,
    }),
};

/** This operation only opens the stream; `api/streams/followed-drivers.ts` sends the events. */
export const streamDriver: DriverOperation = {
  id: 'streamDriver',
  method: 'GET',
  path: '/stream',
  summary: 'Follow requests and ride',
  description:
    'Server-sent events `requests` (the answer of List the requests) and `ride` (the answer of Show your ride). The service sends both on connecting, then each again within a second of a change. If the connection is lost, open a new stream: it starts with the current state.',
  tag: 'trip',
  answer: {
    status: 200,
    description: 'A stream that ends when you close it, or when your key is rotated, suspended or revoked.',
    mediaType: 'text/event-stream',
    schema: { type: 'string' },
    example: 'event: requests\ndata: {"requests":[]}\n\nevent: ride\ndata: {"ride":null}\n\n',
  },
  errors: ['too_many_streams'],
  route:
    ({ authenticate, openStream }) =>
    async (ctx) => {
      const { driverId } = await authenticate(ctx);
      openStream(ctx, driverId);
    },
};
