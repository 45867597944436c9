import type { Config } from '../../shared/base/config.ts';
import { greatCircleKm, type Point } from '../../shared/base/great-circle.ts';
import type { CarType, Mode } from '../../shared/base/terms.ts';
import { fareHint, pricesFor } from '../../shared/fares/fare-hint.ts';
import { moneyText } from '../kit/facts.tsx';
import type { Doubt } from './trip-places.ts';

/** The fare hint of a trip in words, and the fare that it suggests, such as `23.90`; empty without a hint. */
export interface FareWords {
  words: string;
  fare: string;
}

interface Trip {
  from: Point;
  to: Point;
  carType: CarType;
  mode: Mode;
}

export async function fareWords(
  { from, to, carType, mode }: Trip,
  { config, nowMs }: { config: Pick<Config, 'fareTariff'>; nowMs: number },
): Promise<FareWords> {
  const km = greatCircleKm(from, to);
  const length = `${km.toFixed(1)} km`;
  const { basis, base, perKm } = await fareHint({ pickup: from, carType, mode }, { tariff: config.fareTariff, nowMs });
  if (!perKm) return { words: `${length}. Too few rides nearby for a hint.`, fare: '' };
  const { lower, median, upper } = pricesFor(perKm, base, km);
  const usual = lower === upper ? moneyText(median) : `${moneyText(lower)} to ${moneyText(upper)}`;
  return { words: `${length}, ${basisWords[basis ?? 'sample']} ${usual}`, fare: median.toFixed(2) };
}

/** Of a lower hint (USD), the trip is too short to compare fares, or it returns to its start. */
const leastHint = 1;
/** A fare that differs from the usual one by more than this factor is probably mistyped. */
const farFactor = 3;
/** The highest fare (USD) that is not doubted without a hint. */
const mostWithoutHint = 500;

/** The doubt about a fare (USD) that is far from the hint `usual`, or high without a hint. */
export function doubtAboutFare(fare: number, usual: string): Doubt | null {
  const hint = Number(usual);
  const isComparable = hint >= leastHint;
  const isFar = isComparable ? fare > hint * farFactor || fare < hint / farFactor : fare > mostWithoutHint;
  if (!isFar) return null;
  const compared = isComparable ? `; ${moneyText(hint)} is usual for this trip` : '';
  const words = `The fare is ${moneyText(fare)}${compared}. Book the ride if that is right, or change the fare.`;
  return { field: 'fare', words, token: `fare ${fare}` };
}

const basisWords = { rides: 'usually', tariff: 'tariff', sample: 'sample for test rides:' };
