import { type PoolName, poolNames } from '../../shared/base/queues.ts';
import { connectWorkerRedis } from '../../shared/base/redis/redis.ts';
import { startPool } from '../../workers/pools.ts';
import { type Given, settingsOf, startTestApi, type TestApi } from './service.ts';
import { useStarted } from './use-started.ts';

/** The API and the worker pools in one process, on real, empty queues. */
export async function startTestService(
  settings?: Record<string, string>,
  pools: readonly PoolName[] = poolNames,
): Promise<TestApi> {
  const api = await startTestApi(settings);
  await api.ctx.redis.flushall();
  const connection = connectWorkerRedis(api.ctx.config.secrets.redisUrl, api.ctx.log);
  const workers = pools.map((pool) => startPool(api.ctx, connection, pool));
  return {
    ...api,
    async close() {
      await Promise.all(workers.map((worker) => worker.close()));
      connection.disconnect();
      await api.close();
    },
  };
}

/** Starts the API and the pools before the tests of the surrounding describe, and closes them after them. */
export const useTestService = (given: Given = {}, pools?: readonly PoolName[]): TestApi =>
  useStarted(async () => startTestService(await settingsOf(given), pools));
