import { expect } from 'chai';
import { assumedKmPerHour } from '../../../shared/rides/arrival.ts';
import { pointAt } from '../../../shared/rides/position.ts';
import { arrivalOf, createSpeedometer } from '../../../web/track/eta.ts';

const start = 1_700_000_000_000;
const place = { lat: 40, lng: -74 };
/** Reports of a car that drives east from `place`, every 2 s. */
function reports({ seconds, kmPerHour, since = 0 }: { seconds: number; kmPerHour: number; since?: number }) {
  return Array.from({ length: seconds / 2 + 1 }, (_, index) => ({
    ...pointAt(place, (kmPerHour * index * 2) / 3_600, 90),
    at: start + (since + index * 2) * 1_000,
  }));
}
function speedAfter(...all: ReturnType<typeof reports>): number {
  const speedometer = createSpeedometer();
  for (const report of all) speedometer.learn(report);
  return speedometer.kmPerHour();
}

describe('ETA of a real car', () => {
  it('the arrival is the time for the way through streets, at the assumed or the given speed', () => {
    const destination = pointAt(place, 10, 45);
    const minutes = (kmPerHour?: number) =>
      (arrivalOf({ ...place, at: start }, destination, kmPerHour) - start) / 60_000;
    expect(minutes()).to.be.closeTo(34, 0.01);
    expect(minutes(60)).to.be.closeTo(17, 0.01);
  });

  it('the speed without reports, or after one, is the assumed one', () => {
    expect(speedAfter()).to.equal(assumedKmPerHour);
    expect(speedAfter(...reports({ seconds: 0, kmPerHour: 0 }))).to.equal(assumedKmPerHour);
  });

  it('the speed approaches that of the last 3 minutes: for 1 minute of assumed speed, 3 of measured speed', () => {
    expect(speedAfter(...reports({ seconds: 180, kmPerHour: 70 }))).to.be.closeTo(60, 1);
    expect(speedAfter(...reports({ seconds: 900, kmPerHour: 70 }))).to.be.closeTo(60, 1);
    expect(speedAfter(...reports({ seconds: 180, kmPerHour: 0 }))).to.be.closeTo(7.5, 0.5);
  });

  it('the noise of a standing phone hardly counts as driving', () => {
    const noisy = reports({ seconds: 180, kmPerHour: 0 }).map((report, index) => ({
      ...report,
      ...pointAt(place, 0.004, (index * 97) % 360),
    }));
    expect(speedAfter(...noisy)).to.be.below(10);
  });

  it('the speed is measured anew after a gap of more than a minute, or if the clock was set back', () => {
    const slow = reports({ seconds: 180, kmPerHour: 0 });
    expect(speedAfter(...slow, ...reports({ seconds: 0, kmPerHour: 0, since: 300 }))).to.equal(assumedKmPerHour);
    expect(speedAfter(...slow, ...reports({ seconds: 0, kmPerHour: 0, since: -3_600 }))).to.equal(assumedKmPerHour);
  });

  it('the speed forgets the reports from before a reset', () => {
    const speedometer = createSpeedometer();
    for (const report of reports({ seconds: 180, kmPerHour: 0 })) speedometer.learn(report);
    speedometer.reset();
    expect(speedometer.kmPerHour()).to.equal(assumedKmPerHour);
  });
});
