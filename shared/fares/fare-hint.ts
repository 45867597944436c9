import type { Config } from '../base/config.ts';
import type { Point } from '../base/great-circle.ts';
import { timeLimit } from '../base/mongo/durability.ts';
import type { CarType, Mode } from '../base/terms.ts';
import { dayMs, dayOf } from '../usage/days.ts';
import {
  type FareDay,
  fareDayId,
  fareDays,
  keptDays,
  maxAccountShare,
  minAccounts,
  minTrips,
  placeOf,
  priceOf,
} from './fare-days.ts';

/** A quarter of the trips cost less than `lower`, a quarter more than `upper`. */
export interface Quartiles {
  lower: number;
  median: number;
  upper: number;
}

/** Where the prices of a hint come from. */
export const fareBases = ['rides', 'tariff', 'sample'] as const;

/** A hint for a fare: `base` plus the distance times the price per km, in USD. */
export interface FareHint {
  basis: (typeof fareBases)[number] | null;
  base: number;
  perKm: Quartiles | null;
}

/** The prices of a trip of this length by a hint, in USD, rounded to cents and never 0. */
export function pricesFor({ lower, median, upper }: Quartiles, base: number, km: number): Quartiles {
  const dollars = (perKm: number) => Math.max(0.01, Math.round((base + perKm * km) * 100) / 100);
  return { lower: dollars(lower), median: dollars(median), upper: dollars(upper) };
}

/** The hint for every test key: always the same, and without any partner's prices. */
const sample: FareHint = { basis: 'sample', base: 0, perKm: { lower: 3.6, median: 4.5, upper: 5.4 } };

/**
 * The hint for a trip from a pickup (contract, section 10.7): from completed rides nearby; from the operator's tariff
 * if these are too few; otherwise without prices.
 */
export async function fareHint(
  { pickup, carType, mode }: { pickup: Point; carType: CarType; mode: Mode },
  { tariff, nowMs }: { tariff: Config['fareTariff']; nowMs: number },
): Promise<FareHint> {
  if (mode === 'test') return sample;
  const ofRides = await faresPerKm(pickup, carType, nowMs);
  if (ofRides) return { basis: 'rides', base: 0, perKm: ofRides };
  if (!tariff) return { basis: null, base: 0, perKm: null };
  const { base, perKm } = tariff;
  return { basis: 'tariff', base, perKm: { lower: perKm, median: perKm, upper: perKm } };
}

/**
 * The recent prices of completed live rides near a pickup, in USD per km, rounded to 5 %. Null if there are so few
 * rides or accounts that the hint could reveal the prices of one account. The counts change once a day.
 */
export async function faresPerKm(pickup: Point, carType: CarType, nowMs: number): Promise<Quartiles | null> {
  const place = placeOf(pickup, carType);
  const from = fareDayId(place, dayOf(new Date(nowMs - (keptDays + 1) * dayMs)));
  const to = fareDayId(place, dayOf(new Date(nowMs)));
  const options = { ...timeLimit(), limit: keptDays + 2, batchSize: keptDays + 3 };
  return quartilesOf(await fareDays.find({ _id: { $gte: from, $lte: to } }, options).toArray());
}

/** The quartiles of all trips on these days at a place; null if they are too few. Pure. */
function quartilesOf(days: readonly Pick<FareDay, 'trips' | 'accounts' | 'prices'>[]): Quartiles | null {
  const trips = days.reduce((sum, day) => sum + day.trips, 0);
  const ofAccounts = new Map<string, number>();
  for (const account of days.flatMap((day) => day.accounts)) {
    ofAccounts.set(account.code, (ofAccounts.get(account.code) ?? 0) + account.trips);
  }
  if (trips < minTrips || ofAccounts.size < minAccounts) return null;
  if (Math.max(...ofAccounts.values()) > maxAccountShare * trips) return null;
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
