import { expect } from 'chai';
import type { ShownRequest } from '../../../shared/rides/driver/driver-schemas.ts';
import { type Action, openRequests } from '../../../web/drive/actions.ts';
import { wayBetween } from '../../../web/drive/directions.ts';
import { driveLanguage } from '../../../web/drive/drive-languages.ts';
import { counterStep, driveWords, mapAddress } from '../../../web/drive/drive-words.ts';

const { positionWords, requestWords } = driveWords(driveLanguage('en'));

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
