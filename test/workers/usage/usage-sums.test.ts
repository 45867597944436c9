import { expect } from 'chai';
import type { Context } from '../../../shared/base/context.ts';
import { keys } from '../../../shared/keys/api-key.ts';
import { rideSums } from '../../../shared/usage/ride-sums.ts';
import { UsageProgressModel } from '../../../shared/usage/usage-progress.ts';
import { takePacedTurn } from '../../../workers/periodic/turns.ts';
import { usageSums } from '../../../workers/periodic/usage/sum-usage.ts';
import { at, isSummed, newKey, ridesAt, type UsageKey, useUsageContext } from '../../support/usage.ts';

describe('usage sums', () => {
  const ctx = useUsageContext();
  const { find } = keys;
  beforeEach(async () => {
    await ctx.redis.del(usageSums.leaseKey);
    await UsageProgressModel.deleteMany({});
  });
  afterEach(() => {
    keys.find = find;
  });

  const clockAt = (text: string): Context => ({ ...ctx, now: () => at(text).getTime() });
  const turn = (service: Context, signal = new AbortController().signal) => takePacedTurn(service, usageSums, signal);
  const intervalIsOver = () => ctx.redis.del(usageSums.leaseKey);
  const summedOf = async ({ keyId }: UsageKey) => (await rideSums.findOne({ _id: keyId }))?.rides;

  /** Counts how often all keys are read. */
  function watchRounds(): { count: number } {
    const seen = { count: 0 };
    keys.find = ((...args: Parameters<typeof keys.find>) => {
      seen.count += 1;
      return Reflect.apply(find, keys, args);
    }) as typeof keys.find;
    return seen;
  }

  it('a day is summed an hour after its end, not earlier', async () => {
    const key = await newKey();
    await ridesAt(key, at('2026-11-04 10:00'), at('2026-11-05 10:00'));
    await turn(clockAt('2026-11-06 00:59:59.999'));
    expect(await summedOf(key)).to.equal(1);
    expect([await isSummed('2026-11-04'), await isSummed('2026-11-05')]).to.deep.equal([true, false]);
    await intervalIsOver();
    await turn(clockAt('2026-11-06 01:00'));
    expect(await summedOf(key)).to.equal(2);
    expect(await isSummed('2026-11-05')).to.equal(true);
  });

  it('the keys are read once a day, in one process, even if many processes take their turns', async () => {
    const service = clockAt('2026-11-06 01:00');
    const rounds = watchRounds();
    await Promise.all(Array.from({ length: 20 }, () => turn(service)));
    expect(rounds.count).to.equal(1);
    for (let times = 0; times < 5; times++) {
      await intervalIsOver();
      await turn(service);
    }
    expect(rounds.count).to.equal(1);
    await intervalIsOver();
    await turn(clockAt('2026-11-07 01:00'));
    expect(rounds.count).to.equal(2);
  });

  it('a key that fails does not block the other keys, but its day does not count as summed', async () => {
    const [broken, key] = [await newKey(), await newKey()];
    await ridesAt(broken, at('2026-11-04 10:00'));
    await ridesAt(key, at('2026-11-04 10:00'));
    // Summing this key fails, because a text cannot be incremented.
    await rideSums.insertOne({
      ...{ _id: broken.keyId, accountId: broken.accountId, through: at('2026-11-04 00:00'), firstDay: '2026-11-01' },
      ...{ rides: 'many' as unknown as number, months: {} },
    });
    await turn(clockAt('2026-11-06 01:00'));
    expect(await summedOf(key)).to.equal(1);
    expect(await isSummed('2026-11-04')).to.equal(false);
    await rideSums.updateOne({ _id: broken.keyId }, { $set: { rides: 0 } });
    await intervalIsOver();
    await turn(clockAt('2026-11-06 01:00'));
    expect(await summedOf(broken)).to.equal(1);
    expect(await isSummed('2026-11-04')).to.equal(true);
  });
});
