import { expect } from 'chai';
import { newAccountId, newKeyId } from '../../../shared/base/ids.ts';
import { withoutResent } from '../../../shared/webhooks/missed-events.ts';
import { storedAttempts } from '../../support/attempts.ts';
import { plansOf } from '../../support/plans.ts';
import { useTestContext } from '../../support/service.ts';

describe('missed events', () => {
  useTestContext();

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
});
