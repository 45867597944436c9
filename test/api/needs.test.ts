import { expect } from 'chai';
import { type Need, needs } from '../../shared/base/terms.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { useDriverRides } from '../support/driver-rides.ts';
import { dispatchedRide, newGatewayDriver, somewhere } from '../support/drivers.ts';
import { storedRide } from '../support/stored-rides.ts';

describe('needs', () => {
  const { api, partner, openRide, offerBy, accept, requestsOf, rideOf } = useDriverRides();

  const everySet = (): Need[][] =>
    Array.from({ length: 2 ** needs.length }, (_, set) => needs.filter((_need, index) => set & (1 << index)));
  const driverWith = (place: { lat: number; lng: number }, ...equipment: Need[]) =>
    newGatewayDriver(api, { at: place, equipment });
  const askedFor = async (rideId: string) => ((await storedRide(rideId)).asked ?? []).map(({ driverId }) => driverId);

  it('the creation, retrieve and the list show the needs, always in the same order', async () => {
    const { body } = await partner.createRide({ needs: ['pet', 'wheelchair'] });
    expect(body.needs).to.deep.equal(['wheelchair', 'pet']);
    expect((await partner.get(`/rides/${body.rideId}`)).body.needs).to.deep.equal(body.needs);
    expect((await partner.get('/rides')).body.rides[0].needs).to.deep.equal(body.needs);
  });

  for (const none of [undefined, null, []]) {
    it(`a ride with needs ${JSON.stringify(none)} has none, and is not stored with any`, async () => {
      const { status, body } = await partner.createRide({ needs: none });
      expect(status).to.equal(201);
      expect(body).not.to.have.property('needs');
      expect(await storedRide(body.rideId)).not.to.have.property('needs');
      expect((await partner.get(`/rides/${body.rideId}`)).body).not.to.have.property('needs');
    });
  }

  it('a repeat with the same needs in another order gets the same ride, and with other needs a 409', async () => {
    const under = { 'idempotency-key': 'a' };
    const first = await partner.createRide({ needs: ['pet', 'assistance'] }, under);
    expect((await partner.createRide({ needs: ['assistance', 'pet'] }, under)).text).to.equal(first.text);
    expect((await partner.createRide({ needs: ['pet'] }, under)).status).to.equal(409);
  });

  it('no driver who lacks any of the needs is ever asked, in any round and for any set of needs', async () => {
    const place = somewhere();
    const drivers = await Promise.all(
      everySet().map(async (equipment) => ({ equipment, ...(await driverWith(place, ...equipment)) })),
    );
    for (const wanted of everySet()) {
      const rideId = await dispatchedRide(api.ctx, place, wanted.length > 0 ? { needs: wanted } : {});
      const fitting = drivers.filter(({ equipment }) => wanted.every((need) => equipment.includes(need)));
      const asked = await askedFor(rideId);
      expect(asked, wanted.join()).to.have.length(Math.min(20, fitting.length));
      expect(fitting.map(({ driverId }) => driverId)).to.include.members(asked);
      // So that a driver always has room for another request.
      await applyAction(api.ctx, rideId, { action: 'cancel', by: 'partner' }, 'anyone');
    }
  });

  it('a driver who goes online without equipment is not asked for a ride with needs', async () => {
    const place = somewhere();
    const driver = await newGatewayDriver(api);
    await driver.post('/me/online', place);
    expect(await askedFor(await openRide(place, { needs: ['pet'] }))).to.deep.equal([]);
    expect(await askedFor(await openRide(place))).to.deep.equal([driver.driverId]);
  });

  it('a driver sees the needs in the request and in the own ride, and the equipment in the profile', async () => {
    const place = somewhere();
    const driver = await newGatewayDriver(api, { equipment: ['child_seat', 'pet'] });
    await driver.post('/me/online', place);
    const rideId = await openRide(place, { needs: ['pet'] });
    expect((await requestsOf(driver))[0].needs).to.deep.equal(['pet']);
    await accept(rideId, await offerBy(driver, rideId));
    expect((await rideOf(driver)).needs).to.deep.equal(['pet']);
    expect((await driver.get('/me')).body.equipment).to.deep.equal(['child_seat', 'pet']);
  });

  it('the simulated driver of a test ride serves all needs', async () => {
    const tester = await api.partner('test');
    const { rideId } = (await tester.createRide({ needs: [...needs] })).body;
    expect((await tester.post(`/test/rides/${rideId}/offer`)).status).to.equal(200);
    expect((await tester.get(`/rides/${rideId}`)).body.needs).to.deep.equal([...needs]);
  });
});
