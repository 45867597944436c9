import type { Page } from 'playwright-core';
import { applyAction } from '../../shared/rides/apply-action.ts';
import type { Driver } from '../../shared/rides/ride-types.ts';
import type { Client } from '../support/client.ts';
import { type GatewayDriver, newGatewayDriver, person } from '../support/drivers.ts';
import { scaled } from '../support/machine-speed.ts';
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
export const headline = (page: Page, words: string | RegExp, timeout = scaled(30_000)): Promise<void> =>
  page.locator('#headline', { hasText: words }).waitFor({ timeout });

/** The latitude and longitude at which the map draws the car. */
export const carOn = async (page: Page): Promise<number[] | undefined> =>
  (await page.locator('#map').getAttribute('data-car'))?.split(',').map(Number);

/** Resolves when two marks are at least `apart` px from each other, and not covered by the sheet. */
export const areInView = (page: Page, first: string, second: string, apart: number) =>
  page.waitForFunction(
    ([marks, least]) => {
      const sheet = (document.getElementById('facts') as HTMLElement).getBoundingClientRect();
      const isBeside = sheet.width < innerWidth * 0.7;
      const [left, bottom] = isBeside ? [sheet.right, innerHeight] : [0, sheet.top];
      const centers = marks.map((mark) => {
        const { x, y, width, height } = document.querySelector(mark)?.getBoundingClientRect() ?? new DOMRect(-1, -1);
        return { x: x + width / 2, y: y + height / 2 };
      });
      const areVisible = centers.every(({ x, y }) => x > left && x < innerWidth && y > 0 && y < bottom);
      const [a, b] = centers;
      return areVisible && a && b && Math.hypot(a.x - b.x, a.y - b.y) >= least;
    },
    [[first, second], apart] as const,
  );

/** The distance of pickup and destination on the screen, which changes only with the zoom. */
export const scaleOf = async (page: Page): Promise<number> => {
  const a = await page.locator('.point.pickup').boundingBox();
  const b = await page.locator('.point.destination').boundingBox();
  return a && b ? Math.hypot(a.x - b.x, a.y - b.y) : Number.NaN;
};

/** Resolves when no two of these elements overlap and all are on the screen. */
export const areClear = (page: Page, ...selectors: string[]) =>
  page.waitForFunction((wanted) => {
    const boxes = wanted.map((one) => document.querySelector(one)?.getBoundingClientRect() ?? new DOMRect(-1, -1));
    const areOnScreen = boxes.every(({ left, top, right, bottom }) => {
      const isInWidth = left >= 0 && right <= innerWidth;
      return isInWidth && top >= 0 && bottom <= innerHeight;
    });
    const overlap = (a: DOMRect, b: DOMRect) =>
      a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    return areOnScreen && boxes.every((a, index) => boxes.slice(index + 1).every((b) => !overlap(a, b)));
  }, selectors);
