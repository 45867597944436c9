import { expect } from 'chai';
import { keys } from '../../../shared/keys/api-key.ts';
import {
  heldSettingsMaxAgeMs,
  holdDeliverySettings,
  settingsMaxAgeMs,
  untilSettingsApply,
} from '../../../shared/keys/delivery-settings.ts';
import { setWebhookUrl } from '../../../shared/keys/manage-keys.ts';
import { rollSigningSecret } from '../../../shared/keys/replace-secret.ts';
import { changeTerms } from '../../../shared/rides/change-terms.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { attempts } from '../../../shared/webhooks/attempts.ts';
import { sendTestEvent } from '../../../shared/webhooks/test-event.ts';
import { beforeTheAnswer, deliver, deliverResend, isSignedWith, newKey } from '../../support/deliveries.ts';
import { onceInsteadOf } from '../../support/failing-mongo.ts';
import { useReceiver } from '../../support/receiver.ts';
import { rideWithEvents } from '../../support/rides.ts';
import { useTestContext } from '../../support/service.ts';
import { storedRide } from '../../support/stored-rides.ts';
import { divertOutbound } from '../../support/webhook-outbound.ts';

describe('changed delivery settings', () => {
  const { now } = Date;
  const old = useReceiver();
  const receiver = useReceiver();
  const ctx = useTestContext(() => ({ WEBHOOK_LOCAL_TARGETS: `${old.origin},${receiver.origin}` }));
  let key: Awaited<ReturnType<typeof newKey>>;
  let rideId: string;

  beforeEach(async () => {
    key = await newKey(ctx, old.url);
    rideId = await rideWithEvents(ctx, key, 1);
  });
  afterEach(() => {
    Date.now = now;
  });

  const letPass = (ms: number) => {
    Date.now = () => now() + ms;
  };
  /** Calls `change` after the settings were read, and then makes them too old to be used. */
  const changeBeforeWriting = (change: () => Promise<unknown>) =>
    beforeTheAnswer('claim', async () => {
      await change();
      letPass(settingsMaxAgeMs + 1);
    });

  it('a request written 251 ms after its settings were read is signed with the new secret', async () => {
    let rolled = '';
    changeBeforeWriting(async () => {
      rolled = (await rollSigningSecret(ctx.config, key.keyId, 'anyone')).signingSecret;
    });
    expect(await deliver(ctx, rideId, 1)).to.include({ result: 'delivered' });
    expect(isSignedWith(rolled, old.receipts[0])).to.equal(true);
  });

  it('a test event written 251 ms after its settings were read is signed with the new secret', async () => {
    const attemptId = await sendTestEvent(ctx, key.keyId, key.owner);
    const { findOneAndUpdate } = attempts;
    let rolled = '';
    onceInsteadOf(attempts, 'findOneAndUpdate', async (...args) => {
      const claimed = await Reflect.apply(findOneAndUpdate, attempts, args);
      rolled = (await rollSigningSecret(ctx.config, key.keyId, 'anyone')).signingSecret;
      letPass(settingsMaxAgeMs + 1);
      return claimed;
    });
    expect(await deliverResend(ctx, attemptId)).to.include({ result: 'delivered' });
    expect(isSignedWith(rolled, old.receipts[0])).to.equal(true);
  });

  it('an event is sent to the new URL even if a connection to the old one is already open', async () => {
    changeBeforeWriting(() => setWebhookUrl(ctx.config, key.keyId, receiver.url, 'anyone'));
    const outbound = divertOutbound(() => {
      outbound.restore();
      return { port: Number(new URL(old.origin).port) };
    });
    expect(await deliver(ctx, rideId, 1)).to.deep.equal({ againInMs: 100, why: 'just released by another run' });
    expect(outbound.dialled).to.have.length(1);
    expect((await storedRide(rideId)).events[0]).not.to.have.property('delivery');
    expect(await deliver(ctx, rideId, 1)).to.include({ result: 'delivered' });
    expect([old.receipts.length, receiver.receipts.length]).to.deep.equal([0, 1]);
  });

  it('an event is sent to the new URL of its ride if that changed while the attempt connected slowly', async () => {
    await rides.updateOne({ _id: rideId }, { $set: { webhookUrl: old.url } });
    beforeTheAnswer('claim', async () => {
      await changeTerms(ctx, rideId, { webhookUrl: receiver.url }, 'anyone');
      letPass(3_001);
    });
    expect(await deliver(ctx, rideId, 1)).to.deep.equal({ againInMs: 100, why: 'just released by another run' });
    expect(await deliver(ctx, rideId, 1)).to.include({ result: 'delivered' });
    expect([old.receipts.length, receiver.receipts.length]).to.deep.equal([0, 1]);
  });

  it('an event is sent to a URL that was set while Redis delayed the choice of the lane', async () => {
    await setWebhookUrl(ctx.config, key.keyId, null, 'anyone');
    onceInsteadOf(ctx.redis, 'zmscore', async () => {
      await setWebhookUrl(ctx.config, key.keyId, receiver.url, 'anyone');
      letPass(settingsMaxAgeMs + 1);
      return [null];
    });
    expect(await deliver(ctx, rideId, 1)).to.include({ result: 'delivered' });
    expect(receiver.receipts).to.have.length(1);
  });

  it('nothing is sent after the URL was removed', async () => {
    changeBeforeWriting(() => setWebhookUrl(ctx.config, key.keyId, null, 'anyone'));
    await deliver(ctx, rideId, 1);
    expect(await deliver(ctx, rideId, 1)).to.include({ result: 'no_url' });
    expect(old.receipts).to.have.length(0);
  });

  it('a delivery reads its key only once while the settings are fresh', async () => {
    const { find, findOneAndUpdate } = keys;
    let reads = 0;
    const counted = (method: (...args: never[]) => unknown) =>
      function (this: unknown, ...args: never[]) {
        reads += 1;
        return Reflect.apply(method, keys, args);
      };
    Object.assign(keys, { find: counted(find), findOneAndUpdate: counted(findOneAndUpdate) });
    const frozen = now();
    const { now: monotonic } = performance;
    const at = monotonic.call(performance);
    Date.now = () => frozen;
    performance.now = () => at;
    try {
      expect(await deliver(ctx, rideId, 1)).to.include({ result: 'delivered' });
    } finally {
      performance.now = monotonic;
      Object.assign(keys, { find, findOneAndUpdate });
    }
    expect(reads).to.equal(1);
  });

  describe('untilSettingsApply', () => {
    const waitedMs = async () => {
      const startedAt = performance.now();
      await untilSettingsApply(key.keyId);
      return performance.now() - startedAt;
    };

    it('a change is answered only when no request can be written with older settings', async () => {
      expect(await waitedMs()).to.be.at.least(settingsMaxAgeMs);
    });

    it('a change is answered after 2 s if a worker still holds old settings because MongoDB was slow', async () => {
      await holdDeliverySettings(ctx.config, key.keyId);
      expect(await waitedMs()).to.be.at.least(heldSettingsMaxAgeMs);
    });
  });
});
