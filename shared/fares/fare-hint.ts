import type { CarType } from '../car-types.ts';
import type { Point } from '../haversine.ts';
import { timeLimit } from '../mongo/durability.ts';
import { dayMs, dayOf } from '../usage/days.ts';
import {
  type FareDay,
  fareDayId,
  fareDays,
  keptDays,
  leastAccounts,
  leastTrips,
  placeOf,
  priceOf,
} from './fare-days.ts';

/** A quarter of the trips came to less than `lower`, a quarter to more than `upper`. */
export interface Quartiles {
  lower: number;
  median: number;
  upper: number;
}

/**
 * What accepted live offers near a pickup came to lately, in US dollars per km (contract, section 10.7); null where there are
 * too few to say it without telling of a single partner. The days change once a day.
 */
export async function faresPerKm(pickup: Point, carType: CarType, nowMs: number): Promise<Quartiles | null> {
  const place = placeOf(pickup, carType);
  const from = fareDayId(place, dayOf(new Date(nowMs - (keptDays + 1) * dayMs)));
  const to = fareDayId(place, dayOf(new Date(nowMs)));
  const options = { ...timeLimit(), limit: keptDays + 2, batchSize: keptDays + 3 };
  return quartilesOf(await fareDays.find({ _id: { $gte: from, $lte: to } }, options).toArray());
}

/** The quartiles of all trips of these days of a place, or null where they are too few. Pure. */
export function quartilesOf(days: readonly Pick<FareDay, 'trips' | 'accounts' | 'prices'>[]): Quartiles | null {
  const trips = days.reduce((sum, day) => sum + day.trips, 0);
  // A day that names fewer than the least number of accounts names all of its accounts.
  const accounts = new Set(days.flatMap((day) => day.accounts));
  if (trips < leastTrips || accounts.size < leastAccounts) return null;
  const prices = days.flatMap((day) => day.prices).sort((a, b) => a.step - b.step);
  const at = (share: number): number => {
    let passed = 0;
    const found = prices.find((price) => {
      passed += price.trips;
      return passed >= share * trips;
    });
    return priceOf(found?.step ?? 0);
  };
  return { lower: at(0.25), median: at(0.5), upper: at(0.75) };
}
