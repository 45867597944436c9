import { expect } from 'chai';
import { findCaller } from '../../../shared/keys/find-caller.ts';
import { redeliver } from '../../../shared/webhooks/redeliver.ts';
import { sendTestEvent } from '../../../shared/webhooks/test-event.ts';
import { type EventHeader, eventHeaders } from '../../../web/docs/event-headers.ts';
import { type Receipt, useReceiver } from '../../support/receiver.ts';
import { rideIn } from '../../support/rides.ts';
import { storedRide } from '../../support/stored-rides.ts';
import { until } from '../../support/until.ts';
import { useTestService } from '../../support/workers.ts';

describe('documented headers of events', () => {
  const receiver = useReceiver();
  const api = useTestService(() => ({ WEBHOOK_LOCAL_TARGETS: receiver.origin }));

  it('the documented headers are exactly those of an event, a test event and a resent event', async () => {
    const partner = await api.partner('live', receiver.url);
    const caller = await findCaller(partner.key, api.ctx.now());
    const owner = { accountId: caller?.accountId ?? '' };
    const { rideId } = await rideIn(api.ctx, 'driver_arriving', { by: partner });
    const receipts = [...(await receiver.received(2))];
    await sendTestEvent(api.ctx, partner.keyId, owner);
    await receiver.received(3);
    // The receiver has the event before its delivery is recorded.
    await until(async () => (await storedRide(rideId)).settledSeq === 2);
    await redeliver(api.ctx, { rideId, seq: 2 }, owner);
    receipts.push(...(await receiver.received(4)).slice(2));

    const documented = Object.keys(eventHeaders) as EventHeader[];
    const names = new Set(receipts.flatMap(ownHeaders));
    expect([...names]).to.have.members(documented.map((name) => name.toLowerCase()));
    for (const receipt of receipts) {
      for (const name of documented.filter((one) => eventHeaders[one].required)) {
        expect(receipt.headers[name.toLowerCase()], name).to.be.a('string');
      }
    }
    expect(receipts.map(({ headers }) => headers['x-service-test'])).to.deep.equal([
      undefined,
      undefined,
      'true',
      undefined,
    ]);
    expect(receipts[3]?.headers['x-service-redelivery']).to.equal('true');
    expect(receipts[3]?.headers['x-service-event-id']).to.equal(receipts[1]?.headers['x-service-event-id']);
  });

  const ownHeaders = ({ headers }: Receipt) => Object.keys(headers).filter((name) => name.startsWith('x-'));
});
