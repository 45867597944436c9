import type { OpenRequest } from './gateway-client.ts';
import { between, type Random } from './random.ts';

/** How a driver takes requests and rides: the shares of them, 0 to 1. */
export interface Temper {
  /** Of the requests, those that the driver bids on. */
  bids: number;
  /** Of the bids, those above the fare. */
  counters: number;
  /** Of the offers, those that are withdrawn again. */
  withdraws: number;
  /** Of the rides, those that the driver cancels. */
  cancels: number;
}

/** What a fleet's drivers are like, and how many of a hundred. */
export const tempers: readonly [percent: number, temper: Temper][] = [
  [50, { bids: 0.4, counters: 0.05, withdraws: 0.02, cancels: 0.01 }],
  [30, { bids: 0.4, counters: 0.9, withdraws: 0.05, cancels: 0.01 }],
  [15, { bids: 0.1, counters: 0.3, withdraws: 0, cancels: 0 }],
  [5, { bids: 0.5, counters: 0.3, withdraws: 0.4, cancels: 0.1 }],
];

export function temperOf(random: Random): Temper {
  let left = random() * 100;
  const found = tempers.find(([percent]) => {
    left -= percent;
    return left < 0;
  });
  return (found ?? (tempers[0] as [number, Temper]))[1];
}

/** What a driver does with a request. The times are those of a person, at real speed. */
export interface Bid {
  price: number;
  etaMinutes: number;
  thinkMs: number;
  /** How long the offer stands, where the driver withdraws it. */
  standsMs?: number;
}

/** The driver's bid on a request, or undefined where the driver lets it pass. */
export function bidOn(
  { fare, pickupKm }: Pick<OpenRequest, 'fare' | 'pickupKm'>,
  { bids, counters, withdraws }: Temper,
  random: Random,
  kmh: number,
): Bid | undefined {
  if (random() >= bids) return undefined;
  const raised = Math.ceil(fare * between(random, 1.05, 1.3) * 2) / 2;
  const price = random() < counters ? raised : fare;
  const etaMinutes = Math.max(1, Math.ceil((pickupKm / kmh) * 60));
  const standsMs = random() < withdraws ? between(random, 2_000, 10_000) : undefined;
  return { price, etaMinutes, thinkMs: between(random, 1_000, 6_000), standsMs };
}
