import { expect } from 'chai';
import nock from 'nock';
import { send } from '../../../shared/outbound/send.ts';
import { attemptTo } from '../../support/attempt.ts';
import { certificate, type RawReceiver, startReceiver } from '../../support/receiver.ts';
import { useNock } from '../../support/webhook-nock.ts';

// `send` connects before it writes, and nock intercepts only the write. So a silent listener, which is a local target,
// accepts the connection. The other tests use real sockets for everything that nock cannot show.
describe('send: with nock as the receiver', () => {
  useNock(true);
  let mute: RawReceiver;

  beforeEach(async () => {
    mute = await startReceiver({ raw: true });
  });

  afterEach(async () => {
    nock.cleanAll();
    await mute.close();
  });

  it('a nock interceptor receives the headers and the body', async () => {
    const partner = nock(mute.origin, {
      reqheaders: { 'X-Service-Event': 'ride.status', 'Content-Type': 'application/json' },
    })
      .post('/hook', { event: 'ride.status', name: 'Zoë' })
      .reply(204);
    const body = '{"event":"ride.status","name":"Zoë"}';
    expect(await send(attemptTo(mute, { body }))).to.include({ outcome: 'delivered', httpStatus: 204 });
    expect(partner.isDone()).to.equal(true);
    await mute.close();
    expect(mute.received()).to.equal('');
  });

  it("an attempt fails with the status or the error of a nock interceptor's reply", async () => {
    nock(mute.origin).post('/hook').reply(500, 'oh');
    expect(await send(attemptTo(mute))).to.include({ outcome: 'failed', httpStatus: 500 });
    nock(mute.origin)
      .post('/hook')
      .replyWithError(Object.assign(new Error('x'), { code: 'EPIPE' }));
    expect(await send(attemptTo(mute))).to.include({ outcome: 'failed', reason: 'EPIPE' });
  });

  it('an attempt times out if a nock interceptor delays its reply', async () => {
    nock(mute.origin).post('/hook').delay(60_000).reply(200);
    expect(await send(attemptTo(mute, { timeoutMs: 100 }))).to.include({ outcome: 'timeout' });
  });

  it('nothing reaches a nock interceptor if the claim is lost', async () => {
    const partner = nock(mute.origin).post('/hook').reply(200);
    const changes = { headersNow: () => null, renewClaim: async () => false };
    expect(await send(attemptTo(mute, changes))).to.include({ outcome: 'lost' });
    expect(partner.isDone()).to.equal(false);
  });

  it('an attempt reaches a nock interceptor over TLS', async () => {
    await mute.close();
    mute = await startReceiver({ raw: true, tls: {} });
    nock(mute.origin).post('/hook').reply(200);
    expect(await send(attemptTo(mute, { tls: { ca: certificate } }))).to.include({ outcome: 'delivered' });
  });
});
