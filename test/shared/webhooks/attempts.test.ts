import { expect } from 'chai';
import { newAccountId, newAttemptId, newKeyId, newRideId } from '../../../shared/base/ids.ts';
import {
  type AttemptRecord,
  type AttemptSummary,
  attempts,
  attemptsOfEvent,
  attemptsOfRide,
  recordedOutcomes,
} from '../../../shared/webhooks/attempts.ts';
import { deliveryRate } from '../../../shared/webhooks/delivery-rate.ts';
import { type AttemptFilters, listAttempts } from '../../../shared/webhooks/list-attempts.ts';
import { withoutResent } from '../../../shared/webhooks/undelivered.ts';
import { attemptRecord, storedAttempts } from '../../support/attempts.ts';
import { plansOf } from '../../support/plans.ts';
import { useTestContext } from '../../support/service.ts';

describe('attempts', () => {
  useTestContext();

  const idsOf = (found: readonly { _id: string }[]) => found.map(({ _id }) => _id);

  it('no list contains attempts of another account, even by ride or key', async () => {
    const rideId = newRideId(Date.now());
    const [made] = await storedAttempts([{ rideId }]);
    const stranger = { accountId: newAccountId() };
    expect(await attemptsOfRide(rideId, stranger)).to.deep.equal([]);
    expect(await attemptsOfEvent({ rideId, seq: 1 }, stranger)).to.deep.equal([]);
    expect(await listAttempts(stranger, { limit: 10 })).to.deep.equal([]);
    expect(await listAttempts(stranger, { keyId: made?.keyId, limit: 10 })).to.deep.equal([]);
  });

  it('attemptsOfRide returns the attempts of a ride in order, complete except for the claim', async () => {
    const accountId = newAccountId();
    const rideId = newRideId(Date.now());
    const claim = { token: 'a', at: new Date(0), until: new Date(0) };
    const made = await storedAttempts([
      { accountId, rideId, seq: 1 },
      { accountId, rideId, seq: 2 },
      { accountId, rideId, seq: 1, kind: 'redelivery' },
    ]);
    await attempts.updateOne({ _id: made[2]?._id }, { $set: { claim } });
    expect(await attemptsOfRide(rideId, { accountId })).to.deep.equal(made);
  });

  it('attemptsOfEvent returns the attempts of one event in order, without contents, by an index', async () => {
    const accountId = newAccountId();
    const rideId = newRideId(Date.now());
    const made = await storedAttempts([
      { accountId, rideId, seq: 1, outcome: 'failed' },
      { accountId, rideId, seq: 2 },
      { accountId, rideId, seq: 1, kind: 'redelivery' },
    ]);
    const found: AttemptSummary[] = [];
    const [plan] = await plansOf(async () => {
      found.push(...(await attemptsOfEvent({ rideId, seq: 1 }, { accountId })));
    });
    expect(idsOf(found)).to.deep.equal([made[0]?._id, made[2]?._id]);
    expect(found[0]).to.not.have.any.keys('headers', 'body', 'answer', 'answerHeaders', 'claim');
    expect(plan?.executionStats.totalKeysExamined).to.be.at.most(4);
  });

  describe('in a list', () => {
    const accountId = newAccountId();
    const [keyA, keyB] = [newKeyId(), newKeyId()];
    const startMs = 1_700_000_000_000;
    let ids: string[];
    before(async () => {
      const made = Array.from({ length: 60 }, (_, index) => ({
        accountId,
        keyId: index % 2 ? keyA : keyB,
        event: index % 5 ? ('ride.status' as const) : ('offer.received' as const),
        outcome: recordedOutcomes[index % 6],
      }));
      ids = idsOf(await storedAttempts(made, startMs)).reverse();
    });
    const list = async (filters: Partial<AttemptFilters> = {}) =>
      idsOf(await listAttempts({ accountId }, { limit: 100, ...filters }));
    /** The indexes, in the order of insertion, of the listed attempts. */
    const listed = async (filters: Partial<AttemptFilters>) => (await list(filters)).map((id) => 59 - ids.indexOf(id));
    const expected = (isListed: (index: number) => boolean) =>
      Array.from({ length: 60 }, (_, index) => 59 - index).filter(isListed);

    it('listAttempts returns the newest first, without headers, bodies, answers and claims', async () => {
      expect(await list()).to.deep.equal(ids);
      const [newest] = await listAttempts({ accountId }, { limit: 1 });
      expect(newest).to.not.have.any.keys('headers', 'body', 'answer', 'answerHeaders', 'claim');
    });

    it('listAttempts returns the attempts that match every filter', async () => {
      expect(await listed({ keyId: keyA })).to.deep.equal(expected((index) => index % 2 === 1));
      expect(await listed({ outcome: 'timeout' })).to.deep.equal(expected((index) => index % 6 === 3));
      expect(await listed({ outcome: ['failed', 'timeout'] })).to.deep.equal(
        expected((index) => index % 6 === 2 || index % 6 === 3),
      );
      expect(await listed({ event: 'offer.received' })).to.deep.equal(expected((index) => index % 5 === 0));
      expect(await listed({ keyId: keyB, outcome: 'waiting', event: 'ride.status' })).to.deep.equal(
        expected((index) => index % 2 === 0 && index % 6 === 0 && index % 5 !== 0),
      );
      const at = (index: number) => new Date(startMs + index * 1_000);
      expect(await listed({ from: at(10), to: at(20) })).to.deep.equal(expected((index) => index >= 10 && index < 20));
      expect(await listed({ keyId: keyA, from: at(10), to: at(20), after: ids[59 - 15] })).to.deep.equal([13, 11]);
      expect(await listed({ keyId: keyA, from: at(10), to: at(14), after: ids[59 - 15] })).to.deep.equal([13, 11]);
    });

    it('pages of listAttempts contain each attempt once, even while new ones are inserted', async () => {
      const seen: string[] = [];
      for (;;) {
        const page = await list({ limit: 7, after: seen.at(-1) });
        seen.push(...page);
        if (page.length < 7) break;
        await attempts.insertOne(attemptRecord({ accountId, keyId: keyA, at: new Date(startMs + 3_600_000) }));
      }
      await attempts.deleteMany({ accountId, at: { $gte: new Date(startMs + 3_600_000) } });
      expect(seen).to.deep.equal(ids);
    });

    it('listAttempts reads about as many index entries as the page is long, for any filters', async () => {
      const many = newAccountId();
      await attempts.insertMany(
        Array.from({ length: 3_000 }, (_, index) =>
          attemptRecord({ accountId: many, keyId: keyA, at: new Date(startMs + index), outcome: 'delivered' }),
        ),
      );
      await attempts.insertOne(
        attemptRecord({ accountId: many, keyId: keyB, at: new Date(startMs), outcome: 'failed' }),
      );
      const filters: Partial<AttemptFilters>[] = [
        {},
        { keyId: keyA },
        { keyId: keyB },
        { outcome: 'failed' },
        { outcome: ['failed', 'timeout', 'blocked', 'no_url'], keyId: keyA },
        { event: 'offer.received' },
        { after: newAttemptId(startMs + 1_500), event: 'ride.status' },
      ];
      for (const wanted of filters) {
        const [plan] = await plansOf(() => listAttempts({ accountId: many }, { limit: 20, ...wanted }));
        expect(plan?.executionStats.totalKeysExamined, JSON.stringify(wanted)).to.be.at.most(60);
      }
    });
  });

  it('an event that a resend has delivered no longer counts as missed', async () => {
    const accountId = newAccountId();
    const [ride, other] = [newKeyId(), newKeyId()];
    const resent = { accountId, rideId: ride, kind: 'redelivery' } as const;
    await storedAttempts([
      { accountId, rideId: ride, seq: 1, outcome: 'failed' },
      { ...resent, seq: 1 },
      { ...resent, seq: 2, outcome: 'failed' },
      { ...resent, seq: 3, accountId: newAccountId() },
      { ...resent, rideId: other, seq: 4 },
    ]);
    const listed = [
      { _id: ride, missed: [1, 2, 3] },
      { _id: other, missed: [] },
    ];
    const plans = await plansOf(async () => {
      expect(await withoutResent(listed, { accountId })).to.deep.equal([
        { _id: ride, missed: [2, 3] },
        { _id: other, missed: [] },
      ]);
    });
    expect(plans.map(({ executionStats }) => executionStats.totalDocsExamined)).to.deep.equal([4]);
    expect(await withoutResent(listed.slice(1), { accountId })).to.deep.equal(listed.slice(1));
  });

  describe('the delivery rate of an account', () => {
    const startMs = Date.UTC(2026, 1, 3);
    const since = new Date(startMs);

    it('counts the first attempts of events that have a URL, and the duration of delivered ones', async () => {
      const accountId = newAccountId();
      const delivered = [40, 10, 30, 20].map((durationMs) => ({ accountId, durationMs }));
      const others: Partial<AttemptRecord>[] = [
        { accountId, outcome: 'failed', durationMs: 9_000, event: 'offer.received' },
        { accountId, outcome: 'no_url' },
        { accountId, outcome: 'waiting', kind: 'redelivery' },
        { accountId, kind: 'test', durationMs: 9_000 },
        { accountId, at: new Date(startMs - 1) },
        { accountId: newAccountId() },
      ];
      await storedAttempts([...delivered, ...others], startMs);
      const rate = { attempts: 5, delivered: 4, isSample: false, medianMs: 20, mostMs: 40 };
      expect(await deliveryRate({ accountId }, since)).to.deep.equal(rate);
      expect(await deliveryRate({ accountId: newAccountId() }, since)).to.include({ attempts: 0, delivered: 0 });
    });

    it('reads at most the newest 1,000 attempts', async () => {
      const accountId = newAccountId();
      const many = Array.from({ length: 2_500 }, (_, index) =>
        attemptRecord({
          accountId,
          at: new Date(startMs + index),
          outcome: index < 1_500 ? 'failed' : 'delivered',
          event: index % 2 ? 'offer.received' : 'ride.status',
        }),
      );
      await attempts.insertMany(many, { ignoreUndefined: true });
      const expected = { attempts: 1_000, delivered: 1_000, isSample: true };
      const [plan, ...others] = await plansOf(async () => {
        expect(await deliveryRate({ accountId }, since)).to.include(expected);
      });
      expect(others).to.deep.equal([]);
      expect(plan?.executionStats.totalKeysExamined).to.be.at.most(1_020);
      expect(plan?.stages).not.to.match(/"SORT"|"COLLSCAN"/);
    });
  });
});
