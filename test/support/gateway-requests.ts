import fc from 'fast-check';
import { driverOperations } from '../../api/drivers/routes.ts';
import { anyEncoding } from './any-body.ts';
import { type AnyRequest, anyRequest } from './any-request.ts';

/** Every operation but the stream, which does not end. */
const routes = driverOperations
  .filter(({ path }) => path !== '/stream')
  .map(({ method, path }) => [method, path.replace(':rideId', 'RIDE').replace(':offerId', 'OFFER')] as const);

const wild = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.double(),
  fc.constantFrom(null, '', 0, -0, 1e308, 5e-324, 2 ** 53, {}, [], { $gt: '' }, '\ud800', 'x\u0000', '__proto__'),
);
/** Fields for every route. Most of them are valid. */
const fields = fc.record(
  {
    lat: fc.oneof({ weight: 5, arbitrary: fc.double({ min: -91, max: 91, noNaN: true }) }, wild),
    lng: fc.oneof({ weight: 5, arbitrary: fc.double({ min: -181, max: 181, noNaN: true }) }, wild),
    heading: fc.oneof(fc.double({ min: 0, max: 360, noNaN: true }), wild),
    at: fc.oneof(fc.integer(), fc.maxSafeInteger(), wild),
    price: fc.oneof({ weight: 5, arbitrary: fc.double({ min: 0, max: 1e6, noNaN: true }) }, wild),
    etaMinutes: fc.oneof({ weight: 5, arbitrary: fc.integer({ min: 0, max: 1_500 }) }, wild),
    rideId: fc.oneof({ weight: 5, arbitrary: fc.constant('RIDE') }, wild),
    $set: wild,
    available: wild,
  },
  { requiredKeys: ['lat', 'lng', 'price', 'etaMinutes', 'rideId'] },
);
/**
 * A request to a route, or any other request below the base of the drivers' API. `anyRequestBytes` replaces its
 * placeholders.
 */
export const gatewayRequest = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ route: fc.constantFrom(...routes), body: fields, encoding: anyEncoding }).map((made) => ({
      method: made.route[0] as AnyRequest['method'],
      target: `/drivers/v1${made.route[1]}`,
      headers: [] as AnyRequest['headers'],
      contentType: 'application/json',
      credentials: 'Bearer KEY',
      body: JSON.stringify(made.body),
      encoding: made.encoding,
    })),
  },
  fc
    .tuple(fc.constantFrom(...routes), anyRequest)
    .map(([[, path], request]) => ({ ...request, target: `/drivers/v1${path}` })),
  anyRequest.map((request) => ({ ...request, target: `/drivers/v1${request.target.replace(/^\/(api\/)?v1/, '')}` })),
);
