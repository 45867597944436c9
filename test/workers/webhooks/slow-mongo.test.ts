import { expect } from 'chai';
import type { JobResult } from '../../../workers/handler.ts';
import { deliver } from '../../../workers/webhooks/deliver.ts';
import { isSignedWith, newKey, withTargets } from '../../support/deliveries.ts';
import { startMongoProxy } from '../../support/mongo-proxy.ts';
import { startReceiver } from '../../support/receiver.ts';
import { rideWithEvents } from '../../support/rides.ts';
import { testContext } from '../../support/service.ts';
import { storedRide } from '../../support/stored-rides.ts';

describe('event delivery with a slow MongoDB', () => {
  it('an event is delivered in one attempt while each reply of MongoDB takes 1.2 s', async () => {
    const receiver = await startReceiver();
    const proxy = await startMongoProxy(process.env.TEST_RUN_MONGO_URL ?? '');
    const ctx = withTargets(await testContext({ MONGO_URL: proxy.url }), receiver.origin);
    try {
      const key = await newKey(ctx, receiver.url);
      const rideId = await rideWithEvents(ctx, key, 1);
      proxy.delayAnswers(1_200);
      const run = { pool: 'webhooks', token: 'this run', stopping: new AbortController().signal } as const;
      let result: JobResult;
      // On a slow machine, a claim can become too old before anything is sent under it. The job then runs again.
      do result = await deliver(ctx, { rideId, keyId: key.keyId, seq: 1 }, run);
      while ('againInMs' in result);
      expect(result).to.include({ result: 'delivered' });
      proxy.delayAnswers(0);
      expect(receiver.receipts).to.have.length(1);
      expect(isSignedWith(key.signingSecret, receiver.receipts[0])).to.equal(true);
      expect((await storedRide(rideId)).settledSeq).to.equal(1);
    } finally {
      await ctx.close();
      await proxy.close();
      await receiver.close();
    }
  });
});
