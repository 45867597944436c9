import { timeLimit } from '../base/mongo/durability.ts';
import type { Mode } from '../base/terms.ts';
import { type ApiKey, keys } from '../keys/api-key.ts';
import { byCreation } from '../keys/list-keys.ts';
import { dayOf, daysBetween, summableUntil } from './days.ts';
import { countRides, type RideCounts, rideSums } from './ride-sums.ts';
import { requestSums, summedThrough } from './usage-progress.ts';

/** One key of an account, and the number of rides created with it. */
export interface KeyUsage {
  keyId: string;
  name: string;
  mode: Mode;
  isRevoked: boolean;
  /** All rides ever created with the key. */
  rides: number;
  /** The rides of the requested period. */
  inPeriod: number;
}

export interface DayUsage {
  /** The day, such as `2026-11-05`. */
  day: string;
  live: number;
  test: number;
}

export interface Usage {
  /** The active keys, and the revoked ones that have or may have rides; oldest first. */
  keys: KeyUsage[];
  /** Each day of the period, oldest first. */
  days: DayUsage[];
  /** The first day with rides (`2026-11-05`) of all time. */
  firstDay?: string;
}

export interface UsageSummary {
  activeKeys: number;
  /** Rides created in total, and by the mode of their key. */
  ridesCreated: number;
  live: number;
  test: number;
  /** Keys with at least one ride. */
  keysWithTraffic: number;
  /** The key with the most rides; of two with the same number, the older one. Missing if the account has no rides. */
  busiest?: { keyId: string; name: string; rides: number };
}

/** A period of whole days: [from, to), both starts of days. */
export interface Period {
  from: Date;
  to: Date;
}

/** An empty period, for usage without days. */
export const noDays: Period = { from: new Date(0), to: new Date(0) };

/**
 * The number of rides ever created with each of these keys of an account (contract, section 1), including revoked keys.
 * Exact: rides that the daily sums do not contain yet are counted from the rides.
 */
export async function ridesByKey(
  accountId: string,
  keyIds: readonly string[],
  nowMs: number,
): Promise<Map<string, number>> {
  const counts = await countAndRequestSums(accountId, keyIds, [], nowMs);
  return new Map(keyIds.map((keyId) => [keyId, counts.get(keyId)?.all ?? 0]));
}

/** Counts the rides, and requests new sums if past days are not summed. */
async function countAndRequestSums(
  accountId: string,
  keyIds: readonly string[],
  months: readonly string[],
  nowMs: number,
) {
  const over = dayOf(summableUntil(nowMs));
  let isLate = false;
  const counts = await countRides(accountId, keyIds, months, (day) => {
    isLate ||= day < over;
  });
  if (isLate) requestSums();
  return counts;
}

/** The usage of an account's keys, and its rides by day in a period. */
export async function usageOf(accountId: string, { from, to }: Period, nowMs: number): Promise<Usage> {
  const stored = await readCountedKeys(accountId);
  const days = daysBetween(from, to);
  const months = [...new Set(days.map((day) => day.slice(0, 7)))];
  const keyIds = stored.map(({ _id }) => _id);
  const counts = await countAndRequestSums(accountId, keyIds, months, nowMs);
  const keys = stored.map(({ _id: keyId, name, mode, revokedAt }): KeyUsage => {
    const { all, byDay } = counts.get(keyId) as RideCounts;
    const inPeriod = days.reduce((sum, day) => sum + (byDay.get(day) ?? 0), 0);
    return { keyId, name, mode, isRevoked: revokedAt !== undefined, rides: all, inPeriod };
  });
  const ridesOn = (day: string, mode: Mode) =>
    keys.reduce((sum, key) => sum + (key.mode === mode ? (counts.get(key.keyId)?.byDay.get(day) ?? 0) : 0), 0);
  return {
    keys,
    days: days.map((day) => ({ day, live: ridesOn(day, 'live'), test: ridesOn(day, 'test') })),
    firstDay: [...counts.values()].flatMap(({ firstDay }) => firstDay ?? []).sort()[0],
  };
}

/** The summary of all keys of an account. `keys` are ordered by creation. */
export function summaryOf(keys: readonly KeyUsage[]): UsageSummary {
  const ridesOf = (mode: Mode) => keys.reduce((sum, key) => sum + (key.mode === mode ? key.rides : 0), 0);
  const [live, test] = [ridesOf('live'), ridesOf('test')];
  const withTraffic = keys.filter(({ rides }) => rides > 0);
  const busiest = withTraffic.reduce<KeyUsage | undefined>(
    (most, key) => (most && most.rides >= key.rides ? most : key),
    undefined,
  );
  return {
    activeKeys: keys.filter(({ isRevoked }) => !isRevoked).length,
    ridesCreated: live + test,
    live,
    test,
    keysWithTraffic: withTraffic.length,
    ...(busiest && { busiest: { keyId: busiest.keyId, name: busiest.name, rides: busiest.rides } }),
  };
}

/** A revoked key may get rides for this long, by requests that were authenticated before the revocation. */
const marginMs = 3_600_000;

type CountedKey = Pick<ApiKey, '_id' | 'name' | 'mode' | 'createdAt' | 'revokedAt'>;

/**
 * The keys that count for an account's usage, oldest first: all active keys, and the revoked keys that have or may have
 * rides. Other revoked keys are not read, because an account can have many of them: they have no sums and were revoked
 * before the last summing.
 */
export async function readCountedKeys(accountId: string): Promise<CountedKey[]> {
  const [through, summed] = await Promise.all([
    summedThrough(),
    rideSums.find({ accountId }, { projection: { _id: 1 }, ...timeLimit() }).toArray(),
  ]);
  const since = new Date(Math.max(0, (through?.getTime() ?? 0) - marginMs));
  const fields = { projection: { name: 1, mode: 1, createdAt: 1, revokedAt: 1 }, ...timeLimit() };
  const withSums = { _id: { $in: summed.map(({ _id }) => _id) }, accountId };
  const found = await Promise.all(
    [{ accountId, revokedAt: null }, { accountId, revokedAt: { $gte: since } }, withSums].map((filter) =>
      keys.find<CountedKey>(filter as object, fields).toArray(),
    ),
  );
  const byId = new Map(found.flat().map((key) => [key._id, key]));
  return [...byId.values()].sort(byCreation);
}
