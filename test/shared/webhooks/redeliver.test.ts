import { expect } from 'chai';
import { accountOf } from '../../../shared/accounts/account.ts';
import { newAccountId, newRideId } from '../../../shared/base/ids.ts';
import { createKey } from '../../../shared/keys/manage-keys.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { DeliveryOutcome, Ride, RideEvent } from '../../../shared/rides/ride-types.ts';
import { type AttemptRecord, attempts } from '../../../shared/webhooks/attempts.ts';
import { redeliver, redeliverFailed } from '../../../shared/webhooks/redeliver.ts';
import { onceInsteadOf } from '../../support/failing-mongo.ts';
import { useTestContext } from '../../support/service.ts';
import { jobFor, outcomeOf } from '../../support/stored-rides.ts';

const startMs = 1_700_000_000_000;

describe('redeliveries', () => {
  const ctx = useTestContext();

  const keyOf = async () => {
    const { _id: accountId } = await accountOf(`${newAccountId()}@partner.example`);
    const { keyId } = await createKey(ctx.config, { accountId, name: 'test', mode: 'live' });
    return { keyId, owner: { accountId } };
  };
  type Key = Awaited<ReturnType<typeof keyOf>>;

  /** Stores a ride whose events have these outcomes (null: not sent yet), one second apart, starting at `fromMs`. */
  const rideWith = async ({ keyId, owner }: Key, outcomes: (DeliveryOutcome | null)[], fromMs = startMs) => {
    const events: RideEvent[] = outcomes.map((outcome, index) => {
      const at = new Date(fromMs + index * 1_000);
      return {
        ...{ seq: index + 1, event: 'ride.status' as const, at, body: `{"seq":${index + 1}}` },
        ...(outcome && { delivery: { outcome, durationMs: 1, at } }),
      };
    });
    const failures = events.flatMap(({ delivery }) =>
      delivery && delivery.outcome !== 'delivered' ? delivery.at : [],
    );
    const ride = {
      ...{ _id: newRideId(Date.now()), keyId, ...owner, mode: 'live', trackToken: newRideId(Date.now()), events },
      webhookUrl: 'https://partner.example/',
      ...(failures.length > 0 && { undeliveredAt: failures.at(-1) }),
      ...{ pickup: { lat: 40.7, lng: -74 }, destination: { lat: 40.8, lng: -74 } },
    };
    await rides.insertOne(ride as unknown as Ride);
    return ride._id;
  };
  const waitingOf = async (keyId: string) => attempts.find({ keyId, outcome: 'waiting' }).sort({ dueAt: 1 }).toArray();

  describe('of one event', () => {
    it('redeliver stores a pending attempt, and adds a job that contains only ids', async () => {
      const key = await keyOf();
      const rideId = await rideWith(key, ['failed', 'delivered']);
      const attemptId = await redeliver(ctx, { rideId, seq: 2 }, key.owner);
      const record = await attempts.findOne({ _id: attemptId });
      expect(record).to.include({
        ...key.owner,
        keyId: key.keyId,
        rideId,
        seq: 2,
        kind: 'redelivery',
        outcome: 'waiting',
      });
      expect(record).not.to.have.property('body');
      const { data } = (await jobFor(ctx, 'webhooks', { attemptId })) ?? {};
      expect(data).to.deep.equal({ attemptId, keyId: key.keyId });
    });

    it('resends of a ride are due in the order in which they were requested, over the API and in the dashboard', async () => {
      const key = await keyOf();
      const rideId = await rideWith(key, ['failed', 'failed', 'failed']);
      const spaced = { ...key.owner, isSpaced: true } as const;
      await redeliver(ctx, { rideId, seq: 3 }, spaced);
      await redeliver(ctx, { rideId, seq: 2 }, spaced);
      await redeliver(ctx, { rideId, seq: 1 }, key.owner);
      expect((await waitingOf(key.keyId)).map(({ seq }) => seq)).to.deep.equal([3, 2, 1]);
    });

    it('redeliver throws not_found for a ride of another account, an unknown ride and a missing event', async () => {
      const key = await keyOf();
      const other = await keyOf();
      const rideId = await rideWith(key, ['failed']);
      expect(await outcomeOf(redeliver(ctx, { rideId, seq: 1 }, other.owner))).to.equal('not_found');
      expect(await outcomeOf(redeliver(ctx, { rideId: 'ride_of_nobody', seq: 1 }, other.owner))).to.equal('not_found');
      expect(await outcomeOf(redeliver(ctx, { rideId, seq: 2 }, key.owner))).to.equal('not_found');
    });
  });

  describe('of failed events', () => {
    it('redeliverFailed resends all undelivered events from a time on, or those that failed or timed out before another', async () => {
      const [since, until] = [new Date(startMs + 2_000), new Date(startMs + 4_000)];
      for (const [range, seqs] of [
        [{ since }, [3, 4, 5, 6]],
        [{ since, until }, [3]],
      ] as const) {
        const key = await keyOf();
        await rideWith(key, ['failed', 'delivered', 'timeout', 'blocked', 'failed', 'no_url', null]);
        await redeliverFailed(ctx, key.keyId, range, key.owner);
        expect((await waitingOf(key.keyId)).map(({ seq }) => seq)).to.deep.equal(seqs);
      }
    });

    it('redeliverFailed plans resends oldest first, in order for each ride, and at most 10 a second', async () => {
      const key = await keyOf();
      const later = await rideWith(key, ['failed', 'failed'], startMs + 500);
      const earlier = await rideWith(key, ['failed', 'failed', 'failed'], startMs);
      expect(await redeliverFailed(ctx, key.keyId, { since: new Date(0) }, key.owner)).to.equal(5);
      const waiting = await waitingOf(key.keyId);
      expect(waiting.map((one) => [one.rideId, one.seq])).to.deep.equal([
        [earlier, 1],
        [later, 1],
        [earlier, 2],
        [later, 2],
        [earlier, 3],
      ]);
      const dueTimes = waiting.map(({ dueAt }) => dueAt?.getTime() ?? 0);
      for (const [index, due] of dueTimes.entries()) {
        if (index > 0) expect(due - (dueTimes[index - 1] ?? 0)).to.be.at.least(100);
      }
    });

    it('redeliverFailed adds a job only for the first event of each ride', async () => {
      const key = await keyOf();
      await rideWith(key, ['failed', 'failed']);
      await redeliverFailed(ctx, key.keyId, { since: new Date(0) }, key.owner);
      const [first, second] = await waitingOf(key.keyId);
      expect(await jobFor(ctx, 'webhooks', { attemptId: first?._id ?? '' })).not.to.equal(undefined);
      expect(await jobFor(ctx, 'webhooks', { attemptId: second?._id ?? '' })).to.equal(undefined);
    });

    it('redeliverFailed plans at most 500 resends, and a further call plans the next ones after them', async () => {
      const key = await keyOf();
      for (let made = 0; made < 11; made++) await rideWith(key, Array(50).fill('failed'), startMs + made * 100_000);
      expect(await redeliverFailed(ctx, key.keyId, { since: new Date(0) }, key.owner)).to.equal(500);
      const [lastOfFirst] = (await waitingOf(key.keyId)).slice(-1);
      expect(await redeliverFailed(ctx, key.keyId, { since: new Date(0) }, key.owner)).to.equal(50);
      const waiting = await waitingOf(key.keyId);
      expect(waiting).to.have.length(550);
      expect(waiting[500]?.dueAt).to.be.greaterThan(lastOfFirst?.dueAt as Date);
      expect(new Set(waiting.map(({ rideId, seq }) => `${rideId} ${seq}`)).size).to.equal(550);
      expect(await redeliverFailed(ctx, key.keyId, { since: new Date(0) }, key.owner)).to.equal(0);
    });

    it('redeliverFailed skips events whose resend was delivered, and repeats events whose resend failed', async () => {
      const key = await keyOf();
      const rideId = await rideWith(key, ['failed', 'failed']);
      await redeliverFailed(ctx, key.keyId, { since: new Date(0) }, key.owner);
      const done = { $set: { state: 'done' as const }, $unset: { dueAt: '' as const } };
      await attempts.updateOne({ rideId, seq: 1 }, { ...done, $set: { state: 'done', outcome: 'delivered' } });
      await attempts.updateOne({ rideId, seq: 2 }, { ...done, $set: { state: 'done', outcome: 'failed' } });
      expect(await redeliverFailed(ctx, key.keyId, { since: new Date(0) }, key.owner)).to.equal(1);
      expect((await waitingOf(key.keyId)).map(({ seq }) => seq)).to.deep.equal([2]);
    });

    it('redeliverFailed skips events whose body is erased', async () => {
      const key = await keyOf();
      const rideId = await rideWith(key, ['failed', 'failed']);
      await rides.updateOne({ _id: rideId }, { $unset: { 'events.0.body': '' } });
      expect(await redeliverFailed(ctx, key.keyId, { since: new Date(0) }, key.owner)).to.equal(1);
    });
  });

  describe('requested repeatedly', () => {
    const events = async (keyId: string) => {
      const found = await attempts.find({ keyId, kind: 'redelivery' }).sort({ _id: 1 }).toArray();
      return found.map(({ rideId, seq }) => `${rideId} ${seq}`);
    };
    const finish = (keyId: string) =>
      attempts.updateMany({ keyId }, { $set: { state: 'done', outcome: 'failed' }, $unset: { dueAt: '' } });

    it('concurrent requests create one pending resend per event', async () => {
      const key = await keyOf();
      for (let made = 0; made < 3; made++) await rideWith(key, Array(20).fill('failed'), startMs + made * 500);
      const [rideId = ''] = (await rides.find({ keyId: key.keyId }).toArray()).map(({ _id }) => _id);
      const press = (form: string) => redeliverFailed(ctx, key.keyId, { since: new Date(0) }, { ...key.owner, form });
      const [a = 0, b = 0, c = 0] = (await Promise.all([
        ...['a', 'b', 'c'].map((name) => press(name + key.keyId)),
        redeliver(ctx, { rideId, seq: 7 }, key.owner),
        redeliver(ctx, { rideId, seq: 7 }, key.owner),
      ])) as number[];
      const pending = await attempts.findOne({ rideId, seq: 7 });
      expect(await redeliver(ctx, { rideId, seq: 7 }, key.owner)).to.equal(pending?._id);
      const sent = await events(key.keyId);
      expect([sent.length, new Set(sent).size]).to.deep.equal([60, 60]);
      expect(a + b + c).to.be.within(59, 60);
      const waiting = await attempts.find({ keyId: key.keyId }).sort({ rideId: 1, dueAt: 1 }).toArray();
      const inOrder = waiting.filter(({ rideId: of, seq }) => of !== rideId || seq !== 7);
      const bySeq = [...inOrder].sort(
        (x, y) => String(x.rideId).localeCompare(String(y.rideId)) || Number(x.seq) - Number(y.seq),
      );
      for (const of of new Set(inOrder.map((one) => one.rideId))) {
        const seqs = (list: typeof waiting) => list.flatMap((one) => (one.rideId === of ? (one.seq ?? 0) : []));
        expect(seqs(inOrder)).to.deep.equal(seqs(bySeq));
      }
    });

    it('spaced resends of a key are due 111 ms after each other and after those of the dashboard', async () => {
      const key = await keyOf();
      await rideWith(key, ['failed', 'failed']);
      await redeliverFailed(ctx, key.keyId, { since: new Date(0) }, key.owner);
      const rideId = await rideWith(key, ['delivered', 'delivered'], startMs + 60_000);
      for (const seq of [2, 1]) await redeliver(ctx, { rideId, seq }, { ...key.owner, isSpaced: true });
      const dueMs = (await waitingOf(key.keyId)).map(({ dueAt }) => dueAt?.getTime() ?? 0);
      expect(dueMs.slice(1).map((due, index) => due - (dueMs[index] ?? 0))).to.deep.equal([111, 111, 111]);
    });

    it('a concurrent request for one event keeps the order of the resends of its ride', async () => {
      const key = await keyOf();
      const rideId = await rideWith(key, ['failed', 'failed', 'failed']);
      const later = { ...ctx, now: () => ctx.now() + 5_000 };
      onceInsteadOf(attempts, 'insertMany', async (records, options) => {
        await redeliver(later, { rideId, seq: 2 }, key.owner);
        return attempts.insertMany(records as AttemptRecord[], options as object);
      });
      expect(await redeliverFailed(ctx, key.keyId, { since: new Date(0) }, key.owner)).to.equal(2);
      expect((await waitingOf(key.keyId)).map(({ seq }) => seq)).to.deep.equal([1, 2, 3]);
    });

    it('submitting the same form again does not resend its events, even if the first resends failed', async () => {
      const key = await keyOf();
      const rideId = await rideWith(key, ['failed', 'failed']);
      const all = () =>
        redeliverFailed(ctx, key.keyId, { since: new Date(0) }, { ...key.owner, form: `all ${key.keyId}` });
      const one = () => redeliver(ctx, { rideId, seq: 1 }, { ...key.owner, form: `one ${key.keyId}` });
      expect([await all(), await all()]).to.deep.equal([2, 2]);
      await finish(key.keyId);
      expect(await all()).to.equal(2);
      expect(await events(key.keyId)).to.have.length(2);
      const attemptId = await one();
      await finish(key.keyId);
      expect(await one()).to.equal(attemptId);
      expect(await events(key.keyId)).to.have.length(3);
    });

    it('a repeated form adds the resends that its first request did not store', async () => {
      const key = await keyOf();
      await rideWith(key, Array(5).fill('failed'));
      const press = () =>
        redeliverFailed(ctx, key.keyId, { since: new Date(0) }, { ...key.owner, form: `partly ${key.keyId}` });
      await press();
      const last = await attempts.find({ keyId: key.keyId }).sort({ seq: 1 }).skip(2).toArray();
      await attempts.deleteMany({ _id: { $in: last.map(({ _id }) => _id) } });
      await finish(key.keyId);
      expect(await press()).to.equal(5);
      expect((await waitingOf(key.keyId)).map(({ seq }) => seq)).to.deep.equal([3, 4, 5]);
    });
  });
});
