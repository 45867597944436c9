import { expect } from 'chai';
import { keys } from '../../../shared/keys/api-key.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { dayMs, dayOf } from '../../../shared/usage/days.ts';
import { isSumDue, noteSummed, UsageProgressModel } from '../../../shared/usage/usage-progress.ts';
import { ridesByKey, usageOf } from '../../../shared/usage/usage-summary.ts';
import { TurnOverError } from '../../../workers/periodic/turns.ts';
import { countByDay, sumRidesOf } from '../../../workers/periodic/usage/sum-rides.ts';
import { newRide } from '../../support/rides.ts';
import { until as eventually } from '../../support/until.ts';
import {
  at,
  isClosed,
  isSummed,
  newKey,
  ridesAt,
  sumThrough,
  type UsageKey,
  usageSummary,
  useUsageContext,
} from '../../support/usage.ts';

const now = at('2026-11-21 12:00').getTime();
const november = { from: at('2026-11-01 00:00'), to: at('2026-12-01 00:00') };

describe('the usage of an account', () => {
  const ctx = useUsageContext();
  beforeEach(() => UsageProgressModel.deleteMany({}));

  const ridesOf = async ({ accountId, keyId }: UsageKey) => (await ridesByKey(accountId, [keyId], now)).get(keyId);
  /** The days of the period that have rides. */
  const daysOf = async ({ accountId }: UsageKey, period = november) =>
    (await usageOf(accountId, period, now)).days.filter(({ live, test }) => live + test > 0);

  describe('counting of rides', () => {
    it('the same rides count before and after their days are summed', async () => {
      const key = await newKey();
      const days = ['2026-10-30', '2026-10-31', '2026-11-01', '2026-11-19', '2026-11-20', '2026-11-21'];
      for (const [index, day] of days.entries()) {
        await ridesAt(key, ...Array.from({ length: index + 1 }, () => at(`${day} 08:00`)));
      }
      const expected = [
        { day: '2026-11-01', live: 3, test: 0 },
        { day: '2026-11-19', live: 4, test: 0 },
        { day: '2026-11-20', live: 5, test: 0 },
        { day: '2026-11-21', live: 6, test: 0 },
      ];
      for (const until of [undefined, '2026-10-31', '2026-11-01', '2026-11-20', '2026-11-21']) {
        if (until) await sumThrough(at(`${until} 00:00`));
        expect(await ridesOf(key), `summed until ${until}`).to.equal(21);
        expect(await daysOf(key), `summed until ${until}`).to.deep.equal(expected);
        expect((await usageOf(key.accountId, november, now)).firstDay).to.equal('2026-10-30');
      }
    });

    it('a ride counts on its day, to the millisecond around midnight', async () => {
      const key = await newKey();
      await ridesAt(key, at('2026-11-04 23:59:59.999'), at('2026-11-05 00:00'), at('2026-11-05 23:59:59.999'));
      await ridesAt(key, at('2026-11-06 00:00'));
      const expected = [
        { day: '2026-11-04', live: 1, test: 0 },
        { day: '2026-11-05', live: 2, test: 0 },
        { day: '2026-11-06', live: 1, test: 0 },
      ];
      expect(await daysOf(key)).to.deep.equal(expected);
      await sumThrough(at('2026-11-06 00:00'));
      expect(await daysOf(key)).to.deep.equal(expected);
      await sumThrough(at('2026-11-07 00:00'));
      expect(await daysOf(key)).to.deep.equal(expected);
    });

    it('a ride that commits after midnight with a creation time before midnight counts on the earlier day', async () => {
      const key = await newKey();
      await ridesAt(key, at('2026-11-04 08:00'));
      await sumThrough(at('2026-11-05 00:00'));
      await ridesAt(key, at('2026-11-05 08:00'));
      expect(await ridesOf(key)).to.equal(2);
      // It is 00:40 of the next day: a page has been shown since, and the day is not summed yet.
      await ridesAt(key, at('2026-11-05 23:59:59.999'));
      expect(await ridesOf(key)).to.equal(3);
      await sumThrough(at('2026-11-06 00:00'));
      expect(await ridesOf(key)).to.equal(3);
      expect((await daysOf(key)).at(-1)).to.deep.equal({ day: '2026-11-05', live: 2, test: 0 });
    });

    it('each ride counts once if its day is summed repeatedly and by many processes at once', async () => {
      const key = await newKey();
      const made = [at('2026-11-01 10:00'), at('2026-11-01 11:00'), at('2026-11-03 10:00'), at('2026-11-21 10:00')];
      await ridesAt(key, ...made);
      for (const until of [at('2026-11-02 00:00'), at('2026-11-05 00:00'), at('2026-11-05 00:00')]) {
        await Promise.all(Array.from({ length: 8 }, () => sumThrough(until)));
        expect(await ridesOf(key)).to.equal(4);
      }
      await sumThrough(at('2026-11-02 00:00'));
      expect(await ridesOf(key)).to.equal(4);
    });

    it('each ride counts once if the summing crashes before any of its queries', async () => {
      const key = await newKey();
      const other = await newKey({ accountId: key.accountId, mode: 'test' });
      await ridesAt(
        key,
        at('2026-11-01 10:00'),
        at('2026-11-03 10:00'),
        at('2026-11-20 23:00'),
        at('2026-11-21 10:00'),
      );
      await ridesAt(other, at('2026-11-02 10:00'), at('2026-11-20 23:00'));
      const expected = await daysOf(key);
      for (const until of [at('2026-11-03 00:00'), at('2026-11-21 00:00')]) {
        for (let steps = 0, isDone = false; !isDone; steps++) {
          let left = steps;
          isDone = await sumThrough(until, async () => {
            if (left-- === 0) throw new TurnOverError();
          }).then(
            () => true,
            () => false,
          );
          expect(await ridesOf(key)).to.equal(4);
          expect(await ridesOf(other)).to.equal(2);
          expect(await daysOf(key)).to.deep.equal(expected);
        }
      }
    });

    it('each ride counts once for any limit of rides per query', async () => {
      const key = await newKey();
      const perDay = { '2026-11-01': 3, '2026-11-02': 1, '2026-11-05': 7, '2026-11-06': 2 };
      for (const [day, count] of Object.entries(perDay)) {
        await ridesAt(key, ...Array.from({ length: count }, (_, index) => at(`${day} 0${index}:00`)));
      }
      const span = { from: at('2026-11-01 00:00'), until: at('2026-11-07 00:00') };
      for (let atOnce = 1; atOnce < 15; atOnce++) {
        const counts = await countByDay(key.keyId, span, async () => {}, atOnce);
        expect(Object.fromEntries(counts.map(({ day, count }) => [dayOf(day), count]))).to.deep.equal(perDay);
      }
    });

    it('each ride counts once if one key is summed through a later day than another key of the account', async () => {
      const behind = await newKey();
      const { accountId } = behind;
      const ahead = await newKey({ accountId });
      await ridesAt(behind, at('2026-11-01 10:00'));
      await ridesAt(ahead, at('2026-11-01 10:00'), at('2026-11-05 10:00'));
      const through = at('2026-11-02 00:00');
      await sumThrough(through);
      await sumRidesOf({ _id: ahead.keyId, accountId }, { through }, at('2026-11-06 00:00'), async () => {});
      const counts = await ridesByKey(accountId, [behind.keyId, ahead.keyId], now);
      expect([...counts.values()]).to.deep.equal([1, 2]);
    });

    it('a deleted ride counts if its day was summed before', async () => {
      const key = await newKey();
      await ridesAt(key, at('2025-10-01 10:00'), at('2026-11-21 10:00'));
      await sumThrough(at('2026-11-21 00:00'));
      await rides.deleteMany({ keyId: key.keyId, createdAt: { $lt: at('2025-10-21 00:00') } });
      expect(await ridesOf(key)).to.equal(2);
      await sumThrough(at('2026-11-22 00:00'));
      expect(await ridesOf(key)).to.equal(2);
    });
  });

  describe('the usage summary', () => {
    it('on a tie, the older key is the busiest', async () => {
      const younger = await newKey({ name: 'younger' });
      const { accountId } = younger;
      const older = await newKey({ accountId, name: 'older' });
      await keys.updateOne({ _id: older.keyId }, { $set: { createdAt: at('2026-01-01 00:00') } });
      await ridesAt(younger, at('2026-11-20 10:00'));
      await ridesAt(older, at('2026-11-21 10:00'));
      expect((await usageSummary(accountId, now)).busiest).to.deep.equal({
        keyId: older.keyId,
        name: 'older',
        rides: 1,
      });
    });

    it('the summary has no busiest key without rides, and is zero without keys', async () => {
      const { accountId } = await newKey();
      expect(await usageSummary(accountId, now)).to.deep.equal({
        ...{ activeKeys: 1, ridesCreated: 0, live: 0, test: 0, keysWithTraffic: 0 },
      });
      expect(await usageSummary('acct_nobody', now)).to.deep.equal({
        ...{ activeKeys: 0, ridesCreated: 0, live: 0, test: 0, keysWithTraffic: 0 },
      });
    });
  });

  describe('the progress of the sums', () => {
    it('a day is marked as summed, and a month as closed, only once that is done for all accounts', async () => {
      expect([await isSummed('2026-10-31'), await isClosed('2026-10')]).to.deep.equal([false, false]);
      await noteSummed(at('2026-10-31 00:00'));
      expect([await isSummed('2026-10-30'), await isSummed('2026-10-31')]).to.deep.equal([true, false]);
      expect([await isClosed('2026-09'), await isClosed('2026-10')]).to.deep.equal([true, false]);
      await noteSummed(at('2026-11-01 00:00'));
      expect([await isSummed('2026-10-31'), await isClosed('2026-10')]).to.deep.equal([true, true]);
      await noteSummed(at('2026-10-01 00:00'));
      expect(await isClosed('2026-10')).to.equal(true);
    });

    it('a day is summed once, and again after a page finds rides that the API did not insert', async () => {
      const until = at('2026-11-21 00:00');
      expect(await isSumDue(until)).to.equal(true);
      await noteSummed(until);
      expect(await isSumDue(until)).to.equal(false);
      expect(await isSumDue(new Date(until.getTime() + dayMs))).to.equal(true);
      const imported = await newKey();
      await ridesAt(imported, at('2026-11-02 10:00'));
      expect(await ridesOf(imported)).to.equal(1);
      await eventually(() => isSumDue(until));
      await sumThrough(until);
      await noteSummed(until);
      expect(await isSumDue(until)).to.equal(false);
      await newRide({ ...ctx, now: () => now }, { keyId: imported.keyId });
      expect(await ridesOf(imported)).to.equal(2);
      expect(await isSumDue(until)).to.equal(false);
    });
  });
});
