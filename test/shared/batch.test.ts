import { expect } from 'chai';
import { batch, spaceBatches } from '../../shared/base/mongo/batch.ts';

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
