import type { Config } from '../../../shared/base/config.ts';
import { greatCircleKm, type Point } from '../../../shared/base/great-circle.ts';
import type { CarType, Mode } from '../../../shared/base/terms.ts';
import { fareHint, pricesFor } from '../../../shared/fares/fare-hint.ts';
import { moneyText } from '../facts.tsx';

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

const basisWords = { rides: 'usually', tariff: 'tariff', sample: 'sample for test rides:' };
