import { expect } from 'chai';
import { rides } from '../../../shared/rides/ride.ts';
import { type AttemptRecord, attempts } from '../../../shared/webhooks/attempts.ts';
import { storedAttempts } from '../../support/attempts.ts';
import { useVisitor, type Visitor } from '../../support/dashboard.ts';
import { formIn, hrefsIn, textOf } from '../../support/pages.ts';
import { useTestApi } from '../../support/service.ts';

describe("the dashboard's deliveries", () => {
  const api = useTestApi();
  const visitor = useVisitor(api);

  /** Stores attempts of the visitor's account, one second apart. Resolves with their ids, newest first. */
  const attemptsOf = async ({ account }: Visitor, changes: Partial<AttemptRecord>[], startMs?: number) =>
    (
      await storedAttempts(
        changes.map((change) => ({ accountId: account._id, ...change })),
        startMs,
      )
    )
      .map(({ _id }) => _id)
      .reverse();
  const listed = (html: string) =>
    hrefsIn(html).flatMap((href) => /^\/dashboard\/deliveries\/(att_\w+)$/.exec(href)?.[1] ?? []);
  const shown = async (visitor: Visitor, query: string) =>
    listed((await visitor.get(`/dashboard/deliveries?${query}`)).html);

  it('the list has all deliveries, test events and resends, newest first, each with its own page', async () => {
    const ids = await attemptsOf(visitor, [
      {},
      { kind: 'test', rideId: undefined, seq: undefined },
      { kind: 'redelivery', outcome: 'timeout', reason: 'answer', httpStatus: undefined },
    ]);
    const { html } = await visitor.get('/dashboard/deliveries');
    expect(listed(html)).to.deep.equal(ids);
    for (const text of ['test event', 'resent', 'timed out', 'Timeout while waiting for the answer']) {
      expect(textOf(html)).to.include(text);
    }
    for (const id of ids) expect((await visitor.get(`/dashboard/deliveries/${id}`)).status).to.equal(200);
  });

  it('the list filters deliveries by key, outcome, event and time from the URL', async () => {
    const { keyId } = await visitor.newKey('live');
    const start = Date.parse('2026-03-04T05:06:00Z');
    const changes = [
      { keyId },
      { outcome: 'failed' },
      { outcome: 'blocked', keyId },
      { event: 'offer.received' },
    ] as const;
    const [offer, blocked, failed, first] = await attemptsOf(visitor, [...changes], start);
    expect(await shown(visitor, `key=${keyId}`)).to.deep.equal([blocked, first]);
    expect(await shown(visitor, 'outcome=failed')).to.deep.equal([failed]);
    expect(await shown(visitor, 'outcome=missed')).to.deep.equal([blocked, failed]);
    expect(await shown(visitor, 'event=offer.received')).to.deep.equal([offer]);
    expect(await shown(visitor, `key=${keyId}&outcome=missed`)).to.deep.equal([blocked]);
    expect(await shown(visitor, 'from=2026-03-04T05:06:02')).to.deep.equal([offer, blocked]);
    expect(await shown(visitor, 'to=2026-03-04 05:06:02')).to.deep.equal([failed, first]);
    expect(await shown(visitor, 'from=2026-03-04&to=2026-03-04&outcome=delivered')).to.deep.equal([offer, first]);
    const none = textOf((await visitor.get('/dashboard/deliveries?to=2026-03-03')).html);
    expect(none).to.include('No delivery matches these filters');
  });

  it('pages through deliveries without repeats or gaps while new attempts are made', async () => {
    const ids = await attemptsOf(
      visitor,
      Array.from({ length: 120 }, () => ({})),
    );
    const seen: string[] = [];
    let path: string | undefined = '/dashboard/deliveries?outcome=delivered';
    for (let pages = 0; path && pages < 10; pages++) {
      const { html } = await visitor.get(path);
      seen.push(...listed(html));
      await attemptsOf(visitor, [{}], Date.now());
      path = hrefsIn(html).find((href) => href.includes('after='));
    }
    expect(seen).to.deep.equal(ids);
  });

  it('a pending attempt is marked, and its page refreshes automatically, also without scripts', async () => {
    const dueAt = new Date(Date.now() + 60_000);
    const [id] = await attemptsOf(visitor, [
      { kind: 'test', outcome: 'waiting', dueAt, rideId: undefined, httpStatus: undefined, answer: undefined },
    ]);
    const waiting = (await visitor.get(`/dashboard/deliveries/${id}`)).html;
    expect(textOf(waiting)).to.match(/This is sent in about \d\d s/);
    expect(waiting)
      .to.include('data-waiting')
      .and.to.include(`<noscript><meta http-equiv="refresh" content="3; url=/dashboard/deliveries/${id}"/>`);
    await attempts.updateOne({ _id: id }, { $set: { outcome: 'delivered', httpStatus: 204 }, $unset: { dueAt: '' } });
    const done = (await visitor.get(`/dashboard/deliveries/${id}`)).html;
    expect(textOf(done)).to.include('204').and.to.include('The answer had no body');
    expect(done).not.to.include('data-waiting').and.not.to.include('http-equiv');
  });

  it('names the status of each `ride.status` event, also on the page of an older attempt', async () => {
    const [named, older] = await attemptsOf(visitor, [
      { body: '{"event":"ride.status","rideId":"ride_1","status":"arrived"}' },
      { rideStatus: 'completed' },
    ]);
    expect(textOf((await visitor.get('/dashboard/deliveries')).html)).to.include('ride.status: completed');
    const shownName = async (id: string | undefined) => (await visitor.get(`/dashboard/deliveries/${id}`)).html;
    expect(await shownName(named)).to.include('<title>Delivery of ride.status: completed');
    expect(await shownName(older)).to.include('<title>Delivery of ride.status: arrived');
  });

  it('the page of an attempt shows the headers of the answer and the other attempts of the event', async () => {
    const ofEvent = { rideId: 'ride_of_attempts', seq: 3 };
    const [again, other, first] = await attemptsOf(visitor, [
      { ...ofEvent, outcome: 'failed', httpStatus: 503, answerHeaders: { 'retry-after': '120', server: '<b>nginx' } },
      { ...ofEvent, seq: 4 },
      { ...ofEvent, kind: 'redelivery' },
    ]);
    const { html } = await visitor.get(`/dashboard/deliveries/${first}`);
    expect(textOf(html)).to.include('retry-after: 120').and.include('server: <b>nginx');
    expect(html).not.to.include('<b>nginx');
    const list = html.slice(html.indexOf('id="attempts"'));
    expect(listed(list)).to.deep.equal([first, again]);
    expect(listed(list)).not.to.include(other);
    expect(textOf(list)).to.include('failed 503').and.include('resent');
  });

  const path = '/dashboard/deliveries/send-again';

  it('"Resend failed events" names the missing fields and keeps the typed values', async () => {
    const { keyId } = await visitor.newKey('live');
    const { html, status } = await visitor.post(path, { keyId, since: 'noon' });
    expect(status).to.equal(422);
    expect(html).to.include('<title>Error: Deliveries').and.to.include('value="noon"');
    expect(textOf(html)).to.include('Choose since when');
    const without = await visitor.post(path, { keyId: '', since: '' });
    expect(textOf(without.html)).to.include('Choose the key').and.to.include('Choose since when');
    expect(without.html).to.match(/<details id="send-failed"[^>]* open/);
  });

  it('"Resend failed events" shows the number of resent events', async () => {
    const { keyId } = await visitor.newKey('live');
    const { status, headers } = await visitor.post(path, { keyId, since: '2026-01-01T00:00' });
    expect(status).to.equal(303);
    const there = headers.get('location') ?? '';
    expect(there).to.equal(`/dashboard/deliveries?key=${keyId}&from=2026-01-01T00%3A00&sent=0`);
    expect(textOf((await visitor.get(there)).html)).to.include('nothing is resent');
    await attemptsOf(visitor, [{ keyId, endpointId: 'endpoint_1', outcome: 'failed' }]);
    const none = textOf((await visitor.get(`${there}&outcome=missed`)).html);
    expect(none.split('further endpoints')).to.have.length(3, 'in the notice and in the form');
    const twelve = (await visitor.get('/dashboard/deliveries?sent=12')).html;
    expect(textOf(twelve)).to.include('12 events are being resent');
  });

  it('"Resend failed events" is above the list, and open if the list shows what was not delivered', async () => {
    const { keyId } = await visitor.newKey('live');
    await attemptsOf(visitor, [{ keyId, outcome: 'failed' }]);
    const list = (await visitor.get('/dashboard/deliveries')).html;
    expect(list.indexOf('Resend failed events')).to.be.within(1, list.indexOf('<table'));
    expect(list).not.to.match(/<details id="send-failed"[^>]* open/);
    const missed = (await visitor.get(`/dashboard/deliveries?key=${keyId}&outcome=missed`)).html;
    expect(missed).to.match(/<details id="send-failed"[^>]* open/);
    expect(formIn(missed, path)).to.have.property('formId');
    expect(missed).to.match(new RegExp(`<option[^>]*value="${keyId}"[^>]*selected|selected[^>]*value="${keyId}"`));
  });

  it('"Resend failed events" resends what has failed in a period', async () => {
    const { keyId } = await visitor.newKey('live');
    const { rideId } = await visitor.rideIn('driver_arriving', { keyId });
    const hourMs = 3_600_000;
    const failed = (hoursAgo: number) => ({
      outcome: 'failed' as const,
      durationMs: 1,
      at: new Date(api.ctx.now() - hoursAgo * hourMs),
    });
    const deliveries = { 'events.0.delivery': failed(30), 'events.1.delivery': failed(2) };
    await rides.updateOne({ _id: rideId }, { $set: { ...deliveries, settledSeq: 2, undeliveredAt: new Date() } });
    const sentIn = async (since: string) =>
      new URL((await visitor.post(path, { keyId, since })).headers.get('location') ?? '', api.url).searchParams;
    expect((await sentIn('1h')).get('sent')).to.equal('0');
    expect((await sentIn('24h')).get('sent')).to.equal('1');
    expect((await sentIn('7d')).get('sent')).to.equal('1');
  });
});
