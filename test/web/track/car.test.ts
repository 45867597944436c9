import { expect } from 'chai';
import { encodeLine, shorterWay } from '../../../shared/rides/path.ts';
import { placeOnLeg, positionAt } from '../../../shared/rides/position.ts';
import { createCar } from '../../../web/track/browser/car.ts';
import { type TrackState, trackState } from '../../../web/track/track-state.ts';
import { cornerRoad } from '../../support/router.ts';

const start = 1_700_000_000_000;
const place = { lat: 40, lng: -74 };
const state = (changes: Partial<TrackState>): TrackState => ({
  now: start,
  status: 'in_progress',
  testMode: true,
  pickup: place,
  destination: place,
  distanceKm: 0,
  steps: [],
  ...changes,
});
/** The car of a real driver with these position reports. */
function reportedCar(...reports: [second: number, lat: number, lng: number, heading: number][]) {
  const car = createCar();
  for (const [second, lat, lng, heading] of reports) {
    const at = start + second * 1_000;
    car.learn(state({ testMode: false, now: at, position: { lat, lng, heading, at } }));
  }
  return { at: (second: number) => car.at(start + second * 1_000) };
}

describe('car on a live map', () => {
  it('the car of a simulated driver is always at the position of liveLocation', () => {
    const leg = { from: place, to: { lat: 40.02, lng: -74.03 }, heading: 0, startAt: start, endAt: start + 9_000 };
    const stored = { ...leg, startAt: new Date(leg.startAt), endAt: new Date(leg.endAt) };
    const car = createCar();
    car.learn(state({ leg, position: { ...place, heading: 0, at: start } }));
    for (const now of [start - 1, start, start + 4_321, start + 9_000, start + 60_000]) {
      const { lat, lng, heading } = positionAt({ status: 'in_progress', leg: stored }, now) ?? {};
      expect(car.at(now)).to.deep.equal({ lat, lng, heading, isOld: false });
    }
  });

  it('the car of a simulated driver stays at the position of liveLocation when a road arrives during the drive', () => {
    const [from, to] = [place, { lat: 40.02, lng: -74.03 }];
    const leg = { from, to, heading: 0, startAt: new Date(start), endAt: new Date(start + 9_000) };
    const road = { line: encodeLine(cornerRoad(from, to)), km: 5, seconds: 400 };
    const route = { to: 'destination', at: new Date(start + 2_000), from, road } as const;
    const states = [{}, { route }].map(
      (found) =>
        trackState({
          ...{ _id: 'ride_1', keyId: 'key_1', accountId: 'acct_1', mode: 'test', status: 'in_progress' },
          ...{ pickup: from, destination: to, distanceKm: 3, offers: [], statusesAt: [] },
          ...{ statusAt: new Date(start), createdAt: new Date(start), now: new Date(start), leg, ...found },
        }) as TrackState,
    );
    const car = createCar();
    for (let now = start; now < start + 9_500; now += 50) {
      const found = now < start + 1_800 ? {} : { route };
      car.learn(states[now < start + 1_800 ? 0 : 1] as TrackState);
      const { lat, lng, heading } = positionAt({ status: 'in_progress', leg, ...found }, now) ?? {};
      expect(car.at(now)).to.deep.equal({ lat, lng, heading, isOld: false });
    }
  });

  it('the car of a simulated driver stays at the pickup after it has arrived, when its leg is gone', () => {
    const leg = { from: { lat: 40.01, lng: -74 }, to: place, heading: 180, startAt: start, endAt: start + 6_000 };
    const car = createCar();
    for (const now of [start, start + 2_000, start + 4_000]) {
      car.learn(state({ now, status: 'driver_arriving', leg, position: { ...placeOnLeg(leg, now), at: now } }));
    }
    const arrivedAt = start + 6_050;
    car.learn(state({ now: arrivedAt, status: 'arrived', position: { ...place, heading: 180, at: arrivedAt } }));
    for (const ms of [0, 500, 1_500, 2_500, 3_500]) expect(car.at(arrivedAt + ms)).to.include(place);
  });

  it('the car of a real driver glides to each report for 1.2 times the time between two reports', () => {
    const car = reportedCar([0, 40, -74, 10], [4, 40.001, -74.002, 20]);
    expect(car.at(4)).to.deep.include({ lat: 40, lng: -74, heading: 10 });
    expect(car.at(6.4)?.lat).to.be.closeTo(40.0005, 1e-9);
    expect(car.at(6.4)?.lng).to.be.closeTo(-74.001, 1e-9);
    expect(car.at(6.4)?.heading).to.be.closeTo(15, 1e-9);
    expect(car.at(9)?.lat).to.be.closeTo(40.001, 1e-9);
  });

  it('the car of a real driver neither jumps nor moves back when its reports arrive irregularly', () => {
    const car = createCar();
    const arrivals = new Map([0, 6, 10, 16, 20, 26].map((second, index) => [second * 10, index * 5]));
    let last = 40;
    for (let tenth = 0; tenth < 300; tenth++) {
      const now = start + tenth * 100;
      const reportedAt = arrivals.get(tenth);
      if (reportedAt !== undefined) {
        const position = { lat: 40 + reportedAt / 10_000, lng: -74, heading: 0, at: start + reportedAt * 1_000 };
        car.learn(state({ testMode: false, now, position }));
      }
      const { lat = 0 } = car.at(now) ?? {};
      // Ten times the car's speed would be a jump.
      expect(lat - last).to.be.within(-1e-9, 0.0001);
      last = lat;
    }
    expect(last).to.be.above(40.002);
  });

  it('the car turns by the shorter way', () => {
    expect(reportedCar([0, 40, -74, 350], [4, 40, -74, 30]).at(6.4)?.heading).to.be.closeTo(370, 1e-9);
    expect([shorterWay(350, 10), shorterWay(10, 350), shorterWay(725, 10)]).to.deep.equal([20, -20, 5]);
  });

  it('the car does not glide over a gap of more than 10 s or a jump of more than 500 m', () => {
    expect(reportedCar([0, 40, -74, 0], [11, 40.001, -74, 0]).at(11)).to.include({ lat: 40.001 });
    expect(reportedCar([0, 40, -74, 0], [4, 40.006, -74, 0]).at(4)).to.include({ lat: 40.006 });
  });

  it('the car follows new reports after the service’s clock was set back by an hour', () => {
    expect(reportedCar([3_600, 41, -74, 0], [1, 40, -74, 0], [3, 40.001, -74, 0]).at(6)).to.include({ lat: 40.001 });
  });

  it('the car ignores a report that is older than the last one', () => {
    expect(reportedCar([4, 41, -74, 0], [1, 40, -74, 0]).at(20)).to.include({ lat: 41 });
  });

  it('the position of the car counts as old 15 s after the last report', () => {
    const car = reportedCar([0, 40, -74, 0]);
    expect([car.at(15)?.isOld, car.at(15.1)?.isOld]).to.deep.equal([false, true]);
  });

  it('the car of a completed ride stays, and never counts as old', () => {
    const car = createCar();
    car.learn(state({ status: 'completed', testMode: false, position: { ...place, heading: 7, at: start } }));
    expect(car.at(start + 3_600_000)).to.include({ ...place, heading: 7, isOld: false });
  });

  it('the car disappears when the state has no position', () => {
    const car = createCar();
    car.learn(state({ position: { ...place, heading: 0, at: start } }));
    car.learn(state({ status: 'cancelled' }));
    expect(car.at(start)).to.equal(null);
  });
});
