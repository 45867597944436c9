import { expect } from 'chai';
import { rides } from '../../shared/rides/ride.ts';
import { fireTimer } from '../support/fire-timer.ts';
import { useTestApi } from '../support/service.ts';
import { makeDue, storedRide } from '../support/stored-rides.ts';

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

  it('a test ride has the first timer of the simulator, a live ride has none', async () => {
    const timersOf = async (mode: 'live' | 'test') => {
      const { body } = await (await api.partner(mode)).createRide();
      return (await rides.findOne({ _id: body.rideId }))?.timers.map(({ name }) => name);
    };
    expect(await timersOf('live')).to.have.members(['expire', 'dispatch']);
    expect(await timersOf('test')).to.have.members(['expire', 'offer']);
  });

  it('slow: each drive takes minutes and ends with the next step, and the offer has the ETA of the drive', async () => {
    const { body } = await (await api.partner('test')).createRide({}, under('slow'));
    const drivenUntil = async (...steps: ('offer' | 'accept' | 'arrive' | 'start')[]) => {
      for (const step of steps) {
        await makeDue(body.rideId, step);
        await fireTimer(api.ctx, body.rideId, step);
      }
      const { offers, leg, timers } = await storedRide(body.rideId);
      const minutes = leg && (leg.endAt.getTime() - leg.startAt.getTime()) / 60_000;
      const endsWith = timers.find(({ dueAt }) => leg && dueAt.getTime() === leg.endAt.getTime())?.name;
      return { etaMinutes: offers[0]?.etaMinutes, minutes, endsWith };
    };
    const first = await drivenUntil('offer', 'accept');
    expect(first).to.deep.equal({ etaMinutes: 2, minutes: 2, endsWith: 'arrive' });
    const second = await drivenUntil('arrive', 'start');
    expect(second).to.deep.equal({ etaMinutes: 2, minutes: 4, endsWith: 'complete' });
  });
});
