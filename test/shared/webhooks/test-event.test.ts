import { expect } from 'chai';
import { accountOf } from '../../../shared/accounts/account.ts';
import { AppError } from '../../../shared/base/errors.ts';
import { newAccountId } from '../../../shared/base/ids.ts';
import type { Mode } from '../../../shared/base/terms.ts';
import { createKey, revokeKey } from '../../../shared/keys/manage-keys.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { attempts } from '../../../shared/webhooks/attempts.ts';
import { sendTestEvent } from '../../../shared/webhooks/test-event.ts';
import { useTestContext } from '../../support/service.ts';
import { jobFor, outcomeOf } from '../../support/stored-rides.ts';

describe('sendTestEvent', () => {
  const ctx = useTestContext();

  const keyOf = async (mode: Mode = 'live') => {
    const { _id: accountId } = await accountOf(`${newAccountId()}@partner.example`);
    const { keyId } = await createKey(ctx.config, { accountId, name: 'test', mode });
    return { keyId, owner: { accountId } };
  };

  it('a test event is stored as a pending attempt without a ride, with a job that contains only ids', async () => {
    const { keyId, owner } = await keyOf('test');
    const attemptId = await sendTestEvent(ctx, keyId, owner);
    const record = await attempts.findOne({ _id: attemptId });
    expect(record).to.include({ ...owner, keyId, mode: 'test', kind: 'test', outcome: 'waiting', state: 'waiting' });
    expect((await jobFor(ctx, 'webhooks', { attemptId }))?.data).to.deep.equal({ attemptId, keyId });
    expect(await rides.countDocuments({ keyId })).to.equal(0);
  });

  it('sendTestEvent throws not_found for a key that is unknown, revoked or of another account', async () => {
    const { keyId, owner } = await keyOf();
    const other = await keyOf();
    expect(await outcomeOf(sendTestEvent(ctx, other.keyId, owner))).to.equal('not_found');
    expect(await outcomeOf(sendTestEvent(ctx, 'key_of_nobody', owner))).to.equal('not_found');
    await revokeKey(keyId, 'anyone');
    expect(await outcomeOf(sendTestEvent(ctx, keyId, owner))).to.equal('not_found');
  });

  it('a key can send exactly 10 test events a minute, even concurrently', async () => {
    const { keyId, owner } = await keyOf();
    const outcomes = await Promise.all(Array.from({ length: 25 }, () => outcomeOf(sendTestEvent(ctx, keyId, owner))));
    expect(outcomes.filter((outcome) => outcome === 'done')).to.have.length(10);
    expect(outcomes.filter((outcome) => outcome === 'rate_limited')).to.have.length(15);
    expect(await attempts.countDocuments({ keyId })).to.equal(10);
    const refusal: unknown = await sendTestEvent(ctx, keyId, owner).catch((error) => error);
    expect(refusal).to.be.instanceOf(AppError);
    const { message, status, headers } = refusal as AppError;
    expect(status).to.equal(429);
    expect(message).to.equal('Rate limit exceeded: at most 10 test events a minute for each key');
    expect(Number(headers['Retry-After'])).to.be.within(1, 60);
    const later = { ...ctx, now: () => ctx.now() + 60_001 };
    expect(await outcomeOf(sendTestEvent(later, keyId, owner))).to.equal('done');
  });
});
