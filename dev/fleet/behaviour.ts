import type { OpenRequest } from './gateway-client.ts';
import { between, type Random } from './random.ts';

/** The choices of a driver, as shares from 0 to 1. */
export interface Behaviour {
  /** The share of requests that the driver bids on. */
  bids: number;
  /** The share of bids above the fare. */
  counters: number;
  /** The share of offers that the driver withdraws. */
  withdraws: number;
  /** The share of rides that the driver cancels. */
  cancels: number;
}

/** The behaviours of a fleet's drivers, with the percentage of drivers who have each. */
const behaviours: readonly [percent: number, behaviour: Behaviour][] = [
  [50, { bids: 0.4, counters: 0.05, withdraws: 0.02, cancels: 0.01 }],
  [30, { bids: 0.4, counters: 0.9, withdraws: 0.05, cancels: 0.01 }],
  [15, { bids: 0.1, counters: 0.3, withdraws: 0, cancels: 0 }],
  [5, { bids: 0.5, counters: 0.3, withdraws: 0.4, cancels: 0.1 }],
];

export function behaviourOf(random: Random): Behaviour {
  let left = random() * 100;
  const found = behaviours.find(([percent]) => {
    left -= percent;
    return left < 0;
  });
  return (found ?? (behaviours[0] as [number, Behaviour]))[1];
}

/** A driver's bid. The times are those of real life, before the fleet's speed-up. */
interface Bid {
  price: number;
  etaMinutes: number;
  thinkMs: number;
  /** The time until the driver withdraws the offer; undefined to keep it. */
  withdrawAfterMs?: number;
}

/** Decides the driver's bid on a request; undefined for none. */
export function bidOn(
  { fare, pickupKm }: Pick<OpenRequest, 'fare' | 'pickupKm'>,
  { bids, counters, withdraws }: Behaviour,
  random: Random,
  kmh: number,
): Bid | undefined {
  if (random() >= bids) return undefined;
  const raised = Math.ceil(fare * between(random, 1.05, 1.3) * 2) / 2;
  const price = random() < counters ? raised : fare;
  const etaMinutes = Math.max(1, Math.ceil((pickupKm / kmh) * 60));
  const withdrawAfterMs = random() < withdraws ? between(random, 2_000, 10_000) : undefined;
  return { price, etaMinutes, thinkMs: between(random, 1_000, 6_000), withdrawAfterMs };
}
