import { expect } from 'chai';
import type { ShownRequest, ShownRide } from '../../../shared/rides/driver/driver-schemas.ts';
import { type Action, withOffers, withSteps } from '../../../web/drive/actions.ts';
import { driveLanguage } from '../../../web/drive/drive-languages.ts';
import { driveWords, timeLeft } from '../../../web/drive/drive-words.ts';

const { lostOffer } = driveWords(driveLanguage('en'));

const place = { lat: 0, lng: 0 };
const trip = { fare: 20, carType: 'regular', rideType: 'standard', passengerCount: 1, distanceKm: 5 } as const;
const ride = (status: ShownRide['status']): ShownRide => ({
  ...{ ...trip, rideId: 'ride_1', status, statusAt: 0, agreedPrice: 25, pickup: place, destination: place },
});
const request: ShownRequest = {
  ...{ ...trip, rideId: 'ride_1', pickup: place, destination: place, pickupKm: 1, biddingEndsAt: 0 },
};
const step = (name: 'arrive' | 'start' | 'complete' | 'cancel', rideId = 'ride_1'): Action => ({
  ...{ id: name, kind: 'step', rideId, step: name },
});
const offer: Action = { id: 'a', kind: 'offer', rideId: 'ride_1', price: 25, etaMinutes: 4 };
const withdraw: Action = { id: 'b', kind: 'withdraw', rideId: 'ride_1', offerId: 'offer_1' };

describe('unsent actions of a driver', () => {
  it('unsent steps advance or end the shown ride, but never move it back', () => {
    const statusAfter = (from: ShownRide['status'], ...actions: Action[]) => withSteps(ride(from), actions)?.status;
    expect(statusAfter('driver_arriving')).to.equal('driver_arriving');
    expect(statusAfter('driver_arriving', step('arrive'))).to.equal('arrived');
    expect(statusAfter('driver_arriving', step('arrive'), step('start'))).to.equal('in_progress');
    expect(statusAfter('in_progress', step('arrive'))).to.equal('in_progress');
    expect(statusAfter('arrived', step('start', 'ride_2'))).to.equal('arrived');
    for (const end of ['complete', 'cancel'] as const) {
      expect(withSteps(ride('in_progress'), [step(end)])).to.equal(null);
    }
    expect(withSteps(null, [step('arrive')])).to.equal(null);
  });

  it('a request shows an unsent offer, and hides an offer with an unsent withdrawal', () => {
    const offerAfter = (...actions: Action[]) => withOffers(request, actions).offer;
    expect(offerAfter(offer)).to.include({ price: 25, etaMinutes: 4 });
    expect(offerAfter({ ...offer, offerId: 'offer_1' }, withdraw)).to.equal(undefined);
    const stored = { ...request, offer: { offerId: 'offer_1', price: 20, etaMinutes: 3 } };
    expect(withOffers(stored, [offer]).offer).to.equal(stored.offer);
    expect(withOffers(stored, [withdraw]).offer).to.equal(undefined);
    expect(withOffers(stored, [withdraw, offer]).offer).to.include({ price: 25 });
    expect(withOffers(stored, [{ ...withdraw, offerId: 'offer_2' }]).offer).to.equal(stored.offer);
  });

  it('lostOffer explains why an offer was lost, and timeLeft formats the time left', () => {
    const about = { rideId: 'ride_1' };
    expect(lostOffer({ ...about, outcome: 'other_driver' }, false)).to.equal('The ride went to another driver');
    expect(lostOffer({ ...about, outcome: 'cancelled', cancelledBy: 'partner' }, false)).to.equal(
      'The partner cancelled',
    );
    expect(lostOffer({ ...about, outcome: 'open' }, true)).to.equal('The bidding time is over');
    expect(lostOffer({ ...about, outcome: 'open' }, false)).to.equal(null);
    expect([-1, 0, 1, 59_999, 60_001, 3_661_000].map(timeLeft)).to.deep.equal([
      ...['0:00', '0:00', '0:01', '1:00', '1:01', '1:01:01'],
    ]);
  });
});
