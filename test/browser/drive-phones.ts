import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { LimitModel } from '../../shared/accounts/limit.ts';
import type { Point } from '../../shared/base/great-circle.ts';
import { driverSessions, hashOfDriverKey } from '../../shared/drivers/driver.ts';
import type { Answer } from '../support/client.ts';
import { type GatewayDriver, newGatewayDriver, runDispatch } from '../support/drivers.ts';
import { usePartner, useTestApi } from '../support/service.ts';
import { until } from '../support/until.ts';
import { openPage, openProfile } from './browser.ts';

export const phone = { viewport: { width: 360, height: 740 }, hasTouch: true };

export const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
export const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true }).waitFor();
export const press = (page: Page, name: string | RegExp) => button(page, name).click();
/** Holds a button for longer than it takes to act. */
export const hold = (page: Page, name: string) => button(page, name).click({ delay: 1_300 });

/** Presses a button with the keyboard, once it accepts presses: a button that has just appeared ignores them. */
export async function pressKey(page: Page, name: string): Promise<void> {
  await until(() => button(page, name).isEnabled());
  await button(page, name).focus();
  await page.keyboard.press('Enter');
}

export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('Driver key').fill(key);
  await press(page, 'Sign in');
}

/** The browser options of a phone at a place. */
export const standingAt = ({ lat, lng }: Point) => ({
  ...phone,
  geolocation: { latitude: lat, longitude: lng },
  permissions: ['geolocation'],
});

/** Collects the steps that the page sends, with the status of their answers. */
export function stepsSent(profile: BrowserContext): string[] {
  const sent: string[] = [];
  profile.on('response', (response) => {
    const [, step] = /\/drive\/api\/ride\/(\w+)$/.exec(response.url()) ?? [];
    if (step) sent.push(`${step} ${response.status()}`);
  });
  return sent;
}

const wanted = {
  passenger: { name: 'Ada Byron', phone: '+1 (202) 555-0111' },
  notes: 'Two suitcases, please wait at the side door.',
  passengerCount: 2,
};

/** An API with a partner, and the phones of drivers. */
export function useDrivers(settings?: Parameters<typeof useTestApi>[0]) {
  const api = useTestApi(settings);
  const partner = usePartner(api, 'live');
  before(async () => {
    await LimitModel.deleteMany({});
  });

  /** A driver's phone, signed in. */
  async function phoneOf({ driverId, key }: GatewayDriver, options: BrowserContextOptions) {
    const profile = await openProfile(options);
    const owner = { driverId, keyHash: hashOfDriverKey(key) ?? '' };
    const value = await driverSessions.start(owner, api.ctx.now());
    await profile.addCookies([{ name: 'driver_session', value, url: api.url }]);
    return { profile, page: await openPage(profile, `${api.url}/drive`) };
  }
  /** A driver who is online on a phone. */
  async function online(at: Point) {
    const driver = await newGatewayDriver(api, { at });
    return { ...driver, ...(await phoneOf(driver, standingAt(at))) };
  }
  async function openRide(pickup: Point, fields: object = {}): Promise<string> {
    const place = { ...pickup, address: '1 Main Street, side entrance' };
    const { body } = await partner.createRide({
      pickup: place,
      destination: { lat: pickup.lat + 0.05, lng: pickup.lng },
      ...wanted,
      ...fields,
    });
    await runDispatch(api.ctx, body.rideId);
    return body.rideId;
  }
  const rideNow = async (rideId: string): Promise<Answer['body']> => (await partner.get(`/rides/${rideId}`)).body;
  const offersOn = async (rideId: string): Promise<Answer['body'][]> =>
    (await partner.get(`/rides/${rideId}/offers`)).body.offers;
  const status = (rideId: string, wantedStatus: string) =>
    until(async () => (await rideNow(rideId)).status === wantedStatus);
  const offers = (rideId: string, count: number) => until(async () => (await offersOn(rideId)).length === count);
  /** Accepts the first offer on a ride. */
  const choose = async (rideId: string) =>
    partner.post(`/rides/${rideId}/accept`, { offerId: (await offersOn(rideId))[0].offerId });

  /** A driver who has been chosen. */
  async function chosen(place: Point, fields: object = {}) {
    const driver = await online(place);
    const rideId = await openRide(place, fields);
    await press(driver.page, /^Accept/);
    await offers(rideId, 1);
    await choose(rideId);
    await heading(driver.page, 'Drive to the pickup');
    return { ...driver, rideId };
  }
  return { api, partner, phoneOf, online, openRide, rideNow, offersOn, status, offers, choose, chosen };
}
