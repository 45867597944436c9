import { expect } from 'chai';
import { accounts } from '../../../shared/accounts/account.ts';
import { eraseRides } from '../../../shared/retention/erase-rides.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { newDesk } from '../../support/desk.ts';
import { textOf } from '../../support/pages.ts';
import { newDriver, newRide, rideIn } from '../../support/rides.ts';
import { useTestApi } from '../../support/service.ts';
import { storedRide } from '../../support/stored-rides.ts';

describe('the receipt of a ride', () => {
  const api = useTestApi();

  async function completed() {
    const { visitor, owner } = await newDesk(api);
    const { rideId } = await rideIn(api.ctx, 'completed', {
      ...owner,
      passenger: { name: 'Ada Lovelace', phone: '+12025550188' },
      reference: 'Room 412',
      pickup: { lat: 40.7128, lng: -74.006, address: '1 Hotel Street' },
      offers: [{ price: 26, driver: newDriver({ name: 'Dana Okoye' }) }],
    });
    await accounts.updateOne({ _id: owner.accountId }, { $set: { name: 'Grand Hotel' } });
    return { visitor, rideId, path: `/dashboard/rides/${rideId}/receipt` };
  }

  it('shows the price, the trip, the account and the first name of the driver, and no phone number', async () => {
    const { visitor, rideId, path } = await completed();
    const text = textOf((await visitor.get(path)).html.split('<article')[1] ?? '');
    for (const part of [
      '$26.00',
      'Ada Lovelace',
      'Room 412',
      '1 Hotel Street',
      '5.3 km',
      'Dana, Toyota Prius',
      rideId,
    ]) {
      expect(text).to.include(part);
    }
    expect(text)
      .to.include('Account Grand Hotel')
      .and.not.to.match(/Okoye|\+1202|@/);
  });

  it("shows its times on the pickup's clocks, with their name", async () => {
    const { visitor, rideId, path } = await completed();
    const { statusAt } = await storedRide(rideId);
    const day = statusAt.toLocaleDateString('en-CA', { timeZone: 'America/New_York' });
    const clock = statusAt.toLocaleTimeString('en-GB', { timeZone: 'America/New_York', timeStyle: 'short' });
    const text = textOf((await visitor.get(path)).html);
    expect(text).to.match(new RegExp(`${day} ${clock} \\(Eastern (Standard|Daylight) Time\\)`));
  });

  it('says that the personal data of the ride was erased', async () => {
    const { visitor, rideId, path } = await completed();
    await rides.updateOne({ _id: rideId }, { $set: { unsettled: 0 } });
    expect(await eraseRides([rideId])).to.equal(1);
    const text = textOf((await visitor.get(path)).html);
    expect(text).to.include('The personal data of this ride was erased').and.to.include('$26.00');
    expect(text).not.to.include('Ada');
  });

  it('is missing for a ride that is not completed, and the page says so', async () => {
    const { visitor, owner } = await newDesk(api);
    const rideId = await newRide(api.ctx, owner);
    const text = textOf((await visitor.get(`/dashboard/rides/${rideId}/receipt`)).html);
    expect(text).to.include('not completed yet').and.not.to.include('$25');
  });
});
