import { expect } from 'chai';
import { accountOf } from '../../../shared/accounts/account.ts';
import { newAccountId } from '../../../shared/base/ids.ts';
import { createKey } from '../../../shared/keys/manage-keys.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { attemptOf, attempts } from '../../../shared/webhooks/attempts.ts';
import { redeliverFailed } from '../../../shared/webhooks/redeliver.ts';
import { sendTestEvent } from '../../../shared/webhooks/test-event.ts';
import { startSweeper } from '../../../workers/periodic/sweeper/sweeper.ts';
import { useReceiver } from '../../support/receiver.ts';
import { rideWithEvents } from '../../support/rides.ts';
import { until } from '../../support/until.ts';
import { useNock } from '../../support/webhook-nock.ts';
import { useTestService } from '../../support/workers.ts';

describe('resends in the delivery pools', () => {
  useNock(false);
  let status = 200;
  const receiver = useReceiver({ answer: (response) => void response.writeHead(status).end('seen') });
  const service = useTestService(() => ({ WEBHOOK_LOCAL_TARGETS: receiver.origin }), ['webhooks', 'webhooks-slow']);
  beforeEach(() => {
    status = 200;
  });

  const keyOf = async () => {
    const { _id: accountId } = await accountOf(`${newAccountId()}@partner.example`);
    const key = { accountId, name: 'test', mode: 'live', webhookUrl: receiver.url } as const;
    return { ...(await createKey(service.ctx.config, key)), owner: { accountId } };
  };
  const isDone = async (attemptId: string, owner: { accountId: string }) =>
    (await attemptOf(attemptId, owner)).state === 'done';

  it('a test event is sent after Redis lost its data, because the sweeper adds its job', async () => {
    const { keyId, owner } = await keyOf();
    await service.ctx.queues.webhooks.pause();
    const attemptId = await sendTestEvent(service.ctx, keyId, owner);
    await service.ctx.redis.flushall();
    const sweeper = startSweeper(service.ctx);
    await until(() => isDone(attemptId, owner));
    await sweeper.stop();
    expect(receiver.receipts).to.have.length(1);
  });

  it("redeliverFailed resends each failed event once, each ride's events in order", async () => {
    const { keyId, owner } = await keyOf();
    status = 500;
    const rideIds: string[] = [];
    for (let made = 0; made < 3; made++) rideIds.push(await rideWithEvents(service.ctx, { keyId }, 4));
    await rides.updateMany({ _id: { $in: rideIds } }, { $set: owner });
    await until(async () => (await rides.countDocuments({ _id: { $in: rideIds }, unsettled: 0 })) === 3);
    const [first] = receiver.receipts.splice(0);
    status = 200;
    expect(await redeliverFailed(service.ctx, keyId, { since: new Date(0) }, owner)).to.equal(12);
    await until(async () => (await attempts.countDocuments({ keyId, outcome: 'waiting' })) === 0);
    const again = receiver.receipts;
    expect(again).to.have.length(12);
    for (const rideId of rideIds) {
      const ofRide = again.filter(({ body }) => body.rideId === rideId);
      expect(ofRide.map(({ headers }) => headers['x-service-sequence'])).to.deep.equal(['1', '2', '3', '4']);
    }
    expect(again.map(({ headers }) => headers['x-service-redelivery'])).to.deep.equal(Array(12).fill('true'));
    expect(again.map(({ raw }) => raw)).to.include(first?.raw);
    expect(await redeliverFailed(service.ctx, keyId, { since: new Date(0) }, owner)).to.equal(0);
  });
});
