import { expect } from 'chai';
import { concernedDrivers } from '../../../shared/rides/change-ride.ts';
import type { Offer, RideState } from '../../../shared/rides/ride-types.ts';

const asked = ['a', 'b', 'c'].map((driverId) => ({ driverId, pickupKm: 1 }));
const offerOf = (driverId: string, withdrawnAt?: Date) =>
  ({ driver: { driverId }, ...(withdrawnAt && { withdrawnAt }) }) as Offer;
const ride = (changes: Partial<RideState>) =>
  ({ mode: 'live', status: 'bidding', asked, offers: [], ...changes }) as RideState;
const driver = { driverId: 'b' } as RideState['driver'];

describe('the drivers whose streams a change of a ride concerns', () => {
  const changes: [what: string, before: RideState, after: RideState, concerned: string[]][] = [
    ['a round: those newly asked', ride({ asked: asked.slice(0, 1) }), ride({}), ['b', 'c']],
    ['an offer: its driver', ride({}), ride({ offers: [offerOf('c')] }), ['c']],
    [
      'a withdrawn offer: its driver',
      ride({ offers: [offerOf('a'), offerOf('c')] }),
      ride({ offers: [offerOf('a'), offerOf('c', new Date())] }),
      ['c'],
    ],
    ['a raised fare: all who were asked', ride({ fare: 20 }), ride({ fare: 25 }), ['a', 'b', 'c']],
    [
      'the accept: the chosen driver and all who were asked',
      ride({}),
      ride({ status: 'driver_arriving', driver }),
      [...['b', 'a', 'c']],
    ],
    ['a cancel while bidding: all who were asked', ride({}), ride({ status: 'cancelled' }), ['a', 'b', 'c']],
    [
      'a step of the trip: the driver alone',
      ride({ status: 'driver_arriving', driver }),
      ride({ status: 'arrived', driver }),
      ['b'],
    ],
    [
      'the end of the trip: the driver alone',
      ride({ status: 'in_progress', driver }),
      ride({ status: 'cancelled', driver }),
      ['b'],
    ],
    ['a test ride: nobody', ride({ mode: 'test' }), ride({ mode: 'test', status: 'cancelled' }), []],
  ];
  for (const [what, before, after, concerned] of changes) {
    it(what, () => {
      expect(concernedDrivers(before, after)).to.deep.equal(concerned);
    });
  }
});
