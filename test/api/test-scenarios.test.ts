import { expect } from 'chai';
import { rides } from '../../shared/rides/ride.ts';
import { useTestApi } from '../support/service.ts';

const scenarios = [
  'default',
  'no_offers',
  'three_offers',
  'counter_offer',
  'no_auto_accept',
  'three_offers_no_accept',
  'offer_withdrawn',
  'driver_cancels',
  'stalls',
  'slow',
  'duplicate_event',
];
const under = (scenario: string) => ({ 'x-service-test-scenario': scenario });

describe('X-Service-Test-Scenario', () => {
  const api = useTestApi();

  it('a test key can use every scenario, which is stored with the ride', async () => {
    const partner = await api.partner('test');
    for (const scenario of scenarios) {
      const { status, body } = await partner.createRide({}, under(scenario));
      expect(status, scenario).to.equal(201);
      expect(body).to.have.all.keys('rideId', 'status', 'fare', 'carType', 'distanceKm', 'trackUrl', 'testMode');
      expect((await rides.findOne({ _id: body.rideId }))?.scenario).to.equal(scenario);
    }
  });

  it('a creation with a test key and an unknown scenario answers 400 and names the header', async () => {
    const partner = await api.partner('test');
    for (const scenario of ['nope', 'Default', 'default,stalls', 'toString', '__proto__', 'three offers']) {
      const { status, body } = await partner.createRide({}, under(scenario));
      expect(status, scenario).to.equal(400);
      expect(body.error).to.match(/^X-Service-Test-Scenario /);
    }
    expect(await rides.countDocuments({ keyId: partner.keyId })).to.equal(0);
  });

  for (const scenario of ['stalls', 'nope']) {
    it(`the scenario ${scenario} is ignored with a live key`, async () => {
      const partner = await api.partner('live');
      const { status, body } = await partner.createRide({}, under(scenario));
      expect(status).to.equal(201);
      const ride = await rides.findOne({ _id: body.rideId });
      expect(ride).not.to.have.property('scenario');
      expect(ride?.timers.map(({ name }) => name)).to.have.members(['expire', 'dispatch']);
    });
  }
});
