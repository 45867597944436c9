import { type Fleet, startFleet } from '../fleet/fleet.ts';
import { hireDrivers } from '../fleet/hire.ts';
import type { Temper } from '../fleet/temper.ts';
import { trip } from './events.ts';

const drivers = 5;
const withinKm = 1.5;
/** A drive through the city is over in seconds. */
const hurry = 60;
const seed = 1;
/** Each bids, some above the fare, and keeps to it. */
const temper: Temper = { bids: 1, counters: 0.6, withdraws: 0, cancels: 0 };

/** Puts drivers online near the demo's pickup. The stack's database has to be connected. */
export async function startLiveDrivers(url: string, speed: number): Promise<Fleet> {
  const keys = (await hireDrivers(drivers, seed, 'regular')).map(({ key }) => key);
  const area = { ...trip.pickup, km: withinKm };
  const pace = { drivingSpeed: hurry * speed, thinkingSpeed: speed, reportMs: 1_000 };
  return startFleet({ url, keys, area, seed, temper, ...pace });
}
