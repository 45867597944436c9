import { AccountModel } from '../../accounts/account.ts';
import { collection, findAmong } from '../../base/mongo/collection.ts';
import { drivers } from '../../drivers/driver.ts';
import { positions } from '../../drivers/positions.ts';
import { keys } from '../../keys/api-key.ts';
import { rides } from '../../rides/ride.ts';
import { attempts } from '../../webhooks/attempts.ts';

/** The documents that name a missing document: their number, and the ids of the first ten. */
export type BrokenReferences = { from: string; to: string; count: number; first: string[] }[];

const shown = 10;
const batchSize = 500;

/**
 * Reads the whole database and finds documents that refer to missing ones: keys and rides to accounts, rides to keys,
 * drivers and successors, attempts to rides and keys, positions to drivers and rides. Takes a time that grows with the
 * number of rides, and little memory besides the ids of keys, accounts and drivers.
 */
export async function brokenReferences(): Promise<BrokenReferences> {
  const broken = new Map<string, BrokenReferences[number]>();
  const note = (from: string, to: string, id: string) => {
    const one = broken.get(`${from} ${to}`) ?? { from, to, count: 0, first: [] };
    one.count += 1;
    if (one.first.length < shown) one.first.push(id);
    broken.set(`${from} ${to}`, one);
  };
  const accountIds = await idsOf(collection<{ _id: string }>(AccountModel));
  const keyIds = await idsOf(keys);
  const driverIds = await idsOf(drivers);

  for await (const { _id, accountId } of keys.find({}, { projection: { accountId: 1 } })) {
    if (!accountIds.has(accountId)) note('keys', 'accounts', _id);
  }
  const rideFields = { keyId: 1, accountId: 1, mode: 1, 'driver.driverId': 1, replacedBy: 1 } as const;
  for await (const page of pages(rides.find({}, { projection: rideFields, batchSize }))) {
    const successors = await existing(page.flatMap(({ replacedBy }) => replacedBy ?? []));
    for (const { _id, keyId, accountId, mode, driver, replacedBy } of page) {
      if (!keyIds.has(keyId)) note('rides', 'keys', _id);
      if (!accountIds.has(accountId)) note('rides', 'accounts', _id);
      if (mode === 'live' && driver && !driverIds.has(driver.driverId)) note('rides', 'drivers', _id);
      if (replacedBy && !successors.has(replacedBy)) note('rides', 'successors', _id);
    }
  }
  for await (const page of pages(attempts.find({}, { projection: { keyId: 1, rideId: 1 }, batchSize }))) {
    const found = await existing(page.flatMap(({ rideId }) => rideId ?? []));
    for (const { _id, keyId, rideId } of page) {
      if (!keyIds.has(keyId)) note('attempts', 'keys', _id);
      if (rideId && !found.has(rideId)) note('attempts', 'rides', _id);
    }
  }
  for await (const page of pages(positions.find({}, { projection: { rideId: 1 }, batchSize }))) {
    const found = await existing(page.flatMap(({ rideId }) => rideId ?? []));
    for (const { _id, rideId } of page) {
      if (!driverIds.has(_id)) note('positions', 'drivers', _id);
      if (rideId && !found.has(rideId)) note('positions', 'rides', _id);
    }
  }
  return [...broken.values()];
}

async function idsOf(rows: {
  find(filter: object, options: object): AsyncIterable<{ _id: string }>;
}): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const { _id } of rows.find({}, { projection: { _id: 1 } })) ids.add(_id);
  return ids;
}

async function* pages<D>(documents: AsyncIterable<D>): AsyncGenerator<D[]> {
  let page: D[] = [];
  for await (const document of documents) {
    page.push(document);
    if (page.length < batchSize) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

const existing = async (rideIds: readonly string[]): Promise<Set<string>> =>
  new Set((await findAmong(rides, rideIds, { _id: 1 }, {}, {})).map(({ _id }) => _id));
