import type { DriverPosition } from '../../../shared/drivers/positions.ts';
import type { ApiKey } from '../../../shared/keys/api-key.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { findKey } from './find-key.ts';
import { connect, serve } from './serve.ts';

/** The floor of a retrieval: finds the key, its ride and the driver's position, and answers. */
const database = await connect();
const keys = database.collection<ApiKey>('keys');
const rides = database.collection<Ride>('rides');
const positions = database.collection<DriverPosition>('positions');
const place = { lat: 1, lng: 1, heading: 1, at: 1 };
const shown = { status: 1, fare: 1, carType: 1, passengerCount: 1, distanceKm: 1, pickup: 1, destination: 1 };
const projection = { ...shown, driver: 1, leg: 1, trackToken: 1, offersCount: { $size: '$offers' } };

serve(200, async (request) => {
  const key = await findKey(keys, request);
  const rideId = (request.url ?? '').slice('/v1/rides/'.length);
  const ride = await rides.findOne({ _id: rideId, keyId: key._id }, { projection });
  const driverId = ride?.driver?.driverId ?? '';
  return { ...ride, position: await positions.findOne({ _id: driverId }, { projection: place }) };
});
