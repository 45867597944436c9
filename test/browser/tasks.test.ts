import { expect } from 'chai';
import { createKey } from '../../shared/keys/manage-keys.ts';
import { applyAction } from '../../shared/rides/change-ride.ts';
import { signedIn } from '../support/dashboard.ts';
import { newDesk } from '../support/desk.ts';
import { newGatewayDriver, runDispatch, somewhere } from '../support/drivers.ts';
import { newRide, rideIn } from '../support/rides.ts';
import { attemptStates, rideWithAttempts } from '../support/rides-with-attempts.ts';
import { newPerson } from './as-person.ts';
import { asVisitor } from './as-visitor.ts';
import { openPage, openProfile } from './browser.ts';
import { standingAt, useDrivers } from './drive-phones.ts';

// PACE=person npm run test:browser -- --grep 'a person'
describe('a person', () => {
  const { api, openRide, offers, choose, status } = useDrivers();

  /** Somebody at the front desk of a hotel, signed in to the dashboard. */
  async function atTheDesk() {
    const visitor = await signedIn(api);
    const accountId = visitor.account._id;
    const { keyId } = await createKey(api.ctx.config, { accountId, name: 'Front desk', mode: 'live' });
    return { owner: { accountId, keyId }, profile: await openProfile(asVisitor(visitor)) };
  }

  it('finds a booking among 200 rides by its number, and the reason why its webhook failed', async () => {
    const { owner, profile } = await atTheDesk();
    const { delivered, failed } = attemptStates;
    for (let number = 20_200; number < 20_400; number++) {
      const wish = { ...owner, reference: `RES-${number}`, passenger: { name: `Guest ${number}` } };
      if (number === 20_332)
        await rideWithAttempts(api.ctx, wish, 'arrived', [delivered, delivered, delivered, failed]);
      else await newRide(api.ctx, wish);
    }
    const page = await openPage(profile, `${api.url}/dashboard`);
    const person = newPerson('find a booking and the reason of its failed webhook');
    await person.read(page.getByRole('heading', { name: 'Overview' }));
    await person.click(page.getByRole('link', { name: 'Rides', exact: true }));
    await person.read(page.getByRole('heading', { name: 'Rides', exact: true }));
    await person.type(page.getByRole('searchbox', { name: 'Search rides' }), 'RES-20332');
    await page.keyboard.press('Enter');
    await person.read(page.locator('#detail', { hasText: '503' }));
    person.done();
    expect(await page.locator('main').innerText()).to.include('RES-20332');
    expect(page.complaints).to.deep.equal([]);
  });

  it('follows a live ride and cancels it', async () => {
    const { owner, profile } = await atTheDesk();
    const place = somewhere();
    const driver = await newGatewayDriver(api, { at: place });
    const rideId = await newRide(api.ctx, {
      ...{ ...owner, pickup: place, destination: { lat: place.lat + 0.05, lng: place.lng } },
      ...{ passenger: { name: 'Ada Lovelace' } },
    });
    await runDispatch(api.ctx, rideId);
    const { body } = await driver.post(`/requests/${rideId}/offers`, { price: 20, etaMinutes: 4 });
    await applyAction(api.ctx, rideId, { action: 'accept', offerId: body.offerId }, 'anyone');
    const page = await openPage(profile, `${api.url}/dashboard`);
    const person = newPerson('follow a live ride and cancel it');
    await person.read(page.getByRole('heading', { name: 'Overview' }));
    await person.click(page.getByRole('link', { name: 'Ada Lovelace' }).first());
    const state = page.locator('h1 .pill');
    await person.read(state.filter({ hasText: 'driver arriving' }));
    await driver.post('/ride/arrive', { rideId });
    await person.read(state.filter({ hasText: 'arrived' }));
    await person.click(page.getByRole('button', { name: 'Cancel ride' }));
    await person.read(page.getByRole('heading', { name: 'Cancel this ride?' }));
    await person.click(page.getByRole('button', { name: 'Cancel ride' }));
    await person.read(state.filter({ hasText: 'cancelled' }));
    person.done();
    expect(page.complaints).to.deep.equal([]);
  });

  it('follows a ride at the desk and cancels it', async () => {
    const desk = await newDesk(api);
    const { rideId } = await rideIn(api.ctx, 'bidding', {
      ...{ ...desk.owner, passenger: { name: 'Ada Lovelace' } },
      offers: [{ price: 26 }, { price: 24 }],
    });
    const page = await openPage(await openProfile(asVisitor(desk.visitor)), `${api.url}/dashboard`);
    const person = newPerson('at the desk, accept an offer, follow the ride and cancel it');
    await person.read(page.getByRole('heading', { name: 'Overview' }));
    await person.click(page.getByRole('link', { name: 'Desk', exact: true }));
    await person.read(page.getByText('1 ride needs you'));
    await person.click(page.getByRole('button', { name: /^Accept \$24/ }));
    const row = page.locator('#board-list > li', { hasText: 'Ada Lovelace' });
    await person.read(row.getByText('driver arriving'));
    await applyAction(api.ctx, rideId, { action: 'arrive' }, 'anyone');
    await person.read(row.getByText('arrived'));
    await person.click(row.getByRole('button', { name: 'Cancel ride' }));
    await person.read(page.getByRole('heading', { name: 'Cancel this ride?' }));
    await person.click(page.getByRole('dialog').getByRole('button', { name: 'Cancel ride' }));
    await person.read(page.getByText('Ada Lovelace: ride cancelled.'));
    person.done();
    await row.waitFor({ state: 'detached' });
    expect(page.complaints).to.deep.equal([]);
  });

  it('signs in to drive on a phone, accepts a request, drives it and completes it', async () => {
    const place = somewhere();
    const { key } = await newGatewayDriver(api);
    const profile = await openProfile({ ...standingAt(place), viewport: { width: 390, height: 844 } });
    const page = await openPage(profile, `${api.url}/drive`);
    const button = (name: string | RegExp) => page.getByRole('button', { name });
    const heading = (name: string) => page.getByRole('heading', { name });
    const person = newPerson('sign in to drive, accept a request and complete the trip');
    await person.read(heading('Sign in to drive'));
    await person.type(page.getByLabel('Driver key'), key);
    await person.click(button('Sign in'));
    await person.read(heading('You are offline'));
    await person.click(button('Go online'));
    await person.read(heading('Waiting for requests'));
    const rideId = await openRide(place);
    await person.read(page.locator('.request .fare'));
    await person.click(button(/^Accept/));
    await offers(rideId, 1);
    await choose(rideId);
    await person.read(heading('Drive to the pickup'));
    await person.click(button('Arrived'));
    await person.read(heading('Wait for the passenger'));
    await person.click(button('Start trip'));
    await person.read(heading('Drive to the destination'));
    await person.hold(button('Complete'));
    await person.read(heading('Trip completed'));
    person.done();
    await status(rideId, 'completed');
    expect(page.complaints).to.deep.equal([]);
  });
});
