import type { ApiKey } from '../../../shared/keys/api-key.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { findKey } from './find-key.ts';
import { connect, serve } from './serve.ts';

/** The floor of a list of offers: finds the key, finds the ride's offers, sorts and returns them. */
const database = await connect();
const keys = database.collection<ApiKey>('keys');
const rides = database.collection<Ride>('rides');

serve(200, async (request) => {
  const key = await findKey(keys, request);
  const rideId = (request.url ?? '').slice('/v1/rides/'.length, -'/offers'.length);
  const ride = await rides.findOne({ _id: rideId, keyId: key._id }, { projection: { offers: 1 } });
  return { rideId, offers: ride?.offers.sort((a, b) => a.price - b.price) };
});
