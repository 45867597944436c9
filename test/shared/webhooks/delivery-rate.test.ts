import { expect } from 'chai';
import { newAccountId } from '../../../shared/base/ids.ts';
import { type AttemptRecord, attempts } from '../../../shared/webhooks/attempts.ts';
import { deliveryRate } from '../../../shared/webhooks/delivery-rate.ts';
import { attemptRecord, storedAttempts } from '../../support/attempts.ts';
import { plansOf } from '../../support/plans.ts';
import { useTestContext } from '../../support/service.ts';

describe('the delivery rate of an account', () => {
  useTestContext();
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
