import { expect } from 'chai';
import { concernedDrivers } from '../../../shared/rides/change-ride.ts';
import type { Offer, RideState } from '../../../shared/rides/ride-types.ts';

const asked = ['a', 'b', 'c'].map((driverId) => ({ driverId, pickupKm: 1 }));
const offerOf = (driverId: string, withdrawnAt?: Date) =>
  ({ driver: { driverId }, ...(withdrawnAt && { withdrawnAt }) }) as Offer;
const ride = (changes: Partial<RideState>) =>
  ({ mode: 'live', status: 'bidding', asked, offers: [], ...changes }) as RideState;
const manyChanges = Array.from({ length: 50 }, () => ({ at: new Date(), fields: [] }));
const driver = { driverId: 'b' } as RideState['driver'];

describe('concernedDrivers', () => {
  const changes: [title: string, before: RideState, after: RideState, concerned: string[]][] = [
    ['a dispatch round concerns the newly asked drivers', ride({ asked: asked.slice(0, 1) }), ride({}), ['b', 'c']],
    ['an offer concerns its driver', ride({}), ride({ offers: [offerOf('c')] }), ['c']],
    [
      'a withdrawn offer concerns its driver',
      ride({ offers: [offerOf('a'), offerOf('c')] }),
      ride({ offers: [offerOf('a'), offerOf('c', new Date())] }),
      ['c'],
    ],
    [
      'a declined request concerns its driver',
      ride({}),
      ride({ asked: asked.map((each) => (each.driverId === 'b' ? { ...each, declinedAt: new Date() } : each)) }),
      ['b'],
    ],
    ['a raised fare concerns all asked drivers', ride({ fare: 20 }), ride({ fare: 25 }), ['a', 'b', 'c']],
    [
      'a change of a ride that remembers its last 50 changes concerns all asked drivers',
      ride({ changes: manyChanges }),
      ride({ changes: [...manyChanges] }),
      [...['a', 'b', 'c']],
    ],
    [
      'an accept concerns the chosen driver and all asked drivers',
      ride({}),
      ride({ status: 'driver_arriving', driver }),
      [...['b', 'a', 'c']],
    ],
    ['a cancel while bidding concerns all asked drivers', ride({}), ride({ status: 'cancelled' }), ['a', 'b', 'c']],
    [
      'a step of the trip concerns only the assigned driver',
      ride({ status: 'driver_arriving', driver }),
      ride({ status: 'arrived', driver }),
      ['b'],
    ],
    [
      'the end of the trip concerns only the assigned driver',
      ride({ status: 'in_progress', driver }),
      ride({ status: 'cancelled', driver }),
      ['b'],
    ],
    ['a test ride concerns no driver', ride({ mode: 'test' }), ride({ mode: 'test', status: 'cancelled' }), []],
  ];
  for (const [title, before, after, concerned] of changes) {
    it(title, () => {
      expect(concernedDrivers(before, after)).to.deep.equal(concerned);
    });
  }
});
