import { expect } from 'chai';
import { throwIfNotDelivered } from '../../workers/run-job.ts';
import { startReceiver } from '../support/receiver.ts';
import { rideWithEvents } from '../support/rides.ts';
import { until } from '../support/until.ts';
import { useNock } from '../support/webhook-nock.ts';
import { startTestService } from '../support/workers.ts';

describe('failed delivery jobs', () => {
  useNock(false);

  it("an undelivered event's job fails without the receiver's text, and the next event is sent", async () => {
    const receiver = await startReceiver({
      answer: (response, { headers }) => {
        response.writeHead(headers['x-service-sequence'] === '1' ? 500 : 204, 'a text of the receiver').end();
      },
    });
    const service = await startTestService({ WEBHOOK_LOCAL_TARGETS: receiver.origin }, ['webhooks']);
    const { webhooks } = service.ctx.queues;
    const rideId = await rideWithEvents(service.ctx, await service.key('live', receiver.url), 2);
    await until(async () => (await webhooks.getCompletedCount()) === 1);

    const [failed, ...others] = await webhooks.getFailed();
    expect(others).to.deep.equal([]);
    expect(failed?.data).to.include({ rideId, seq: 1 });
    expect(failed).to.include({ failedReason: 'failed: 500 status', attemptsMade: 1 });
    expect(failed?.stacktrace).to.deep.equal(['failed: 500 status']);
    expect(receiver.receipts.map(({ headers }) => headers['x-service-sequence'])).to.deep.equal(['1', '2']);
    await service.close();
    await receiver.close();
  });

  it('a delivery job also fails for a timeout or a blocked target, but not for other results', () => {
    expect(() => throwIfNotDelivered({ result: 'timeout', durationMs: 8_001 })).to.throw(/^timeout$/);
    expect(() => throwIfNotDelivered({ result: 'blocked', reason: 'target_url' })).to.throw(/^blocked: target_url$/);
    for (const result of ['delivered', 'no_url', 'done', 'handed to webhooks-slow']) {
      expect(() => throwIfNotDelivered({ result })).not.to.throw();
    }
  });
});
