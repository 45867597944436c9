import { expect } from 'chai';
import { newAccountId } from '../../../shared/base/ids.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { dayMs } from '../../../shared/usage/days.ts';
import { closedMonths } from '../../../shared/usage/key-statements.ts';
import { allLines, monthTotals, readStatement } from '../../../shared/usage/statements.ts';
import { linesPerPart, tripSums } from '../../../shared/usage/trip-sums.ts';
import { type TripLine, tripFacts } from '../../../shared/usage/trips.ts';
import { TurnOverError } from '../../../workers/periodic/turns.ts';
import { plansOf } from '../../support/plans.ts';
import { rideIn } from '../../support/rides.ts';
import { at, newKey, ridesAt, sumThrough, tripsAt, type UsageKey, useUsageContext } from '../../support/usage.ts';

const now = at('2026-11-21 12:00').getTime();
const afterOctober = at('2026-11-01 00:00');

describe('statements', () => {
  const ctx = useUsageContext();

  const october = ({ accountId }: UsageKey, page = 1) => readStatement(accountId, '2026-10', page, now);
  async function linesOf({ accountId }: UsageKey, month = '2026-10'): Promise<TripLine[]> {
    const lines: TripLine[] = [];
    for await (const some of allLines(accountId, month)) lines.push(...some);
    return lines;
  }

  /** Trips in October and in the neighbouring months. More trips end at the same time than one part contains. */
  async function manyTrips(count = 2 * linesPerPart + 3): Promise<UsageKey> {
    const key = await newKey();
    const start = at('2026-10-01 00:00').getTime();
    const moments = Array.from({ length: count }, (_, index) => {
      const day = Math.max(0, index - linesPerPart - 10) % 31;
      return new Date(start + day * dayMs);
    });
    await tripsAt(key, 10.01, ...moments);
    await tripsAt(key, 99, at('2026-09-30 23:59:59.999'), at('2026-11-01 00:00'), at('2026-11-20 10:00'));
    return key;
  }

  it('a statement lists the completed live trips that ended in its month, to the millisecond, ordered by end', async () => {
    const key = await newKey();
    const desk = await newKey({ accountId: key.accountId });
    const [late] = await tripsAt(key, 12.5, at('2026-10-31 23:59:59.999'));
    const [early] = await tripsAt(desk, 0.1, at('2026-10-01 00:00'));
    const [middle] = await tripsAt(key, 0.2, at('2026-10-15 12:00'));
    await tripsAt(key, 50, at('2026-09-30 23:59:59.999'), at('2026-11-01 00:00'));
    const test = await newKey({ accountId: key.accountId, mode: 'test' });
    await tripsAt(test, 70, at('2026-10-15 12:00'));
    await ridesAt(key, at('2026-10-15 12:00'));
    const expected = [
      { rideId: early, endedAt: at('2026-10-01 00:00'), keyId: desk.keyId, cents: 10 },
      { rideId: middle, endedAt: at('2026-10-15 12:00'), keyId: key.keyId, cents: 20 },
      { rideId: late, endedAt: at('2026-10-31 23:59:59.999'), keyId: key.keyId, cents: 1_250 },
    ];
    for (const until of [undefined, at('2026-10-16 00:00'), afterOctober]) {
      if (until) await sumThrough(until);
      const { lines, trips, cents, pages } = await october(key);
      expect(lines).to.deep.equal(expected);
      expect({ trips, cents, pages }).to.deep.equal({ trips: 3, cents: 1_280, pages: 1 });
      expect(await linesOf(key)).to.deep.equal(expected);
    }
  });

  it('a statement lists a trip as soon as its ride is completed', async () => {
    const key = await newKey();
    const { rideId } = await rideIn(ctx, 'completed', { keyId: key.keyId, offers: [{ price: 31.25 }] });
    await rideIn(ctx, 'cancelled', { keyId: key.keyId });
    const { accountId, statusAt } = (await rides.findOne({ _id: rideId })) ?? {};
    const [first] = await monthTotals(accountId as string, (statusAt as Date).getTime());
    expect(first).to.include({ trips: 1, cents: 3_125, isSoFar: true });
  });

  it('a statement has the same pages before and after its month is closed, even if many trips end at the same time', async () => {
    const key = await manyTrips();
    const whole = await linesOf(key);
    expect(whole).to.have.length(2 * linesPerPart + 3);
    for (const until of [undefined, at('2026-10-01 00:00'), at('2026-10-20 00:00'), afterOctober]) {
      if (until) await sumThrough(until);
      const pages = [await october(key, 1), await october(key, 2), await october(key, 3)];
      expect(pages.map(({ lines }) => lines.length)).to.deep.equal([linesPerPart, linesPerPart, 3]);
      expect(pages.flatMap(({ lines }) => lines)).to.deep.equal(whole);
      expect(pages[0]).to.include({ pages: 3, trips: whole.length, cents: whole.length * 1_001 });
      expect(pages[0]?.isSoFar).to.equal(until !== afterOctober);
      expect((await october(key, 4)).lines).to.deep.equal([]);
      expect(await linesOf(key)).to.deep.equal(whole);
    }
  });

  it('a month is closed once its statement is stored, and a month without trips an hour after its end', async () => {
    const [busy, idle] = [await newKey(), await newKey()];
    await tripsAt(busy, 20, at('2026-10-15 12:00'));
    await ridesAt(idle, at('2026-10-15 12:00'));
    const isClosed = async (key: UsageKey, text: string) => (await closedMonths(key, at(text).getTime()))('2026-10');
    expect(await isClosed(idle, '2026-11-01 00:59:59.999')).to.equal(false);
    expect(await isClosed(idle, '2026-11-01 01:00')).to.equal(true);
    expect(await isClosed(busy, '2026-11-01 01:00')).to.equal(false);
    await sumThrough(afterOctober);
    expect(await isClosed(busy, '2026-11-01 01:00')).to.equal(true);
  });

  it('a statement is stored once, even if its month is closed repeatedly and concurrently', async () => {
    const key = await manyTrips();
    const whole = await linesOf(key);
    await Promise.all(Array.from({ length: 5 }, () => sumThrough(afterOctober)));
    await sumThrough(afterOctober);
    expect(await linesOf(key)).to.deep.equal(whole);
    expect((await tripSums.findOne({ _id: key.accountId }))?.statements).to.have.all.keys('2026-09', '2026-10');
  });

  it('a statement is complete even if the closing of its month crashes before any one of its queries', async () => {
    const key = await manyTrips(linesPerPart + 1);
    const whole = await linesOf(key);
    for (let steps = 0, isDone = false; !isDone; steps++) {
      let left = steps;
      isDone = await sumThrough(afterOctober, async () => {
        if (left-- === 0) throw new TurnOverError();
      }).then(
        () => true,
        () => false,
      );
      const { lines, trips, cents } = await october(key);
      expect(lines).to.deep.equal(whole.slice(0, linesPerPart));
      expect({ trips, cents }).to.deep.equal({ trips: whole.length, cents: whole.length * 1_001 });
      expect(await linesOf(key)).to.deep.equal(whole);
    }
    expect((await october(key)).isSoFar).to.equal(false);
  });

  it('a statement is unchanged after its rides are deleted', async () => {
    const key = await manyTrips();
    const whole = await linesOf(key);
    await sumThrough(afterOctober);
    await rides.deleteMany({ keyId: key.keyId, statusAt: { $lt: afterOctober } });
    await sumThrough(at('2026-11-21 00:00'));
    expect(await linesOf(key)).to.deep.equal(whole);
    expect(await october(key)).to.include({ trips: whole.length, cents: whole.length * 1_001, isSoFar: false });
  });

  it('a statement includes a trip that commits within the hour after its month', async () => {
    const key = await newKey();
    await tripsAt(key, 5, at('2026-10-31 10:00'));
    await sumThrough(at('2026-10-31 00:00'));
    expect(await october(key)).to.include({ trips: 1, isSoFar: true });
    await tripsAt(key, 6, at('2026-10-31 23:59:59.999'));
    await sumThrough(afterOctober);
    expect(await october(key)).to.include({ trips: 2, cents: 1_100, isSoFar: false });
  });

  it('each month with trips and the current month have a total', async () => {
    const key = await newKey();
    await tripsAt(key, 1, at('2026-08-05 10:00'), at('2026-10-05 10:00'), at('2026-10-06 10:00'));
    const months = (isSoFar: boolean) => [
      { month: '2026-11', trips: 0, cents: 0, isSoFar: true },
      { month: '2026-10', trips: 2, cents: 200, isSoFar },
      { month: '2026-08', trips: 1, cents: 100, isSoFar },
    ];
    expect(await monthTotals(key.accountId, now)).to.deep.equal(months(true));
    await sumThrough(at('2026-11-21 00:00'));
    expect(await monthTotals(key.accountId, now)).to.deep.equal(months(false));
  });

  describe('the facts of trips for statements', () => {
    it('are those of the account, without erased rides', async () => {
      const [own, other] = [await newKey(), await newKey()];
      const [kept = '', erased = ''] = await tripsAt(own, 5, at('2026-11-05 10:00'), at('2026-11-05 11:00'));
      const [foreign = ''] = await tripsAt(other, 5, at('2026-11-05 10:00'));
      await rides.updateOne({ _id: kept }, { $set: { reference: 'RES-20332' } });
      await rides.updateOne({ _id: erased }, { $set: { erasedAt: new Date() } });
      const found = await tripFacts([kept, erased, foreign, 'ride_deleted'], own);
      expect([...found.keys()]).to.deep.equal([kept]);
      expect(found.get(kept)).to.deep.equal({
        reference: 'RES-20332',
        pickup: { lat: 40.758, lng: -73.9855 },
        destination: { lat: 40.7128, lng: -74.006 },
      });
      expect(await tripFacts([], { accountId: newAccountId() })).to.deep.equal(new Map());
    });

    it('are read by ride id, one ride for each trip', async () => {
      const key = await newKey();
      const ids = await tripsAt(key, 5, ...Array.from({ length: 20 }, () => at('2026-11-05 10:00')));
      const [plan] = await plansOf(() => tripFacts(ids.slice(0, 3), key));
      expect(plan?.stages).to.include('IXSCAN');
      expect(plan?.executionStats.totalDocsExamined).to.equal(3);
      expect(plan?.executionStats.totalKeysExamined).to.be.at.most(6);
    });
  });
});
