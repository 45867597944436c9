import { expect } from 'chai';
import { SessionModel } from '../../../shared/accounts/session.ts';
import { createKey } from '../../../shared/keys/manage-keys.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { signedIn } from '../../support/dashboard.ts';
import { type EventStream, openEventStream } from '../../support/event-stream.ts';
import { newRide, offerOn } from '../../support/rides.ts';
import { startTestApi } from '../../support/service.ts';
import { base, useTestConsole } from '../../support/test-console.ts';

describe('the stream of a test ride in the console', () => {
  const { api, visitor, started } = useTestConsole();

  const opened: EventStream[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((stream) => stream.close()));
  });
  async function follow(rideId: string, cookie = visitor.cookie): Promise<EventStream> {
    const stream = await openEventStream(`${api.url}${base}/${rideId}/events`, { cookie });
    opened.push(stream);
    return stream;
  }
  async function nextWith(stream: EventStream, text: string) {
    let state = await stream.next();
    while (state && !state.html.includes(text)) state = await stream.next();
    return state;
  }

  it('the stream starts with the current state and sends each change', async () => {
    const rideId = await started();
    const stream = await follow(rideId);
    expect(stream.headers.get('content-type')).to.match(/^text\/event-stream/);
    expect(stream.headers.get('cache-control')).to.equal('no-store, no-transform');
    expect((await stream.next()).latest).to.equal('Ride requested: 24.50 USD for 5.3 km');
    const { offerId } = await offerOn(api.ctx, rideId, { price: 21.5 });
    const offered = await nextWith(stream, offerId);
    expect(offered.html).to.include('21.50 USD').and.include('Accept');
    expect(offered.latest).to.match(/^Offer received/);
    await visitor.post(`${base}/${rideId}/accept`, { offerId });
    expect((await nextWith(stream, 'accepted</strong>')).latest).to.match(/^Offer accepted/);
  });

  it('the stream continues after the end of the ride until its events are settled, then answers 204', async () => {
    const rideId = await started();
    const stream = await follow(rideId);
    await visitor.post(`${base}/${rideId}/cancel`);
    expect(await nextWith(stream, 'Ride cancelled')).to.include({ isOver: false });
    await rides.updateOne(
      { _id: rideId },
      {
        $set: {
          'events.0.delivery': { outcome: 'delivered', httpStatus: 204, durationMs: 7.4, at: new Date() },
          settledSeq: 1,
          unsettled: 0,
        },
      },
    );
    const last = await nextWith(stream, 'HTTP 204 after 7 ms');
    expect(last.isOver).to.equal(true);
    expect(await stream.next()).to.equal(null);
    expect((await follow(rideId)).status).to.equal(204);
  });

  it('without a session, the stream and the state answer 401', async () => {
    const rideId = await started();
    for (const cookie of ['', 'session=no-such-session']) {
      expect((await follow(rideId, cookie)).status).to.equal(401);
      expect((await fetch(`${api.url}${base}/${rideId}/state`, { headers: { cookie } })).status).to.equal(401);
    }
  });

  it('a stream ends when its session ends, but streams of other sessions continue', async () => {
    const rideId = await started();
    const second = await signedIn(api, visitor.account.email);
    const stream = await follow(rideId);
    await stream.next();
    await SessionModel.deleteMany({ accountId: visitor.account._id });
    Object.assign(visitor, await signedIn(api, visitor.account.email));
    const other = await follow(rideId);
    expect(await nextWith(stream, 'never')).to.equal(null);
    expect((await follow(rideId, second.cookie)).status).to.equal(401);
    await visitor.post(`${base}/${rideId}/cancel`);
    expect(await nextWith(other, 'Ride cancelled')).to.include({ isOver: false });
  });
});

describe('the streams of the test console', () => {
  /** Starts a separate API with a test ride. `open` opens the ride's stream for its account. */
  async function apiWithRide(settings?: Record<string, string>) {
    const api = await startTestApi(settings);
    const { account, cookie } = await signedIn(api);
    const key = { accountId: account._id, name: 'Front desk', mode: 'test' } as const;
    const { keyId } = await createKey(api.ctx.config, key);
    const rideId = await newRide(api.ctx, { keyId, accountId: account._id, mode: 'test', scenario: 'no_offers' });
    return { api, open: () => openEventStream(`${api.url}${base}/${rideId}/events`, { cookie }) };
  }

  it('streams end when the API stops, and do not delay the stop', async () => {
    const { api, open } = await apiWithRide();
    const stream = await open();
    await stream.next();
    await api.close();
    expect(await stream.next()).to.equal(null);
  });

  it('a stream beyond the limit of its account answers 429', async () => {
    const { api, open } = await apiWithRide({ MAX_STREAMS_PER_CLIENT: '1' });
    const [first, second] = [await open(), await open()];
    expect([first.status, second.status]).to.deep.equal([200, 429]);
    await api.close();
  });
});
