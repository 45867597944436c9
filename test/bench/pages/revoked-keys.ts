import mongoose from 'mongoose';
import { accountOf } from '../../../shared/accounts/account.ts';
import { startSession } from '../../../shared/accounts/session.ts';
import { type ApiKey, keys } from '../../../shared/keys/api-key.ts';
import { dayMs, summableUntil } from '../../../shared/usage/days.ts';
import { noteSummed } from '../../../shared/usage/usage-progress.ts';
import type { Measurement } from '../bench.ts';
import { newKeys } from '../data/keys.ts';
import type { Figure } from '../report.ts';
import { percentile } from '../statistics.ts';
import { timeOf } from './http-requests.ts';

const activeKeys = 20;
const [few, many] = [20, 20_000];
const paths = ['', '/keys', '/keys/new', '/rides', '/deliveries', '/usage', '/console', '/account'];

/** The pages of an account with very many revoked keys, compared with an account with few. */
export const revokedKeys: Measurement = async ({ stack, quick, say }) => {
  say('inserting keys');
  const [small, large] = [await accountWith(few), await accountWith(many)];
  await noteSummed(summableUntil(Date.now()));
  const api = await stack.startApi();
  const figures: Figure[] = [];
  for (const path of paths) {
    say(`the page /dashboard${path}`);
    const times: Record<'small' | 'large', number[]> = { small: [], large: [] };
    const url = `http://127.0.0.1:${api.port}/dashboard${path}`;
    const ask = (cookie: string) => timeOf(url, { cookie });
    for (let request = -5; request < (quick ? 30 : 100); request++) {
      const [ofSmall, ofLarge] = [await ask(small), await ask(large)];
      if (request < 0) continue;
      times.small.push(ofSmall);
      times.large.push(ofLarge);
    }
    const [service, floor] = [[percentile(times.large, 0.5)], [percentile(times.small, 0.5)]];
    const name = `/dashboard${path}, ${many.toLocaleString('en-US')} revoked keys; floor: ${few}, p50`;
    figures.push({ name, unit: 'ms', service, floor, goal: '<= 1.5' });
  }
  return figures;
};

/**
 * Creates an account with active keys and `revoked` keys that were revoked days ago. Resolves with a session cookie.
 */
async function accountWith(revoked: number): Promise<string> {
  const now = Date.now();
  const { _id: accountId } = await accountOf(`revoked-${revoked}@rides.example`);
  await newKeys(activeKeys, 'test', undefined, undefined, accountId);
  const made = await newKeys(revoked, 'test', undefined, undefined, accountId);
  await mongoose.connection.collection<ApiKey>(keys.collectionName).bulkWrite(
    made.map(({ keyId: _id }, index) => ({
      updateOne: { filter: { _id }, update: { $set: { revokedAt: new Date(now - 3 * dayMs - index * 1_000) } } },
    })),
  );
  return `session=${await startSession(accountId, now)}`;
}
