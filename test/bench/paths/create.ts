import { rides } from '../../../shared/rides/ride.ts';
import { assertCount, type Bench } from '../bench.ts';
import { type BenchKey, newKeys } from '../data/keys.ts';
import { creation } from '../data/requests.ts';
import { apiPath, type PreparedLoad, type Who } from './api-path.ts';

/** Number of creations with each key, below its limit of 30 a minute. Every round has new keys. */
export const usesOfEach = 25;
/** The prepared keys suffice for this rate, which no floor has reached. The load stops if they are used up. */
const maxRatePerSecond = 6_000;

/** Creations with live keys: one insert and one job each, in the service and in the floor. */
export const create = apiPath({
  name: 'create',
  status: 201,
  cpuGoals: { 1: 1.6, 16: 1, 64: 0.85 },
  rateGoals: { 1: 0.8, 16: 1.1, 64: 1.2 },
  prepare: prepareCreations,
});

async function prepareCreations({ stack }: Bench, who: Who, seconds: number): Promise<PreparedLoad> {
  // The first timer of a live ride is its first dispatch round, which is due immediately.
  const countJobs = () =>
    who === 'service' ? stack.redis.llen('{rides:dispatch}:dispatch:wait') : stack.redis.zcard('floor:delayed');
  const logOf = ({ keyId }: BenchKey) => `${who === 'service' ? 'rides' : 'floor'}:created:${keyId}`;
  const keys = await newKeys(Math.ceil((maxRatePerSecond * seconds) / usesOfEach), 'live');
  const jobsBefore = await countJobs();
  return {
    requests: keys.map((key) => creation(key)),
    usesOfEach,
    async check({ operations }) {
      const { accountId } = keys[0] as BenchKey;
      assertCount(operations, await rides.countDocuments({ accountId }), `create, ${who}: rides in MongoDB`);
      assertCount(operations, (await countJobs()) - jobsBefore, `create, ${who}: jobs in Redis`);
      const charged = await Promise.all(keys.map((key) => stack.redis.zcard(logOf(key))));
      assertCount(
        operations,
        charged.reduce((sum, count) => sum + count, 0),
        `create, ${who}: charges in Redis`,
      );
    },
  };
}
