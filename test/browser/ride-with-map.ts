import type { Page } from 'playwright-core';
import { applyAction } from '../../shared/rides/change-ride.ts';
import type { Driver } from '../../shared/rides/ride-types.ts';
import type { Client } from '../support/client.ts';
import { type GatewayDriver, newGatewayDriver, person } from '../support/drivers.ts';
import { offerOn } from '../support/rides.ts';
import type { TestApi } from '../support/service.ts';

export const timesSquare = { lat: 40.758, lng: -73.9855 };
export const cityHall = { lat: 40.7128, lng: -74.006 };

const simulatedDriver: Driver = {
  driverId: 'sim',
  name: 'Dana Okoye',
  phone: '+12025550100',
  rating: 4.8,
  vehicle: 'Toyota Prius, blue',
  plate: 'TST 1043',
};

/** Steps of a ride on behalf of its driver, and the URL of its map. */
export interface RideWithMap {
  rideId: string;
  url: string;
  accept(): Promise<void>;
  act(action: 'arrive' | 'start' | 'complete'): Promise<unknown>;
}

/** Creates a test ride from Times Square to the City Hall. By default its driver does nothing automatically. */
export async function rideWithMap(
  api: TestApi,
  partner: Client,
  scenario = 'no_offers',
  fields: object = {},
): Promise<RideWithMap> {
  const { body } = await partner.createRide(
    { pickup: timesSquare, destination: cityHall, ...fields },
    { 'X-Service-Test-Scenario': scenario },
  );
  return stepsOf(api, body, simulatedDriver);
}

/** Creates a live ride of a partner with a live key. `report` sends a position of its driver's phone. */
export async function liveRideWithMap(
  api: TestApi,
  partner: Client,
): Promise<RideWithMap & { report: (at: { lat: number; lng: number }) => ReturnType<GatewayDriver['put']> }> {
  const driver = await newGatewayDriver(api, { at: timesSquare });
  const { body } = await partner.createRide({ pickup: timesSquare, destination: cityHall });
  const { name, phone, vehicle, plate } = person;
  const steps = stepsOf(api, body, { driverId: driver.driverId, name, phone, vehicle, plate, rating: 4.8 });
  return { ...steps, report: (at) => driver.put('/me/position', { ...at, heading: 0 }) };
}

function stepsOf({ ctx, url }: TestApi, body: { rideId: string; trackUrl: string }, driver: Driver): RideWithMap {
  const { rideId } = body;
  return {
    rideId,
    url: `${url}${new URL(body.trackUrl).pathname}`,
    act: (action) => applyAction(ctx, rideId, { action }, 'anyone'),
    async accept() {
      const { offerId } = await offerOn(ctx, rideId, { driver });
      await applyAction(ctx, rideId, { action: 'accept', offerId }, 'anyone');
    },
  };
}

/** Resolves when the map has this headline. */
export const headline = (page: Page, words: string | RegExp, timeout = 30_000): Promise<void> =>
  page.locator('#headline', { hasText: words }).waitFor({ timeout });

/** The latitude and longitude at which the map draws the car. */
export const carOn = async (page: Page): Promise<number[] | undefined> =>
  (await page.locator('#map').getAttribute('data-car'))?.split(',').map(Number);
