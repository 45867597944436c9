import { expect } from 'chai';
import type { Context } from '../../../shared/base/context.ts';
import { registry } from '../../../shared/base/metrics.ts';
import { migrate } from '../../../shared/process/migrate-database.ts';
import { redisSettings, startWarnings } from '../../../shared/process/ops/start-warnings.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { testConfig, useTestContext } from '../../support/service.ts';
import { until } from '../../support/until.ts';

describe('the watch for problems that do not make a process unready', () => {
  const ctx = useTestContext();
  afterEach(async () => {
    await ctx.redis.config('SET', 'maxmemory-policy', 'noeviction');
    await migrate(ctx.config.secrets.keys);
  });

  it('the watch warns of a Redis that evicts or is not persistent and of a missing index, in log and metrics', async () => {
    expect(await redisSettings(ctx.redis)).to.deep.equal({ evicts: false, isPersistent: false });
    await ctx.redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await rides.dropIndex('trackToken_if_any');
    const logged: { warning: string; index?: string }[] = [];
    const log = { warn: (line: never) => logged.push(line), debug: () => {} };
    const config = { ...testConfig(), environment: 'production' };
    const watch = startWarnings({ config, log, redis: ctx.redis, now: Date.now } as unknown as Context);
    // An earlier test may have left its metrics.
    const isRead = async () => /rides_warning\{warning="backlog_grows"\} 0/.test(await registry.metrics());
    await until(async () => logged.length >= 3 && (await isRead()));
    watch.stop();
    expect(logged.map(({ warning }) => warning)).to.deep.equal([
      'redis_evicts',
      'redis_not_persistent',
      'index_missing',
    ]);
    expect(logged[2]?.index).to.equal('the index of trackToken on rides');
    expect(await registry.metrics()).to.match(/rides_warning\{warning="index_missing"\} 1/);
  });

  it('the watch warns of clocks that differ by more than a minute in either direction, but not by less', async () => {
    const logged: { warning: string; aheadMs: number }[] = [];
    const log = { warn: (line: never) => logged.push(line), debug: () => {} };
    for (const [aheadMs, expected] of [
      [61_000, 1],
      [-61_000, 1],
      [59_000, 0],
    ] as const) {
      logged.length = 0;
      const now = () => Date.now() + aheadMs;
      const watch = startWarnings({ ...ctx, log, now } as unknown as Context);
      const metric = `rides_warning{warning="clocks_differ"} ${expected}`;
      const warnings = () => logged.filter(({ warning }) => warning === 'clocks_differ');
      await until(async () => warnings().length === expected && (await registry.metrics()).includes(metric));
      watch.stop();
      const warned = warnings();
      expect(warned).to.have.length(expected);
      if (expected) expect(warned[0]?.aheadMs).to.be.closeTo(aheadMs, 1_000);
    }
  });
});
