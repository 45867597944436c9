import { expect } from 'chai';
import type { ShownRequest, ShownRide } from '../../../shared/rides/driver/driver-schemas.ts';
import { type Action, openRequests, withOffers, withSteps } from '../../../web/drive/actions.ts';
import { driveLanguage } from '../../../web/drive/drive-languages.ts';
import { counterStep, driveWords, mapAddress, timeLeft } from '../../../web/drive/drive-words.ts';
import { wayBetween } from '../../../web/kit/directions.ts';

const { lostOffer, notesOf, pickupWords, positionWords, requestWords, specialWords } = driveWords(driveLanguage('en'));

const here = { lat: 40, lng: -74 };
const trip = { fare: 20, carType: 'regular', rideType: 'standard', passengerCount: 1, distanceKm: 5 } as const;
const request = (rideId: string): ShownRequest => ({
  ...{ ...trip, rideId, pickup: here, destination: { lat: 39.9, lng: -74 }, pickupKm: 1.25, biddingEndsAt: 0 },
});

describe("directions on the driver's page", () => {
  const directions: [to: { lat: number; lng: number }, degrees: number, direction: string][] = [
    [{ lat: 41, lng: -74 }, 0, 'n'],
    [{ lat: 41, lng: -72.7 }, 44.4, 'ne'],
    [{ lat: 40, lng: -73 }, 89.7, 'e'],
    [{ lat: 39, lng: -74 }, 180, 's'],
    [{ lat: 40, lng: -75 }, 270.3, 'w'],
    [{ lat: 41, lng: -75.3 }, 315.6, 'nw'],
  ];
  for (const [to, degrees, direction] of directions) {
    it(`the direction from ${here.lat}, ${here.lng} to ${to.lat}, ${to.lng} is ${direction}`, () => {
      const way = wayBetween(here, to);
      expect(way.degrees).to.be.closeTo(degrees, 0.5);
      expect(way).to.include({ direction });
    });
  }

  it('the direction across the date line is the shorter one', () => {
    expect(wayBetween({ lat: 0, lng: 179.9 }, { lat: 0, lng: -179.9 })).to.include({ direction: 'e' });
  });

  it('a place within 50 m is here, without a direction', () => {
    expect(wayBetween(here, { lat: 40.0003, lng: -74 }))
      .to.include({ direction: 'here' })
      .and.not.have.property('degrees');
  });

  it('the announcement of a request has the direction of the pickup only if the position is known', () => {
    const from = (place: typeof here | null) => requestWords(request('ride_1'), place);
    expect(from(null)).to.equal('New request: $20.00, pickup 1.3 km, trip 5.0 km south, 1 passenger');
    expect(from({ lat: 40.01, lng: -74 })).to.include('pickup 1.1 km south, trip');
  });
});

describe("words on the driver's page", () => {
  it('a counter-offer changes in steps of about 5 % of the fare', () => {
    const fares = [1, 5, 10, 24.5, 25, 40, 60, 100, 150, 240, 1_240];
    expect(fares.map(counterStep)).to.deep.equal([0.25, 0.25, 0.5, 1.25, 1.25, 2, 3, 5, 7.5, 10, 60]);
  });

  it('the age of the position says when the driver receives no requests', () => {
    expect([null, 0, 12_300, 60_000].map(positionWords)).to.deep.equal([
      'Position: not sent',
      'Position: now',
      'Position: 12 s ago',
      'Position: over a minute ago. You receive no requests.',
    ]);
  });

  it('the URL for maps suits the phone', () => {
    expect(mapAddress(here, 'Mozilla/5.0 (iPhone)')).to.equal('https://maps.apple.com/?daddr=40,-74');
    expect(mapAddress(here, 'Mozilla/5.0 (Linux; Android 16)')).to.equal('geo:40,-74?q=40,-74');
  });

  it('an unsent decline hides only its request', () => {
    const decline: Action = { id: 'a', kind: 'decline', rideId: 'ride_1' };
    const open = openRequests([request('ride_1'), request('ride_2')], [decline]);
    expect(open.map(({ rideId }) => rideId)).to.deep.equal(['ride_2']);
  });
});

const ride = (status: ShownRide['status']): ShownRide => ({
  ...{ ...trip, rideId: 'ride_1', status, statusAt: 0, agreedPrice: 25, pickup: here, destination: here },
});
const asked = request('ride_1');
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
    const offerAfter = (...actions: Action[]) => withOffers(asked, actions).offer;
    expect(offerAfter(offer)).to.include({ price: 25, etaMinutes: 4 });
    expect(offerAfter({ ...offer, offerId: 'offer_1' }, withdraw)).to.equal(undefined);
    const stored = { ...asked, offer: { offerId: 'offer_1', price: 20, etaMinutes: 3 } };
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

describe("the needs of a ride on the driver's page", () => {
  it('a request shows its pickup time and its needs, and nothing without either', () => {
    expect(specialWords({})).to.equal('');
    expect(specialWords({ needs: ['child_seat', 'pet'] })).to.equal('Needs: child seat, pet');
    expect(specialWords({ needs: ['pet'], pickupAt: Date.UTC(2026, 10, 24, 12) })).to.match(/^Pickup .+\nNeeds: pet$/);
  });

  it('the pickup time has a date only if it is on another day, also in the zone of the reader', () => {
    const utc = { timeZone: 'UTC', timeZoneName: 'short' } as const;
    const pickupAt = Date.UTC(2026, 10, 24, 0, 30);
    // Some versions of ICU write a narrow space before AM.
    const words = (now: number) => pickupWords({ pickupAt }, utc, now).replaceAll(/\s/g, ' ');
    expect(words(Date.UTC(2026, 10, 24, 0, 1))).to.equal('Pickup at 12:30 AM UTC');
    expect(words(Date.UTC(2026, 10, 23, 23, 59))).to.equal('Pickup Nov 24, 12:30 AM UTC');
    expect(pickupWords({}, utc)).to.equal('');
  });

  it("the driver's ride shows its needs before the notes, and nothing without either", () => {
    expect(notesOf({})).to.equal('');
    expect(notesOf({ notes: 'needs a hand' })).to.equal('needs a hand');
    expect(notesOf({ needs: ['wheelchair'] })).to.equal('Needs: wheelchair');
    expect(notesOf({ needs: ['pet'], notes: 'Two cats' })).to.equal('Needs: pet. Two cats');
  });
});
