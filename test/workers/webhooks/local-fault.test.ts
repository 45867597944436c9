import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { expect } from 'chai';
import { SecretsKeyMissing } from '../../../shared/base/encryption.ts';
import { registry } from '../../../shared/base/metrics.ts';
import { keys } from '../../../shared/keys/api-key.ts';
import type { NewKey } from '../../../shared/keys/manage-keys.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { Claim } from '../../../shared/rides/ride-types.ts';
import { deliver, newKey, useDeliveries, withTargets } from '../../support/deliveries.ts';
import { withLogLines } from '../../support/log-lines.ts';
import { startReceiver } from '../../support/receiver.ts';
import { rideWithEvents } from '../../support/rides.ts';
import { useTestContext } from '../../support/service.ts';
import { jobFor, storedRide } from '../../support/stored-rides.ts';
import { divertOutbound } from '../../support/webhook-outbound.ts';

const dayMs = 24 * 3_600_000;

describe('event delivery without the signing secret', () => {
  const { find } = keys;
  const { receiver, ctx } = useDeliveries();
  let key: NewKey;
  let rideId: string;

  beforeEach(async () => {
    key = await newKey(ctx, receiver.url);
    rideId = await rideWithEvents(ctx, key, 2);
  });
  afterEach(() => {
    keys.find = find;
  });

  /** Simulates a SECRETS_KEY that does not list the key of the ciphertext. */
  const lackSecretsKey = () => {
    keys.find = (() => {
      throw Object.create(SecretsKeyMissing.prototype);
    }) as typeof find;
  };
  const setEventAge = (agoMs: number) =>
    rides.updateOne({ _id: rideId }, { $set: { 'events.0.at': new Date(Date.now() - agoMs) } });
  const expectFailed = async (reason: string) => {
    expect(await deliver(ctx, rideId, 1)).to.include({ result: 'failed' });
    const ride = await storedRide(rideId);
    expect(ride).to.include({ settledSeq: 1, unsettled: 1 }).and.not.to.have.property('claim');
    expect(ride.events[0]?.delivery).to.include({ outcome: 'failed', reason, durationMs: 0 });
    expect((await jobFor(ctx, 'webhooks', { rideId, seq: 2 }))?.data).to.include({ rideId, seq: 2 });
    expect(receiver.receipts).to.have.length(0);
  };

  it('an event is failed if the ciphertext of the secret is damaged, and the next event is sent', async () => {
    const { signingSecret } = (await keys.findOne({ _id: key.keyId })) ?? { signingSecret: '' };
    const damaged = signingSecret.replace(/.{4}$/, (end) => (end === 'AAAA' ? 'BBBB' : 'AAAA'));
    await keys.updateOne({ _id: key.keyId }, { $set: { signingSecret: damaged } });
    await expectFailed('signing_secret_damaged');
  });

  it("an event is failed if its key's record is missing, and the next event is sent", async () => {
    await keys.deleteOne({ _id: key.keyId });
    await expectFailed('no_key_record');
  });

  it('while SECRETS_KEY lacks the key of the ciphertext, an event waits with a growing backoff; then it is delivered', async () => {
    lackSecretsKey();
    const logged = withLogLines(ctx);
    for (const agoMs of [0, 60_000, 3_600_000]) {
      await setEventAge(agoMs);
      const run = await deliver(logged.ctx, rideId, 1);
      const againInMs = Math.min(Math.max(agoMs, 15_000), 300_000);
      expect('againInMs' in run && run.againInMs).to.be.within(againInMs, againInMs + 60_000);
      const { events, settledSeq, claim } = await storedRide(rideId);
      expect({ settledSeq, delivery: events[0]?.delivery }).to.deep.equal({ settledSeq: 0, delivery: undefined });
      // No other run can claim the event before the backoff ends.
      expect(await deliver(ctx, rideId, 1)).to.include({ why: 'held by another run' });
      const { at, until } = claim as Claim;
      expect(until.getTime() - at.getTime()).to.be.at.least(againInMs);
      await rides.updateOne({ _id: rideId }, { $set: { 'claim.until': new Date(0) } });
    }
    expect(logged.errors()).to.have.length(1);
    expect(logged.errors()[0]).to.include({ reason: 'secrets_key_missing', rideId, keyId: key.keyId, seq: 1 });
    keys.find = find;
    expect(await deliver(ctx, rideId, 1)).to.include({ result: 'delivered' });
  });

  it('an event whose secret cannot be decrypted for 24 hours is recorded as failed, and the next event is sent', async () => {
    lackSecretsKey();
    await setEventAge(dayMs - 60_000);
    expect(await deliver(ctx, rideId, 1)).to.include({ why: 'secrets_key_missing' });
    await rides.updateOne({ _id: rideId }, { $set: { 'claim.until': new Date(0) } });
    await setEventAge(dayMs);
    await expectFailed('secrets_key_missing');
  });
});

describe('event delivery with a local fault', () => {
  const base = useTestContext();

  it('without descriptors, events stay unsettled and unclaimed with one error log, and are sent later', async () => {
    const receiver = await startReceiver();
    const { ctx, errors } = withLogLines(withTargets(base, receiver.origin));
    const rideIds = await Promise.all(
      [1, 2, 3].map(async () => rideWithEvents(ctx, await newKey(ctx, receiver.url), 1)),
    );
    const outbound = divertOutbound(() => ({ fails: 'EMFILE' }));
    try {
      for (const run of await Promise.all(rideIds.map((rideId) => deliver(ctx, rideId, 1)))) {
        expect(run).to.deep.equal({ againInMs: 0, why: 'EMFILE' });
      }
    } finally {
      outbound.restore();
    }
    expect(errors()).to.have.length(1);
    expect(errors()[0]).to.include({ reason: 'EMFILE' });
    for (const rideId of rideIds) {
      const ride = await storedRide(rideId);
      expect(ride).to.include({ settledSeq: 0 }).and.not.to.have.property('claim');
      expect(ride.events[0]).not.to.have.property('delivery');
      expect(await deliver(ctx, rideId, 1)).to.include({ result: 'delivered' });
    }
    await receiver.close();
  });

  it('an event stays unsettled while this process has no route to any public address', async () => {
    const rideId = await rideWithEvents(base, await newKey(base, 'https://93.184.216.34/hook'), 1);
    const outbound = divertOutbound(() => ({ fails: 'ENETUNREACH' }), { hasRoute: false });
    const { ctx, errors } = withLogLines(base);
    try {
      const run = await deliver(ctx, rideId, 1, { stopping: AbortSignal.abort() });
      expect(run).to.deep.equal({ againInMs: 0, why: 'ENETUNREACH' });
    } finally {
      outbound.restore();
    }
    expect(errors()[0]).to.include({ reason: 'ENETUNREACH', rideId });
    expect(await registry.metrics()).to.match(/rides_deliveries_postponed_total\{reason="ENETUNREACH",mode="live"\} 1/);
    const ride = await storedRide(rideId);
    expect(ride).to.include({ settledSeq: 0 }).and.not.to.have.property('claim');
    expect(ride.events[0]).not.to.have.property('delivery');
  });

  it('the pause after a local fault ends when the pool stops', async () => {
    const rideId = await rideWithEvents(base, await newKey(base, 'https://partner.example/'), 1);
    const ctx = withTargets(base, 'http://127.0.0.1:9');
    await rides.updateOne({ _id: rideId }, { $set: { webhookUrl: 'http://127.0.0.1:9/' } });
    const outbound = divertOutbound(() => ({ fails: 'ENOBUFS' }));
    // Replaces the timer by one that never fires, so that only the signal can end a pause.
    const { setTimeout } = timers;
    const endless = async (_ms: number, _value: unknown, { signal }: { signal: AbortSignal }) =>
      signal.aborted ? undefined : new Promise(() => {});
    Object.assign(timers, { setTimeout: endless });
    syncBuiltinESMExports();
    try {
      expect(await deliver(ctx, rideId, 1, { stopping: AbortSignal.abort() })).to.include({ why: 'ENOBUFS' });
    } finally {
      Object.assign(timers, { setTimeout });
      syncBuiltinESMExports();
      outbound.restore();
    }
  });
});
