import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { greatCircleKm } from '../../../shared/base/great-circle.ts';
import { pointAt } from '../../../shared/rides/position.ts';
import type { Driver, TestScenario } from '../../../shared/rides/ride-types.ts';
import {
  nextSimulatedOffer,
  nextStep,
  offerStepOf,
  simulatedDriveMs,
  simulatedOffer,
  simulatedStart,
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
    simulatedOffer({ fare: 20, scenario: undefined, rebids: undefined, ...changes }, step);
  const text = ({ driver, price, etaMinutes }: ReturnType<typeof simulatedOffer>) =>
    [driver.driverId, driver.name, driver.phone, driver.rating, driver.vehicle, driver.plate, price, etaMinutes].join(
      '|',
    );

  it('each step of the script has a driver of its own', () => {
    expect((['offer', 'offer_2', 'offer_3'] as const).map((step) => text(offerOf(step)))).to.deep.equal([
      'sim_1|Alex Rivera|+12025550143|4.9|Toyota Camry, silver|TST 1043|20|4',
      'sim_2|Sam Okafor|+12025550168|4.7|Honda Accord, black|TST 1068|20|7',
      'sim_3|Kim Larsen|+12025550191|4.8|Kia Niro, white|TST 1091|20|2',
    ]);
  });

  it('a successor has other drivers, with the same cars', () => {
    const shown = [0, 1, 2, 3].flatMap((rebids) =>
      (['offer', 'offer_2', 'offer_3'] as const).map((step) => text(offerOf(step, { rebids }))),
    );
    expect(shown.slice(0, 1)).to.deep.equal([text(offerOf('offer'))]);
    expect(shown.slice(3, 9)).to.deep.equal([
      'sim_1-1|Chris Moreau|+12025550173|4.9|Toyota Camry, silver|TST 2073|20|4',
      'sim_2-1|Ines Duarte|+12025550174|4.7|Honda Accord, black|TST 2074|20|7',
      'sim_3-1|Jo Lindqvist|+12025550175|4.8|Kia Niro, white|TST 2075|20|2',
      'sim_1-2|Ravi Menon|+12025550176|4.9|Toyota Camry, silver|TST 2076|20|4',
      'sim_2-2|Mia Kowalski|+12025550177|4.7|Honda Accord, black|TST 2077|20|7',
      'sim_3-2|Noor Haddad|+12025550178|4.8|Kia Niro, white|TST 2078|20|2',
    ]);
    expect(new Set(shown.map((each) => each.split('|')[2])).size).to.equal(12);
  });

  for (const [scenario, fare, prices] of [
    ['default', 20, [20, 20, 20]],
    ['default', 20.123, [20.123, 20.123, 20.123]],
    ['counter_offer', 20, [24, 20, 20]],
    ['three_offers', 20, [22, 20, 25]],
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
      nextSimulatedOffer({ fare: 20, scenario: 'counter_offer', offers, ...changes } as never);
    const seen: string[] = [];
    for (let count = 0; count < 12; count += 1) {
      const offer = next();
      seen.push(text(offer));
      offers.push(offer);
    }
    expect(seen.map((each) => each.split('|')[0])).to.deep.equal(
      Array.from({ length: 12 }, (_, index) => `sim_${index + 1}`),
    );
    expect(seen[0]?.split('|')[6]).to.equal('24');
    expect(seen.slice(3, 5)).to.deep.equal([
      'sim_4|Ravi Menon|+12025550104|4.6|Nissan Leaf, blue|TST 2004|20|7',
      'sim_5|Mia Kowalski|+12025550105|4.6|Nissan Leaf, blue|TST 2005|20|8',
    ]);
    expect(seen[11]).to.match(/^sim_12\|Noor Haddad\|\+12025550112\|4.6\|.*\|TST 2012\|20\|5$/);
    expect(next({ offers: [], excludedDrivers: ['sim_1'] }).driver.driverId).to.equal('sim_2');
    const withdrawn = offers.map((each) => ({ ...each, withdrawnAt: new Date() }));
    expect(next({ offers: withdrawn }).driver.driverId).to.equal('sim_1');
    expect(next({ offers: [], rebids: 2 }).driver.driverId).to.equal('sim_1-2');
  });

  it('the driver of a script step is known from its id, also on a successor', () => {
    const stepOf = (driverId: string) => offerStepOf({ driverId } as Driver);
    expect(
      ['sim_1', 'sim_2', 'sim_3', 'sim_1-3', 'sim_4', 'sim_1-33', 'sim_1-3x', 'sim-1_1'].map(stepOf),
    ).to.deep.equal([...['offer', 'offer_2', 'offer_3', 'offer'], ...[undefined, undefined, undefined, undefined]]);
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
