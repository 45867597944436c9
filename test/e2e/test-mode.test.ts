import { expect } from 'chai';
import { verifySignature } from '../../shared/webhooks/sign.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestService } from '../support/workers.ts';

describe('a test ride through real queues', () => {
  it('goes from request to completed and sends every event once, in order and signed', async () => {
    const receiver = await startReceiver();
    const service = await startTestService({ SIMULATION_SPEED: '50', WEBHOOK_LOCAL_TARGETS: receiver.origin });
    try {
      const partner = await service.partner('test', receiver.url);
      const created = await partner.createRide();
      expect(created.status).to.equal(201);
      expect(created.body).to.include({ status: 'bidding', testMode: true });

      const receipts = await receiver.received(5);
      expect(receipts.map(({ body }) => body.status ?? body.event)).to.deep.equal([
        'offer.received',
        'driver_arriving',
        'arrived',
        'in_progress',
        'completed',
      ]);
      const nowSeconds = Math.floor(Date.now() / 1_000);
      for (const { headers, raw } of receipts) {
        const signature = String(headers['x-service-signature']);
        expect(verifySignature(partner.signingSecret, signature, raw, nowSeconds)).to.equal(true);
      }
      const ended = await partner.get(`/rides/${created.body.rideId}`);
      expect(ended.body.status).to.equal('completed');
    } finally {
      await service.close();
      await receiver.close();
    }
  });
});
