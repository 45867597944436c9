import type { Point } from '../../../shared/base/great-circle.ts';
import { newDriverId } from '../../../shared/base/ids.ts';
import { cellsAt } from '../../../shared/drivers/cells.ts';
import { findNearby } from '../../../shared/drivers/nearby.ts';
import { type DriverPosition, notJournaled, positions } from '../../../shared/drivers/positions.ts';
import { pointAt } from '../../../shared/rides/position.ts';
import { assertCount, type Measurement } from '../bench.ts';
import type { Figure } from '../report.ts';
import { median, percentile } from '../statistics.ts';

const middle: Point = { lat: 40.758, lng: -73.9855 };
const wanted = 40;

/** A distribution of drivers around a point. */
interface Crowd {
  name: string;
  /** The share of drivers within 1 km (the crowd); the others are within 30 km. */
  share: number;
  /** The share of the crowd that is busy or has a car of another type. */
  useless: number;
}
const crowds: Crowd[] = [
  { name: 'spread over 30 km', share: 0, useless: 0 },
  { name: '95 % within 1 km', share: 0.95, useless: 0 },
  { name: '95 % within 1 km, 95 % of these useless', share: 0.95, useless: 0.95 },
];

/**
 * Measures the search for a dispatch round's drivers among 100,000 drivers, for a pickup inside the crowd, at its edge
 * and 2 km away.
 */
export const nearest: Measurement = async ({ stack, quick, rounds, say }) => {
  const count = quick ? 20_000 : 100_000;
  const asks = quick ? 100 : 300;
  const figures: Figure[] = [];
  for (const crowd of crowds) {
    say(`nearest drivers: ${count.toLocaleString('en-US')}, ${crowd.name}`);
    await positions.deleteMany({});
    await insert(count, crowd);
    assertCount(count, await positions.countDocuments(), 'positions');
    for (const km of crowd.share > 0 ? [0, 1, 2] : [0]) {
      const othersShare = stack.watchOthers();
      const medians: number[] = [];
      const p99s: number[] = [];
      for (let round = 0; round <= rounds; round++) {
        const ms = await timesOf(asks, pointAt(middle, km, 90));
        if (round === 0) continue;
        medians.push(median(ms));
        p99s.push(percentile(ms, 0.99));
      }
      const name = `nearest of ${count.toLocaleString('en-US')}, ${crowd.name}, from ${km} km`;
      figures.push({ name: `${name}, median`, unit: 'ms', service: medians });
      figures.push({ name: `${name}, p99`, unit: 'ms', service: p99s, goal: '<= 10', others: othersShare() });
    }
  }
  await positions.deleteMany({});
  return figures;
};

async function timesOf(asks: number, pickup: Point): Promise<number[]> {
  const times: number[] = [];
  for (let ask = 0; ask < asks; ask++) {
    // Each search has a slightly different pickup, and the types of rides alternate.
    const ride = { pickup: pointAt(pickup, ask / 1_000, ask), carType: 'comfort', passengerCount: 1 } as const;
    const askedAt = performance.now();
    const search = { radiusKm: 12, passed: [], limit: wanted, now: new Date() };
    const found = await findNearby(ask % 2 ? ride : { ...ride, carType: 'regular' }, search);
    times.push(performance.now() - askedAt);
    assertCount(wanted, found.length, 'drivers found');
  }
  return times;
}

async function insert(count: number, crowd: Crowd): Promise<void> {
  const now = new Date();
  for (let start = 0; start < count; start += 5_000) {
    const batch = Array.from({ length: 5_000 }, (_, index) =>
      positionOf((start + index) / count < crowd.share, crowd, now),
    );
    await positions.insertMany(batch, { ordered: false, writeConcern: notJournaled });
  }
}

function positionOf(isInCrowd: boolean, { useless }: Crowd, now: Date): DriverPosition {
  const place = pointAt(middle, (isInCrowd ? 1 : 30) * Math.sqrt(Math.random()), Math.random() * 360);
  const isUseless = isInCrowd && Math.random() < useless;
  const isBusy = isUseless && Math.random() < 0.5;
  return {
    _id: newDriverId(),
    ...{ lat: place.lat, lng: place.lng, cells: cellsAt(place), heading: 0, at: now, seenAt: now, isOnline: true },
    ...{ available: !isBusy, carType: isUseless ? 'family' : 'comfort', seats: 4, requests: [] },
  };
}
