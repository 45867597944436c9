import { expect } from 'chai';
import { eventId } from '../../shared/base/ids.ts';
import { createKey } from '../../shared/keys/manage-keys.ts';
import { attempts } from '../../shared/webhooks/attempts.ts';
import { type Client, clientOf } from '../support/client.ts';
import { useReceiver } from '../support/receiver.ts';
import { rideIn } from '../support/rides.ts';
import { storedRide } from '../support/stored-rides.ts';
import { until } from '../support/until.ts';
import { useTestService } from '../support/workers.ts';

describe('POST /rides/:rideId/events/:sequence/resend', () => {
  const receiver = useReceiver();
  const api = useTestService(() => ({ WEBHOOK_LOCAL_TARGETS: receiver.origin }));
  let partner: Client & { keyId: string };
  beforeEach(async () => {
    partner = await api.partner('live', receiver.url);
  });

  const resend = (rideId: string, sequence: number | string, by: Client = partner) =>
    by.post(`/rides/${rideId}/events/${sequence}/resend`);
  const code = ({ status, headers }: { status: number; headers: Headers }) => [status, headers.get('x-service-error')];
  /** A ride of the partner whose two events have arrived. */
  async function sentRide(): Promise<string> {
    const before = receiver.receipts.length;
    const { rideId } = await rideIn(api.ctx, 'driver_arriving', { by: partner });
    await receiver.received(before + 2);
    await until(async () => (await storedRide(rideId)).unsettled === 0);
    return rideId;
  }

  it('a resend sends the event again with its body, id and number, a mark and a new signature', async () => {
    const rideId = await sentRide();
    const count = receiver.receipts.length;
    const { status, body } = await resend(rideId, 2);
    expect(status).to.equal(200);
    const { attemptId } = body;
    expect(body).to.deep.equal({ success: true, rideId, eventId: eventId(rideId, 2), sequence: 2, attemptId });
    const receipt = (await receiver.received(count + 1))[count];
    expect(receipt?.raw).to.equal((await storedRide(rideId)).events[1]?.body);
    expect(receipt?.headers).to.include({
      'x-service-event-id': eventId(rideId, 2),
      'x-service-sequence': '2',
      'x-service-redelivery': 'true',
    });
    const resends = async () => (await partner.get(`/rides/${rideId}/events`)).body.resends;
    await until(async () => (await resends())[0]?.outcome !== 'waiting');
    const [{ requestedAt, ...resent }, ...others] = await resends();
    expect(resent).to.deep.equal({ attemptId, seq: 2, outcome: 'delivered', httpStatus: 200 });
    expect(requestedAt).to.be.a('number');
    expect(others).to.deep.equal([]);
  });

  it('the resend is recorded with the id of its request', async () => {
    const rideId = await sentRide();
    const { headers } = await resend(rideId, 1);
    const [record] = await attempts.find({ rideId, kind: 'redelivery' }).toArray();
    expect(record).to.include({ keyId: partner.keyId, seq: 1, requestId: headers.get('x-request-id') });
  });

  it("another key's ride, also of the same account, is a 404 that equals the 404 of an unknown ride", async () => {
    const rideId = await sentRide();
    const { accountId } = await storedRide(rideId);
    const { key } = await createKey(api.ctx.config, { accountId, name: 'another', mode: 'live' });
    const stranger = clientOf(api.url, key);
    const foreign = await resend(rideId, 1, stranger);
    const unknown = await resend('ride_000000000000000000000000', 1, stranger);
    expect(code(foreign)).to.deep.equal([404, 'ride_not_found']);
    expect(foreign.text).to.equal(unknown.text);
    expect(await attempts.countDocuments({ rideId, kind: 'redelivery' })).to.equal(0);
  });

  it('a ride with two events answers 404 for any other event', async () => {
    const { rideId } = await rideIn(api.ctx, 'driver_arriving', { by: partner });
    for (const sequence of ['3', '0', '-1', '1.5', '01', 'x', '1e0', '99999999999999999999']) {
      expect(code(await resend(rideId, sequence)), sequence).to.deep.equal([404, 'event_not_found']);
    }
  });
});
