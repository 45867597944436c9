import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { greatCircleKm } from '../../../shared/base/great-circle.ts';
import { pointAt } from '../../../shared/rides/position.ts';
import type { Driver, TestScenario } from '../../../shared/rides/ride-types.ts';
import { simulatedStart } from '../../../shared/rides/simulated-leg.ts';
import {
  nextSimulatedOffer,
  nextStep,
  offerStepOf,
  people,
  simulatedDriveMs,
  simulatedOffer,
  simulatedTimers,
} from '../../../shared/rides/simulation.ts';

const trip = 'offer 2000, accept 3000, arrive 3000, start 3000, complete 3000';
const scripts: Record<TestScenario, string> = {
  ...{
    default: trip,
    counter_offer: trip,
    rate_limited: trip,
    unavailable: trip,
    duplicate_event: trip,
    no_offers: '',
  },
  three_offers: 'offer 2000, offer_2 500, offer_3 500, accept 2000, arrive 3000, start 3000, complete 3000',
  no_auto_accept: 'offer 2000',
  three_offers_no_accept: 'offer 2000, offer_2 500, offer_3 500',
  offer_withdrawn: 'offer 2000, withdraw 2000',
  driver_cancels: 'offer 2000, accept 3000, arrive 3000, driver_cancel 3000',
  stalls: 'offer 2000, accept 3000',
  slow: 'offer 5000, accept 10000, arrive 120000, start 30000, complete 240000',
};

describe('the script of each test scenario', () => {
  for (const [scenario, script] of Object.entries(scripts) as [TestScenario, string][]) {
    it(`${scenario} has the steps: ${script}`, () => {
      const steps: string[] = [];
      for (let next = nextStep(scenario, 'create'); next; next = nextStep(scenario, next.step)) {
        steps.push(`${next.step} ${next.afterMs}`);
      }
      expect(steps.join(', ')).to.equal(script);
    });
  }

  it('a drive lasts until the next step of the script, and 3 s if there is none', () => {
    expect(simulatedDriveMs('slow', 'accept')).to.equal(120_000);
    expect(simulatedDriveMs('slow', 'start')).to.equal(240_000);
    for (const scenario of ['stalls', undefined] as const) {
      expect(simulatedDriveMs(scenario, 'start')).to.equal(3_000);
    }
  });

  it('a step has a timer only in test mode, sooner at a higher speed', () => {
    const now = new Date(10_000);
    const timers = (mode: 'test' | 'live', done?: 'create' | 'complete', scenario?: TestScenario) =>
      simulatedTimers({ mode, scenario }, done, now, { simulationSpeed: 4 });
    expect(timers('test', 'create')).to.deep.equal([{ name: 'offer', dueAt: new Date(10_500) }]);
    expect(timers('test', 'create', 'slow')).to.deep.equal([{ name: 'offer', dueAt: new Date(11_250) }]);
    for (const none of [timers('live', 'create'), timers('test'), timers('test', 'complete')]) {
      expect(none).to.deep.equal([]);
    }
  });
});

describe('the simulated drivers', () => {
  const offerOf = (step: 'offer' | 'offer_2' | 'offer_3', changes: object = {}) =>
    simulatedOffer({ _id: 'ride_1', fare: 20, scenario: undefined, rebids: undefined, ...changes }, step);
  const steps = ['offer', 'offer_2', 'offer_3'] as const;

  it('the three drivers of a ride are three people, always the same for a ride, and differ between rides', () => {
    const seen = new Set<string>();
    for (let number = 0; number < 100; number += 1) {
      const ofRide = { _id: `ride_${number}` };
      const offers = steps.map((step) => offerOf(step, ofRide));
      expect(offers).to.deep.equal(steps.map((step) => offerOf(step, ofRide)));
      expect(new Set(offers.map(({ driver }) => driver.driverId)).size).to.equal(3);
      for (const { driver } of offers) expect(people).to.include(driver);
      expect(offers.map(({ etaMinutes }) => etaMinutes)).to.deep.equal([4, 7, 2]);
      seen.add(offers[0]?.driver.name ?? '');
    }
    expect(seen.size).to.equal(people.length);
    for (const field of ['driverId', 'name', 'phone', 'plate'] as const)
      expect(new Set(people.map((driver) => driver[field])).size, field).to.equal(people.length);
  });

  it('a successor has other drivers, with the same cars', () => {
    const drivers = [0, 1, 2, 3].map((rebids) => steps.map((step) => offerOf(step, { rebids }).driver));
    const [first, second] = drivers;
    expect(second?.map(({ vehicle }) => vehicle)).to.deep.equal(first?.map(({ vehicle }) => vehicle));
    expect(second?.map(({ driverId }) => driverId)).to.deep.equal(first?.map(({ driverId }) => `${driverId}-1`));
    for (const field of ['driverId', 'phone', 'plate'] as const)
      expect(new Set(drivers.flat().map((driver) => driver[field])).size, field).to.equal(12);
  });

  for (const [scenario, fare, prices] of [
    ['default', 20, [20, 20, 20]],
    ['default', 20.123, [20.123, 20.123, 20.123]],
    ['counter_offer', 20, [24, 20, 20]],
    ['counter_offer', 900_000, [1_000_000, 900_000, 900_000]],
    ['three_offers', 20, [22, 20, 25]],
    ['three_offers_no_accept', 20, [22, 20, 25]],
    ['three_offers', 9.99, [10.99, 9.99, 12.49]],
    ['three_offers', 1, [1.1, 1, 1.25]],
    ['three_offers', 0.01, [0.011, 0.01, 0.0125]],
  ] as const) {
    it(`the drivers of ${scenario} ask ${prices.join(', ')} USD for a fare of ${fare} USD`, () => {
      expect(
        (['offer', 'offer_2', 'offer_3'] as const).map((step) => offerOf(step, { scenario, fare }).price),
      ).to.deep.equal(prices);
    });
  }

  it('the ETA is the duration of a drive that takes minutes', () => {
    expect(offerOf('offer', { scenario: 'slow' }).etaMinutes).to.equal(2);
  });

  it('a manual offer is by the next driver who has no live offer and is not excluded, the script first', () => {
    const offers: { driver: Driver; withdrawnAt?: Date }[] = [];
    const next = (changes: object = {}) =>
      nextSimulatedOffer({ _id: 'ride_1', fare: 20, scenario: 'counter_offer', offers, ...changes } as never);
    const own = steps.map((step) => offerOf(step).driver.driverId);
    const seen: string[] = [];
    for (let count = 0; count < 12; count += 1) {
      const offer = next();
      seen.push(offer.driver.driverId);
      offers.push(offer);
    }
    expect(seen).to.deep.equal([...own, ...Array.from({ length: 9 }, (_, index) => `sim_${index + 13}`)]);
    expect((offers as ReturnType<typeof offerOf>[])[0]).to.include({ price: 24 });
    expect((offers as ReturnType<typeof offerOf>[])[3]).to.deep.include({ price: 20, etaMinutes: 6 });
    expect(next({ offers: [], excludedDrivers: own.slice(0, 1) }).driver.driverId).to.equal(own[1]);
    const withdrawn = offers.map((each) => ({ ...each, withdrawnAt: new Date() }));
    expect(next({ offers: withdrawn }).driver.driverId).to.equal(own[0]);
    expect(next({ offers: [], rebids: 2 }).driver.driverId).to.equal(`${own[0]}-2`);
  });

  it('the driver of a script step is known from the ride and the id, also on a successor', () => {
    const own = steps.map((step) => offerOf(step).driver.driverId);
    const stepOf = (driverId: string, rebids?: number) =>
      offerStepOf({ _id: 'ride_1', rebids }, { driverId } as Driver);
    expect([...own, 'sim_13', `${own[0]}-1`].map((id) => stepOf(id))).to.deep.equal([...steps, undefined, undefined]);
    expect(own.map((id) => stepOf(`${id}-3`, 3))).to.deep.equal(steps);
  });

  it('the simulated driver starts 1.2 km from the pickup, in a direction that follows from the id of the ride', () => {
    const pickup = { lat: 40, lng: -70 };
    for (const _id of ['ride_1', 'ride_2', 'ride_3']) {
      const start = simulatedStart({ _id, pickup });
      expect(greatCircleKm(start, pickup)).to.equal(1.2);
      const direction = createHash('sha256').update(_id).digest().readUInt16BE() % 360;
      expect(start).to.deep.equal(pointAt(pickup, 1.2, direction));
    }
  });
});
