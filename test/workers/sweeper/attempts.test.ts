import { expect } from 'chai';
import { newKeyId, newRideId } from '../../../shared/base/ids.ts';
import { type AttemptRecord, attempts } from '../../../shared/webhooks/attempts.ts';
import { sweep } from '../../../workers/periodic/sweeper/sweep.ts';
import { claimResend } from '../../../workers/webhooks/claim-resend.ts';
import { markSlow } from '../../../workers/webhooks/slow-lane.ts';
import { attemptRecord } from '../../support/attempts.ts';
import { useTestContext } from '../../support/service.ts';
import { jobFor } from '../../support/stored-rides.ts';

describe('sweeper: test events and redeliveries', () => {
  const ctx = useTestContext();
  beforeEach(async () => {
    await ctx.redis.flushall();
    await attempts.deleteMany({});
  });

  const secondsFromNow = (seconds: number) => new Date(Date.now() + seconds * 1_000);
  /** A waiting attempt without a job. */
  const waiting = async (seconds: number, changes: Partial<AttemptRecord> = {}): Promise<AttemptRecord> => {
    const at = secondsFromNow(seconds);
    const record = attemptRecord({
      at,
      dueAt: at,
      outcome: 'waiting',
      state: 'waiting',
      tries: 0,
      kind: 'test',
      ...changes,
    });
    if (record.kind === 'test') delete record.rideId;
    await attempts.insertOne(record);
    return record;
  };
  const redelivery = (seconds: number, rideId: string, keyId?: string) =>
    waiting(seconds, { kind: 'redelivery', rideId, ...(keyId && { keyId }) });
  const job = ({ _id }: AttemptRecord) => jobFor(ctx, 'webhooks', { attemptId: _id });

  it('the sweeper adds jobs of resends that are late by over 10 s, and no others', async () => {
    const [late, recent] = [await waiting(-60), await waiting(-1)];
    expect(await sweep(ctx, { everything: false })).to.include({ attempts: 1, failed: 0 });
    expect((await job(late))?.data).to.deep.equal({ attemptId: late._id, keyId: late.keyId });
    expect(await job(recent)).to.equal(undefined);
  });

  it('a full sweep adds the missing jobs of all resends, each for its due time', async () => {
    const [now, planned] = [await waiting(0), await waiting(40)];
    await sweep(ctx, { everything: true });
    expect(await job(now)).not.to.equal(undefined);
    const delayed = await job(planned);
    expect((delayed?.timestamp ?? 0) + (delayed?.opts.delay ?? 0)).to.equal(planned.dueAt?.getTime());
  });

  it('the sweeper adds the job of a resend only once', async () => {
    const late = await waiting(-60);
    await sweep(ctx, { everything: true });
    const first = await job(late);
    for (let times = 0; times < 3; times++) await sweep(ctx, { everything: true });
    expect((await job(late))?.id).to.equal(first?.id);
  });

  it('the sweeper leaves a claimed resend alone until its claim has expired', async () => {
    const late = await waiting(-60);
    await claimResend(late._id, 'a run that was killed');
    await sweep(ctx, { everything: true });
    expect(await job(late)).to.equal(undefined);
    await attempts.updateOne({ _id: late._id }, { $set: { 'claim.until': new Date(0) } });
    await sweep(ctx, { everything: false });
    expect(await job(late)).not.to.equal(undefined);
  });

  it('the sweeper adds only the job of the first redelivery of each ride', async () => {
    const [rideA, rideB] = [newRideId(0), newRideId(0)];
    const [first, second, other] = [
      await redelivery(-60, rideA),
      await redelivery(-50, rideA),
      await redelivery(-40, rideB),
    ];
    for (let times = 0; times < 2; times++) await sweep(ctx, { everything: true });
    expect(await job(first)).not.to.equal(undefined);
    expect(await job(other)).not.to.equal(undefined);
    expect(await job(second)).to.equal(undefined);
  });

  it('the sweeper adds the next redelivery if a worker crashed after it recorded the first one', async () => {
    const rideId = newRideId(0);
    const [first, second] = [await redelivery(-60, rideId), await redelivery(-50, rideId)];
    await attempts.updateOne(
      { _id: first._id },
      { $set: { state: 'done', outcome: 'delivered' }, $unset: { dueAt: '' } },
    );
    await sweep(ctx, { everything: false });
    expect(await job(second)).not.to.equal(undefined);
  });

  it('the sweeper adds the resends of a slow key to the slow lane', async () => {
    const keyId = newKeyId();
    await markSlow(ctx, keyId);
    const late = await waiting(-60, { keyId });
    await sweep(ctx, { everything: false });
    expect(await job(late)).to.equal(undefined);
    expect(await jobFor(ctx, 'webhooks-slow', { attemptId: late._id })).not.to.equal(undefined);
  });

  it('the sweeper ignores the attempts of events and resends that are done', async () => {
    await attempts.insertMany(Array.from({ length: 20 }, () => attemptRecord({ at: secondsFromNow(-60) })));
    expect(await sweep(ctx, { everything: false })).to.include({ attempts: 0 });
  });
});
