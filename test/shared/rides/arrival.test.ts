import { expect } from 'chai';
import { haversineKm } from '../../../shared/base/great-circle.ts';
import { driveMs, type ExpectedRide, etaOf, latenessAhead } from '../../../shared/rides/arrival.ts';
import { encodeLine, lengthKm, pathAlong, pointAlong } from '../../../shared/rides/path.ts';
import { legBetween } from '../../../shared/rides/position.ts';
import { rideStatuses } from '../../../shared/rides/ride-types.ts';
import { cornerRoad } from '../../support/router.ts';

const start = 1_700_000_000_000;
const minuteMs = 60_000;
const from = { lat: 57.6994, lng: 11.953 };
const pickup = { lat: 57.7077, lng: 11.9 };
const destination = { lat: 57.75, lng: 11.9 };
const road = cornerRoad(from, pickup);
const path = pathAlong(road);
const seconds = 600;
const route: ExpectedRide['route'] = {
  ...{ to: 'pickup', at: new Date(start), from },
  road: { line: encodeLine(road), km: lengthKm(path), seconds },
};
const ride = (changes: Partial<ExpectedRide> = {}): ExpectedRide => ({
  ...{ status: 'driver_arriving', statusAt: new Date(start), distanceKm: 5, pickup, destination, route },
  ...{ acceptedOfferId: 'offer_1', offers: [{ offerId: 'offer_1', etaMinutes: 9 }], ...changes },
});
/** A ride whose car has driven this share of the road after this time. */
const driven = (share: number, minutes: number, changes: Partial<ExpectedRide> = {}) =>
  ride({
    reported: { ...pointAlong(path, share * lengthKm(path)).at, heading: 0, at: new Date(start + minutes * minuteMs) },
    ...changes,
  });
const minutesLeft = (expected: ExpectedRide, minutes: number) => {
  const eta = etaOf(expected, start + minutes * minuteMs);
  return { left: ((eta?.at ?? Number.NaN) - start) / minuteMs - minutes, source: eta?.source };
};

describe('the ETA', () => {
  it('a ride has one only while its car is on its way', () => {
    const shown = rideStatuses.filter((status) => etaOf(ride({ status }), start));
    expect(shown).to.deep.equal(['driver_arriving', 'in_progress']);
  });

  it('on its road, a car needs the rest of the duration, corrected by its own speed so far, within limits', () => {
    expect(minutesLeft(driven(0, 0), 0).left).to.be.closeTo(10, 0.01);
    expect(minutesLeft(driven(0.5, 5), 5).left).to.be.closeTo(5, 0.01);
    // 10 minutes for what should have taken 5: with 2 minutes of trust, 12/7 as slow.
    expect(minutesLeft(driven(0.5, 10), 10).left).to.be.closeTo((5 * 12) / 7, 0.01);
    expect(minutesLeft(driven(0.5, 2), 2).left).to.be.closeTo((5 * 4) / 7, 0.01);
    expect(minutesLeft(driven(0.1, 60), 60).left).to.be.closeTo(18, 0.01);
    expect(etaOf(driven(1, 9), start + 9 * minuteMs)).to.deep.equal({
      ...{ minutes: 0, at: start + 9 * minuteMs, source: 'route' },
    });
  });

  it('away from its road, or without one, a car needs the great circle times 1.7 at 30 km/h', () => {
    const reported = { lat: 57.69, lng: 11.9, heading: 0, at: new Date(start) };
    const expected = driveMs(haversineKm(reported, pickup)) / minuteMs;
    for (const changes of [{}, { route: undefined }, { route: { to: 'pickup', at: new Date(start) } as const }]) {
      const { left, source } = minutesLeft(ride({ reported, ...changes }), 0);
      expect(left).to.be.closeTo(expected, 0.01);
      expect(source).to.equal('estimate');
    }
    expect(driveMs(30)).to.equal(1.7 * 3_600_000);
  });

  it('the road of the leg before does not count', () => {
    const { source } = minutesLeft(driven(0.5, 5, { status: 'in_progress' }), 5);
    expect(source).to.equal('estimate');
  });

  it('a car whose last report is from before its leg drives from then on, on its road or not', async () => {
    const reported = { lat: 57.69, lng: 11.9, heading: 0, at: new Date(start - 20 * minuteMs) };
    const estimated = driveMs(haversineKm(reported, pickup)) / minuteMs;
    expect(minutesLeft(ride({ reported }), 0).left).to.be.closeTo(estimated, 0.01);
    expect(minutesLeft(driven(0, -20), 0).left).to.be.closeTo(10, 0.01);
  });

  it('without a position, it is what the driver has promised, but not before now', () => {
    expect(minutesLeft(ride(), 0)).to.deep.equal({ left: 9, source: 'estimate' });
    expect(minutesLeft(ride(), 20)).to.deep.equal({ left: 0, source: 'estimate' });
  });

  it('a simulated car arrives at the end of its drive, on a road or not', () => {
    const leg = legBetween(from, pickup, new Date(start), 2 * minuteMs);
    expect(minutesLeft(ride({ leg }), 1)).to.deep.equal({ left: 1, source: 'route' });
    expect(minutesLeft(ride({ leg, route: undefined }), 1)).to.deep.equal({ left: 1, source: 'estimate' });
  });

  it('the driver of a ride for later comes at its time, and has not been slow while waiting', () => {
    const pickupAt = new Date(start + 60 * minuteMs);
    expect(minutesLeft(driven(0, 20, { pickupAt }), 20).left).to.equal(40);
    expect(minutesLeft(driven(0, 58, { pickupAt }), 58).left).to.be.closeTo(10, 0.01);
  });

  it('a car that will be at the pickup 3 minutes late or more is late before it happens', () => {
    const lateBy = (expected: ExpectedRide, minutes: number) => {
      const ms = latenessAhead(expected, start + minutes * minuteMs);
      return ms === null ? null : Math.round(ms / minuteMs);
    };
    // The offer promised 9 minutes.
    expect(lateBy(driven(0, 0), 0)).to.equal(null);
    expect(lateBy(driven(0.1, 4), 4)).to.equal(13);
    expect(lateBy(driven(0.5, 5), 5)).to.equal(null);
    const pickupAt = new Date(start + 60 * minuteMs);
    expect(lateBy(driven(0, 52, { pickupAt }), 52)).to.equal(null);
    expect(lateBy(driven(0, 58, { pickupAt }), 58)).to.equal(8);
    expect(lateBy(driven(0.1, 30, { status: 'in_progress' }), 30)).to.equal(null);
  });
});
