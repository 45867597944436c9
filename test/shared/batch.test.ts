import { expect } from 'chai';
import { newRideId, newTrackToken } from '../../shared/base/ids.ts';
import {
  batch,
  batchedFind,
  batchedInsert,
  batchedUpdate,
  batchedWrite,
  spaceBatches,
} from '../../shared/base/mongo/batch.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import { newRide } from '../support/rides.ts';
import { useTestContext } from '../support/service.ts';
import { storedRide } from '../support/stored-rides.ts';

/** Batches that the test answers explicitly. */
function heldBatches() {
  const sent: { batch: readonly number[]; answer: () => void }[] = [];
  const ask = batch<number, number>(
    (batch) => new Promise((resolve) => sent.push({ batch, answer: () => resolve(batch) })),
    1,
  );
  const isSent = async (count: number) => {
    while (sent.length < count) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  return { sent, ask, isSent };
}

describe('batch', () => {
  it('concurrent operations share a batch, and each caller gets its own result', async () => {
    const batches: (readonly number[])[] = [];
    const double = batch<number, number>(async (batch) => {
      batches.push(batch);
      return batch.map((value) => value * 2);
    });
    expect(await Promise.all([double(1), double(2), double(1)])).to.deep.equal([2, 4, 2]);
    expect(batches).to.deep.equal([[1, 2, 1]]);
  });

  it('an operation never joins a batch that has been sent', async () => {
    const { sent, ask, isSent } = heldBatches();
    const first = ask(1);
    await isSent(1);
    const second = ask(2);
    sent[0]?.answer();
    expect(await first).to.equal(1);
    await isSent(2);
    sent[1]?.answer();
    expect(await second).to.equal(2);
    expect(sent.map(({ batch }) => batch)).to.deep.equal([[1], [2]]);
  });

  it('a batch is sent even if an earlier one hangs', async () => {
    const { sent, ask, isSent } = heldBatches();
    void ask(1);
    await isSent(1);
    const second = ask(2);
    await isSent(2);
    sent[1]?.answer();
    expect(await second).to.equal(2);
  });

  it('with spacing, an operation is sent at once after a pause, and later ones share the next batch', async () => {
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    spaceBatches(500);
    try {
      const sent: (readonly number[])[] = [];
      const ask = batch<number, number>(async (batch) => {
        sent.push(batch);
        return batch;
      });
      await ask(1);
      const later = [ask(2)];
      await turn();
      later.push(ask(3));
      expect(sent).to.deep.equal([[1]]);
      await Promise.all(later);
      expect(sent).to.deep.equal([[1], [2, 3]]);
    } finally {
      spaceBatches(0);
    }
  });

  it('with spacing, operations that are few do not wait', async () => {
    spaceBatches(3_600_000, 1_000);
    try {
      const ask = batch<number, number>(async (batch) => batch);
      expect(await ask(1)).to.equal(1);
      expect(await ask(2)).to.equal(2);
    } finally {
      spaceBatches(0);
    }
  });

  it('only the failed operation of a batch rejects, or all operations if the whole batch fails', async () => {
    const oddOnly = batch<number, number>(async (batch) => {
      if (batch.includes(0)) throw new Error('all');
      return batch.map((value) => (value % 2 ? value : new Error('even')));
    });
    const outcomes = async (...values: number[]) =>
      (await Promise.allSettled(values.map((value) => oddOnly(value)))).map(({ status }) => status);
    expect(await outcomes(1, 2, 3)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
    expect(await outcomes(1, 0)).to.deep.equal(['rejected', 'rejected']);
  });
});

describe('batched reads and writes', () => {
  const ctx = useTestContext();

  it('batchedFind returns each requested document, or null if it does not exist', async () => {
    const ids = await Promise.all([newRide(ctx), newRide(ctx)]);
    const find = batchedFind<Ride>(rides, '_id', { status: 1 });
    const found = await Promise.all([...ids, 'ride_of_nobody', ids[0] ?? ''].map((id) => find(id)));
    expect(found.map((ride) => ride?._id)).to.deep.equal([...ids, undefined, ids[0]]);
    expect(found[0]).to.have.keys('_id', 'status');
  });

  it('batchedInsert rejects a duplicate and inserts the other documents', async () => {
    const stored = await storedRide(await newRide(ctx));
    const insert = batchedInsert(rides);
    const copyOf = (changes: Partial<Ride>) => ({ ...stored, _id: newRideId(ctx.now()), ...changes });
    const good = [copyOf({ trackToken: newTrackToken() }), copyOf({ trackToken: newTrackToken() })] as const;
    const outcomes = await Promise.allSettled([insert(good[0]), insert(copyOf({})), insert(good[1])]);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
    expect((outcomes[1] as PromiseRejectedResult).reason.code).to.equal(11_000);
    expect(await rides.countDocuments({ _id: { $in: good.map(({ _id }) => _id) } })).to.equal(2);
  });

  it('batchedUpdate updates the documents that match, and returns null for a filter without a match', async () => {
    const [first = '', second = ''] = await Promise.all([newRide(ctx), newRide(ctx)]);
    const update = batchedUpdate<Ride, Pick<Ride, '_id' | 'rev'>>(rides, { rev: 1 });
    const raised = (rideId: string, rev: number) =>
      update({ filter: { _id: rideId, rev }, change: { $inc: { rev: 1 } } });
    const answers = await Promise.all([raised(first, 0), raised(second, 7), raised('ride_of_nobody', 0)]);
    expect(answers).to.deep.equal([{ _id: first, rev: 1 }, null, null]);
    expect(await raised(second, 0)).to.deep.equal({ _id: second, rev: 1 });
  });

  it('batchedWrite reports whether each filter matched', async () => {
    const [first = '', second = ''] = await Promise.all([newRide(ctx), newRide(ctx)]);
    const write = batchedWrite<Ride>(rides);
    const raised = (rideId: string, rev: number) =>
      write({ filter: { _id: rideId, rev }, change: { $inc: { rev: 1 } } });
    expect(await raised(first, 0)).to.equal(true);
    expect(await Promise.all([raised(first, 1), raised(second, 7)])).to.deep.equal([true, false]);
    expect((await storedRide(first)).rev).to.equal(2);
  });

  it('batchedUpdate applies one of ten concurrent updates of the same revision', async () => {
    const rideId = await newRide(ctx);
    const update = batchedUpdate<Ride, Pick<Ride, '_id' | 'rev'>>(rides, { rev: 1 });
    const raise = () => update({ filter: { _id: rideId, rev: 0 }, change: { $inc: { rev: 1 } } });
    const answers = await Promise.all(Array.from({ length: 10 }, raise));
    expect(answers.filter((answer) => answer !== null)).to.deep.equal([{ _id: rideId, rev: 1 }]);
    expect((await storedRide(rideId)).rev).to.equal(1);
  });

  it('batchedUpdate rejects an update that MongoDB refuses, and applies the others', async () => {
    const [first = '', second = ''] = await Promise.all([newRide(ctx), newRide(ctx)]);
    const { trackToken } = await storedRide(first);
    const update = batchedUpdate<Ride, Pick<Ride, '_id' | 'rev'>>(rides, { rev: 1 });
    const [done, refused] = await Promise.allSettled([
      update({ filter: { _id: first }, change: { $inc: { rev: 1 } } }),
      update({ filter: { _id: second }, change: { $set: { trackToken } } }),
    ]);
    expect(done).to.include({ status: 'fulfilled' });
    expect((refused as PromiseRejectedResult).reason.code).to.equal(11_000);
    expect((await storedRide(first)).rev).to.equal(1);
  });
});
