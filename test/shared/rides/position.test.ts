import { expect } from 'chai';
import fc from 'fast-check';
import { greatCircleKm, haversineKm } from '../../../shared/base/great-circle.ts';
import { encodeLine, lengthKm, nearestOn, pathAlong } from '../../../shared/rides/path.ts';
import { arrivalHeading, legBetween, pointAt, positionAt } from '../../../shared/rides/position.ts';
import {
  type Leg,
  type Location,
  type RideStatus,
  type Route,
  rideStatuses,
} from '../../../shared/rides/ride-types.ts';
import { cornerRoad } from '../../support/router.ts';

const startAt = new Date('2026-01-01T12:00:00Z');
const durationMs = 1_000;
const drive = (from: [number, number], to: [number, number], lastHeading?: number): Leg =>
  legBetween({ lat: from[0], lng: from[1] }, { lat: to[0], lng: to[1] }, startAt, durationMs, lastHeading);
const at = (leg: Leg, share: number, status: RideStatus = 'in_progress') =>
  positionAt({ status, leg }, startAt.getTime() + share * durationMs);

describe('great-circle distance', () => {
  it('greatCircleKm is correct to two decimals for a degree, a quarter and half of the earth, and zero', () => {
    const km = (from: [number, number], to: [number, number]) =>
      greatCircleKm({ lat: from[0], lng: from[1] }, { lat: to[0], lng: to[1] });
    // R = 6371.0088 km: 111.19508, 10007.557, 20015.114
    expect(km([0, 0], [1, 0])).to.equal(111.2);
    expect(km([0, 0], [0, 90])).to.equal(10_007.56);
    expect(km([90, 0], [-90, 0])).to.equal(20_015.11);
    expect(km([0, 0], [0, 180])).to.equal(20_015.11);
    expect(km([40.7128, -74.006], [40.7128, -74.006])).to.equal(0);
    expect(km([0, 179.5], [0, -179.5])).to.equal(111.2);
    expect(km([90, 0], [90, 135])).to.equal(0);
    // Antipodes for which rounding errors exceed the range of the arc sine.
    for (const [lat, lng] of [
      [5.2174, 145.5125],
      [72.1068, 136.0795],
      [85.336, 130.0191],
    ] as const) {
      expect(km([lat, lng], [-lat, lng - 180])).to.equal(20_015.11);
    }
  });
});

describe('the position of the car', () => {
  it('the car is at the start before the drive, and at the end after it', () => {
    const leg = drive([10, 20], [11, 20]);
    expect(at(leg, 500)).to.include({ lat: 11, lng: 20, heading: 0 });
    expect(at(leg, -500)).to.include({ lat: 10, lng: 20, heading: 0 });
    const atOnce = legBetween(leg.from, leg.to, startAt, 0);
    expect(at(atOnce, 0)).to.include({ lat: 11, lng: 20, heading: 0 });
  });

  it('the car is at the end of the drive once the driver has arrived, at any time', () => {
    expect(at(drive([10, 20], [11, 20]), 0.3, 'arrived')).to.include({
      lat: 11,
      lng: 20,
      heading: 0,
      status: 'arrived',
    });
  });

  it('a waiting car keeps the heading of its arrival, also on a trip of zero length', () => {
    const pickup = drive([40.7128, -74.006], [35.6762, 139.6503]);
    const trip = drive([35.6762, 139.6503], [35.6762, 139.6503], arrivalHeading(pickup));
    const waiting = at(pickup, 7, 'arrived')?.heading;
    for (const share of [0, 0.5, 1]) expect(at(trip, share)?.heading).to.equal(waiting);
    expect(at(trip, 1, 'arrived')?.heading).to.equal(waiting);
  });

  it('a ride has a position only while it is moving', () => {
    const leg = drive([10, 20], [11, 20]);
    const shown = rideStatuses.filter((status) => positionAt({ status, leg }, startAt.getTime()) !== null);
    expect(shown).to.deep.equal(['driver_arriving', 'arrived', 'in_progress']);
    const reported = { lat: 1, lng: 2, heading: 3, at: new Date(4) };
    expect(positionAt({ status: 'arrived', leg, reported }, startAt.getTime())).to.deep.equal({
      ...{ lat: 1, lng: 2, heading: 3, status: 'arrived', at: 4 },
    });
    expect(positionAt({ status: 'bidding', leg, reported }, startAt.getTime())).to.equal(null);
    expect(positionAt({ status: 'in_progress', leg: undefined }, startAt.getTime())).to.equal(null);
  });

  it('the position is valid and on the way between the ends, for any drive at any time', () => {
    const place = fc.record({
      lat: fc.double({ min: -90, max: 90, noNaN: true }),
      lng: fc.double({ min: -180, max: 180, noNaN: true }),
    });
    fc.assert(
      fc.property(place, place, fc.double({ min: -1, max: 2, noNaN: true }), (from, to, share) => {
        const here = at(legBetween(from, to, startAt, durationMs), share);
        if (!here) throw new Error('no position');
        expect(here.lat).to.be.within(-90, 90);
        expect(here.lng).to.be.within(-180, 180);
        expect(here.heading).to.be.at.least(0).and.below(360);
        const [way, left] = [greatCircleKm(from, to), greatCircleKm(here, to)];
        const done = Math.min(1, Math.max(0, share));
        expect(left).to.be.closeTo(way * (1 - done), 0.1);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the heading of the car', () => {
  const place = fc.record({
    lat: fc.double({ min: -89, max: 89, noNaN: true }),
    lng: fc.double({ min: -180, max: 180, noNaN: true }),
  });
  const isApart = (from: Location, to: Location) => greatCircleKm(from, to) > 1 && greatCircleKm(from, to) < 20_000;
  const turn = (one: number, other: number) => Math.abs(((one - other + 540) % 360) - 180);
  const anyShare = fc.double({ min: 0, max: 1, noNaN: true });

  it('the heading points to the next position of the car, for any drive at any time', () => {
    fc.assert(
      fc.property(place, place, anyShare, (from, to, share) => {
        fc.pre(isApart(from, to));
        const leg = legBetween(from, to, startAt, durationMs);
        const [here, later] = [at(leg, share * 0.99), at(leg, share * 0.99 + 0.01)];
        if (!here || !later) throw new Error('no position');
        const stepKm = greatCircleKm(from, to) / 100;
        // The tolerance covers the heading, which is rounded to a tenth of a degree, and the rounded coordinates.
        expect(greatCircleKm(pointAt(here, stepKm, here.heading), later)).to.be.at.most(0.02 + stepKm * 0.002);
      }),
      { numRuns: 1_000 },
    );
  });

  it('the heading changes continuously; at the end it is opposite to the start of the way back', () => {
    fc.assert(
      fc.property(place, place, (from, to) => {
        fc.pre(isApart(from, to));
        const leg = legBetween(from, to, startAt, durationMs);
        const wayBack = legBetween(to, from, startAt, durationMs);
        expect(turn(at(leg, 1)?.heading ?? 0, wayBack.heading + 180)).to.be.at.most(0.2);
        expect(turn(at(leg, 0)?.heading ?? 0, leg.heading)).to.equal(0);
        expect(turn(at(leg, 1 - 1e-9)?.heading ?? 0, arrivalHeading(leg))).to.be.at.most(0.2);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('a point at a distance', () => {
  it('pointAt returns a point at the given distance and heading', () => {
    const from = { lat: 40.7128, lng: -74.006 };
    for (const heading of [0, 77, 180, 301]) {
      expect(greatCircleKm(from, pointAt(from, 1.2, heading))).to.equal(1.2);
    }
    expect(pointAt({ lat: 0, lng: 179.999 }, 1.2, 90).lng).to.be.within(-180, -179.9);
  });
});

describe('the car on the road', () => {
  const [from, to] = [
    { lat: 57.6994, lng: 11.953 },
    { lat: 57.7077, lng: 11.93847 },
  ];
  const road = cornerRoad(from, to);
  const line = pathAlong([from, ...road, to]);
  const onRoad = (joinShare: number, share: number, status: RideStatus = 'in_progress') => {
    const leg = legBetween(from, to, startAt, durationMs);
    const joined = new Date(startAt.getTime() + joinShare * durationMs);
    const route: Route = {
      to: status === 'arrived' ? 'pickup' : 'destination',
      ...{ at: joined, from, road: { line: encodeLine(road), km: lengthKm(line), seconds: 200 } },
    };
    const place = positionAt({ status, leg, route }, startAt.getTime() + share * durationMs);
    if (!place) throw new Error('no place');
    return place;
  };
  const shares = Array.from({ length: 201 }, (_, index) => index / 200);

  it('a car that joins the road at the start drives along it, evenly, with the heading of the road', () => {
    for (const share of shares) {
      const { offKm, km } = nearestOn(line, onRoad(0, share));
      expect(offKm).to.be.below(0.001);
      expect(km).to.be.closeTo(share * lengthKm(line), 0.01);
    }
    // Around the corner: first west, then north.
    expect(onRoad(0, 0.2).heading).to.be.closeTo(270, 0.1);
    expect(onRoad(0, 0.9).heading).to.be.closeTo(0, 0.1);
    expect(onRoad(0, 0.3, 'arrived')).to.include({ ...to, heading: onRoad(0, 1).heading });
  });

  for (const joinShare of [0, 0.1, 0.5, 0.97]) {
    it(`a car that joins the road after ${joinShare} of the drive never jumps and never drives back`, () => {
      const places = shares.map((share) => onRoad(joinShare, share));
      // Where it joins, it drives from the great circle to the part of the road that is left.
      const stepKm = lengthKm(line) / (shares.length - 1) + haversineKm(from, to) / 10;
      places.slice(1).forEach((place, index) => {
        expect(haversineKm(places[index] as Location, place)).to.be.below(stepKm);
      });
      const after = places
        .filter((_, index) => (shares[index] ?? 0) > joinShare)
        .map((place) => nearestOn(line, place));
      const joined = after.slice(after.findIndex(({ offKm }) => offKm < 0.001));
      joined.slice(1).forEach(({ offKm, km }, index) => {
        expect(offKm).to.be.below(0.001);
        expect(km).to.be.at.least((joined[index]?.km ?? 0) - 1e-6);
      });
      expect(places.at(-1)).to.include(to);
    });
  }

  it('a route of the leg before, a route without a road and a road that comes too late change nothing', () => {
    const leg = legBetween(from, to, startAt, durationMs);
    const half = startAt.getTime() + durationMs / 2;
    const straight = positionAt({ status: 'in_progress', leg }, half);
    const found = { line: encodeLine(road), km: 3, seconds: 200 };
    for (const route of [
      { to: 'pickup', at: startAt, road: found },
      { to: 'destination', at: startAt },
      { to: 'destination', at: leg.endAt, road: found },
      { to: 'destination', at: startAt, road: { ...found, line: 'é' } },
    ] as Route[]) {
      expect(positionAt({ status: 'in_progress', leg, route }, half)).to.deep.equal(straight);
    }
  });
});
