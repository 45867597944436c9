import { expect } from 'chai';
import { type Need, needs } from '../../shared/base/terms.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { useDriverRides } from '../support/driver-rides.ts';
import { dispatchedRide, newGatewayDriver, somewhere } from '../support/drivers.ts';
import { storedRide } from '../support/stored-rides.ts';

describe('needs', () => {
  const { api, partner, openRide } = useDriverRides();

  const everySet = (): Need[][] =>
    Array.from({ length: 2 ** needs.length }, (_, set) => needs.filter((_need, index) => set & (1 << index)));
  const driverWith = (place: { lat: number; lng: number }, ...equipment: Need[]) =>
    newGatewayDriver(api, { at: place, equipment });
  const askedFor = async (rideId: string) => ((await storedRide(rideId)).asked ?? []).map(({ driverId }) => driverId);

  it('needs are always in the same order, also for a repeat of the creation', async () => {
    const under = { 'idempotency-key': 'a' };
    const first = await partner.createRide({ needs: ['pet', 'wheelchair'] }, under);
    expect(first.body.needs).to.deep.equal(['wheelchair', 'pet']);
    expect((await partner.createRide({ needs: ['wheelchair', 'pet'] }, under)).text).to.equal(first.text);
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

  it('the simulated driver of a test ride serves all needs', async () => {
    const tester = await api.partner('test');
    const { rideId } = (await tester.createRide({ needs: [...needs] })).body;
    expect((await tester.post(`/test/rides/${rideId}/offer`)).status).to.equal(200);
    expect((await tester.get(`/rides/${rideId}`)).body.needs).to.deep.equal([...needs]);
  });
});
