import { expect } from 'chai';
import { type MessageRow, messages } from '../../../shared/messages/message-row.ts';
import { eraseMessages, finishMessage } from '../../../shared/messages/stored-messages.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { Delivery } from '../../../shared/rides/ride-types.ts';
import { storeOwedMessages } from '../../../shared/rides/store-owed-messages.ts';
import { attempts } from '../../../shared/webhooks/attempts.ts';
import { storedAttempts } from '../../support/attempts.ts';
import { useVisitor } from '../../support/dashboard.ts';
import { formIn, hrefsIn, textOf } from '../../support/pages.ts';
import { newDriver } from '../../support/rides.ts';
import { useTestApi } from '../../support/service.ts';

describe("a ride's page in the dashboard", () => {
  const api = useTestApi();
  const visitor = useVisitor(api);

  /** Records the delivery of the ride's first event, with a time a minute ago. */
  async function settled({ rideId }: { rideId: string }, delivery: Pick<Delivery, 'outcome' | 'reason'>) {
    const recorded = { ...delivery, durationMs: 7, at: new Date(Date.now() - 60_000) };
    const change = { 'events.0.delivery': recorded, settledSeq: 1, unsettled: 0 };
    await rides.updateOne({ _id: rideId }, { $set: change });
    return recorded;
  }

  it("the page shows the request, the offers and the driver, but the driver's phone only after an accept", async () => {
    const wish = {
      passenger: { name: 'Ada Lovelace', phone: '+12025550111' },
      notes: 'Ring twice',
      webhookUrl: 'https://partner.example/hook?token=secret-of-receiver',
      offers: [{ driver: newDriver({ name: 'Dana Okoye', phone: '+12025550122' }) }],
    };
    const ride = await visitor.rideIn('bidding', wish);
    const created = textOf((await visitor.get(`${ride.path}?entry=created`)).html);
    for (const text of ['Ada Lovelace', '+12025550111', 'Ring twice', 'https://partner.example/hook', 'Front desk']) {
      expect(created).to.include(text);
    }
    expect(created).not.to.include('secret-of-receiver');
    const offer = textOf((await visitor.get(`${ride.path}?entry=event-1`)).html);
    expect(offer).to.include('Dana Okoye').and.not.to.include('+12025550122');

    const accepted = await visitor.rideIn('driver_arriving', wish);
    expect(textOf((await visitor.get(`${accepted.path}?entry=event-2`)).html)).to.include('+12025550122');
  });

  it('the page shows the failure reason, remedy, answer, duration and request of an attempt', async () => {
    const ride = await visitor.rideIn('bidding');
    const { at } = await settled(ride, { outcome: 'failed', reason: 'status' });
    const [attempt] = await storedAttempts([
      {
        ...{ at, accountId: visitor.account._id, rideId: ride.rideId, keyId: ride.keyId },
        outcome: 'failed',
        reason: 'status',
        httpStatus: 503,
        address: '198.51.100.7',
        answer: 'upstream is away',
        headers: { 'X-Service-Event': 'offer.received', 'X-Service-Signature': 't=1,v1=ab' },
        body: '{"event":"offer.received","fare":25}',
        phases: { dns: 1.25, connect: 20, answer: 1_500 },
      },
    ]);
    const { html } = await visitor.get(`${ride.path}?entry=attempt-${attempt?._id}`);
    const text = textOf(html);
    for (const shown of [
      'Answered with a 5xx status',
      '503',
      '198.51.100.7',
      'upstream is away',
      '1.3 ms',
      '1,500 ms',
    ]) {
      expect(text).to.include(shown);
    }
    expect(text).to.include('X-Service-Signature: t=1,v1=ab').and.to.include('"fare": 25');
    expect(html).to.include('data-copy="{&quot;event&quot;:&quot;offer.received&quot;,&quot;fare&quot;:25}"');
    expect(html).to.include(`action="${ride.path}/events/1/send-again"`);
  });

  it('the page shows the delivery that the ride records if no attempt is stored', async () => {
    const ride = await visitor.rideIn('bidding');
    await settled(ride, { outcome: 'failed', reason: 'ECONNREFUSED' });
    const text = textOf((await visitor.get(`${ride.path}?entry=delivery-1`)).html);
    expect(text).to.include('Connection refused').and.to.include('were not kept');
  });

  it('the page refreshes automatically while an answer is pending, also without scripts', async () => {
    const ride = await visitor.rideIn('bidding');
    const waiting = (await visitor.get(ride.path)).html;
    expect(waiting)
      .to.include('data-waiting')
      .and.to.include(`<noscript><meta http-equiv="refresh" content="3; url=${ride.path}"/>`);
    expect((await visitor.get(`${ride.path}?entry=delivery-1`)).html).to.include(
      `content="3; url=${ride.path}?entry=delivery-1"`,
    );
    await settled(ride, { outcome: 'delivered' });
    const answered = (await visitor.get(ride.path)).html;
    expect(answered).not.to.include('data-waiting').and.not.to.include('http-equiv="refresh"');
  });

  it('the page links to the live map until the link has expired, and marks test data', async () => {
    const ride = await visitor.rideIn('cancelled', { mode: 'test', scenario: 'no_offers' });
    const fresh = await visitor.get(ride.path);
    expect(hrefsIn(fresh.html).some((href) => href.includes('/track/'))).to.equal(true);
    expect(fresh.html).to.include('Test data');
    await rides.updateOne({ _id: ride.rideId }, { $set: { statusAt: new Date(Date.now() - 24 * 3_600_000) } });
    expect(hrefsIn((await visitor.get(ride.path)).html).some((href) => href.includes('/track/'))).to.equal(false);
  });

  it('a form resends an event, and shows the attempt', async () => {
    const ride = await visitor.rideIn('bidding', { webhookUrl: 'https://partner.example/' });
    await settled(ride, { outcome: 'failed' });
    const action = `${ride.path}/events/1/send-again`;
    const form = formIn((await visitor.get(ride.path)).html, action);
    const first = await visitor.post(action, form);
    const [attempt] = await attempts.find({ rideId: ride.rideId }).toArray();
    expect(attempt).to.include({ kind: 'redelivery', outcome: 'waiting', seq: 1, accountId: visitor.account._id });
    expect(first.headers.get('location')).to.equal(`${ride.path}?entry=attempt-${attempt?._id}#detail`);
    expect(textOf((await visitor.get(`${ride.path}?entry=attempt-${attempt?._id}`)).html)).to.include('is being sent');
  });

  it('the timeline shows each text message with its outcome, and the text until the ride is erased', async () => {
    const wish = { passenger: { name: 'Sam <b>', phone: '+12025550143' }, notify: { passenger: true } };
    const ride = await visitor.rideIn('driver_arriving', wish);
    await storeOwedMessages(api.ctx, ride.rideId);
    const list = textOf((await visitor.get(ride.path)).html);
    expect(list).to.match(/Text message driver found, to passenger waiting/);
    const detail = `${ride.path}?entry=message-found-passenger`;
    expect(textOf((await visitor.get(detail)).html)).to.match(/passenger, \+12025550143.*picks you up in about 5 min/);
    const row = await messages.findOne({ rideId: ride.rideId });
    await finishMessage(api.ctx, row as MessageRow, 'failed', { reason: 'error_30005' });
    expect(textOf((await visitor.get(detail)).html)).to.match(/failed.*The number does not exist\./);
    await eraseMessages([ride.rideId]);
    const erased = textOf((await visitor.get(detail)).html);
    expect(erased)
      .to.include('erased')
      .and.not.to.match(/2025550143.*picks you up/);
  });
});
