import type { Point } from '../../shared/base/great-circle.ts';
import { type GatewayDriver, newGatewayDriver, runDispatch, somewhere } from './drivers.ts';
import { usePartner, useTestApi } from './service.ts';

/** The fields of a ride that only the assigned driver may see. */
export const canaries = ['Canary Person', '+12025559999', 'canary notes', 'Canary Street', 'Canary Avenue'];
export const secrets = {
  passenger: { name: 'Canary Person', phone: '+12025559999' },
  notes: 'canary notes',
};

/** An API with a partner for each test, and functions for the steps of a driver on the partner's rides. */
export function useDriverRides() {
  const api = useTestApi();
  const partner = usePartner(api, 'live');

  /** Creates a live ride and runs its first dispatch round. Resolves with its id. */
  async function openRide(place: Point, fields: object = {}): Promise<string> {
    const { body } = await partner.createRide({
      pickup: { ...place, address: 'Canary Street' },
      destination: { lat: place.lat + 0.05, lng: place.lng, address: 'Canary Avenue' },
      fare: 20,
      ...secrets,
      ...fields,
    });
    await runDispatch(api.ctx, body.rideId);
    return body.rideId;
  }
  const offerBy = async (driver: GatewayDriver, rideId: string, price = 20): Promise<string> =>
    (await driver.post(`/requests/${rideId}/offers`, { price, etaMinutes: 5 })).body.offerId;
  const accept = (rideId: string, offerId: string, by = partner) => by.post(`/rides/${rideId}/accept`, { offerId });
  const step = (driver: GatewayDriver, name: string, rideId: string) => driver.post(`/ride/${name}`, { rideId });
  const requestsOf = async (driver: GatewayDriver) => (await driver.get('/requests')).body.requests;
  const rideOf = async (driver: GatewayDriver) => (await driver.get('/ride')).body.ride;
  const refusal = ({ status, body }: { status: number; body: { error: string } }) => [status, body.error];

  /** Creates a driver, and a ride nearby that is open to the driver. */
  async function askedDriver() {
    const place = somewhere();
    const driver = await newGatewayDriver(api, { at: place });
    return { place, driver, rideId: await openRide(place) };
  }

  /** Creates two drivers at one place, and a ride there that is open to both. */
  async function askedDrivers() {
    const place = somewhere();
    const [driver, other] = [await newGatewayDriver(api, { at: place }), await newGatewayDriver(api, { at: place })];
    return { place, driver, other, rideId: await openRide(place) };
  }

  /** Creates a ride and a driver who is assigned to it. */
  async function chosenDriver(place = somewhere()) {
    const driver = await newGatewayDriver(api, { at: place });
    const rideId = await openRide(place);
    const offerId = await offerBy(driver, rideId, 22);
    await accept(rideId, offerId);
    return { driver, rideId, offerId, place };
  }
  return {
    ...{ api, partner, openRide, offerBy, accept, step, requestsOf, rideOf, refusal },
    ...{ askedDriver, askedDrivers, chosenDriver },
  };
}
