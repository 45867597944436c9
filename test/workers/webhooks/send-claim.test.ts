import diagnostics from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { type Attempt, send } from '../../../shared/outbound/send.ts';
import { attemptTo } from '../../support/attempt.ts';
import { certificate, type RawReceiver, startReceiver } from '../../support/receiver.ts';
import { useNock } from '../../support/webhook-nock.ts';

const headers = { 'X-Service-Event': 'ride.status' };
const answer = (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n');

describe('send: claim', () => {
  useNock(false);
  let receiver: RawReceiver;
  beforeEach(async () => {
    receiver = await startReceiver({ raw: true, answer });
  });
  afterEach(() => receiver.close());

  /** Makes an attempt whose claim is too old until it has been renewed `times` times. */
  const tooOld = (times: number, renewClaim: Attempt['renewClaim'], changes: Partial<Attempt> = {}) => {
    let old = times;
    const headersNow = () => (old-- > 0 ? null : headers);
    return send(attemptTo(receiver, { headersNow, renewClaim, ...changes }));
  };

  const expectNothingSent = async () => {
    await receiver.close();
    expect(receiver.connections).to.have.length(1);
    expect(receiver.received()).to.equal('');
    receiver = await startReceiver({ raw: true });
  };

  it('the claim is checked only once the connection is open', async () => {
    let connections = 0;
    const headersNow = () => {
      connections = receiver.connections.length;
      return headers;
    };
    // With TLS 1.2, the receiver finishes its handshake before the client does, so it can close before the request is written.
    await receiver.close();
    receiver = await startReceiver({ raw: true, answer, tls: { maxVersion: 'TLSv1.2' } });
    expect(await send(attemptTo(receiver, { headersNow, tls: { ca: certificate } }))).to.include({
      outcome: 'delivered',
    });
    expect(connections).to.equal(1);
  });

  for (const tls of [undefined, {}]) {
    it(`the claim is checked in the same tick as the request is written (${tls ? 'https' : 'http'})`, async () => {
      await receiver.close();
      receiver = await startReceiver({ raw: true, answer, tls });
      const happened: string[] = [];
      const headersNow = () => {
        happened.push('claim');
        process.nextTick(() => happened.push('next tick'));
        queueMicrotask(() => happened.push('microtask'));
        return headers;
      };
      const written = (message: unknown) => {
        const { request } = message as { request: ClientRequest };
        // Node publishes this message after the whole request was written.
        if (request.socket?.bytesWritten) happened.push('written');
      };
      diagnostics.subscribe('http.client.request.start', written);
      await send(attemptTo(receiver, { headersNow, tls: { ca: certificate } }));
      diagnostics.unsubscribe('http.client.request.start', written);
      expect(happened.slice(0, 2)).to.deep.equal(['claim', 'written']);
    });
  }

  it('a claim that is too old is renewed, and the event is sent', async () => {
    let renewals = 0;
    const renewClaim = async () => ++renewals > 0;
    expect(await tooOld(1, renewClaim)).to.include({ outcome: 'delivered' });
    expect(renewals).to.equal(1);
  });

  it('the claim is renewed again if the first renewal took too long', async () => {
    expect(await tooOld(2, async () => true)).to.include({ outcome: 'delivered' });
  });

  it('an attempt is `lost` if the claim is too old after every renewal', async () => {
    expect(await tooOld(99, async () => true)).to.include({ outcome: 'lost', reason: 'claim_too_old' });
    await expectNothingSent();
  });

  it('an attempt is `lost`, and nothing is sent, if another worker has the claim', async () => {
    expect(await tooOld(1, async () => false)).to.include({ outcome: 'lost', reason: 'claim_taken' });
    await expectNothingSent();
  });

  it('an attempt is `lost`, and nothing is sent, if the renewal of the claim fails', async () => {
    const renewClaim = () => Promise.reject(new Error('MongoDB is unavailable'));
    expect(await tooOld(1, renewClaim)).to.include({ outcome: 'lost', reason: 'claim_unknown' });
    await expectNothingSent();
  });

  it('an attempt is `lost`, and nothing is sent, if the renewal is not answered within the time limit', async () => {
    const renewClaim = () => new Promise<boolean>(() => {});
    const result = await tooOld(1, renewClaim, { timeoutMs: 100 });
    expect(result).to.include({ outcome: 'lost', reason: 'claim_unknown' });
    await expectNothingSent();
  });

  it('an attempt fails if the receiver closes the connection during the renewal', async () => {
    await receiver.close();
    let onClose = () => {};
    const closed = new Promise<void>((resolve) => {
      onClose = resolve;
    });
    receiver = await startReceiver({ raw: true, connected: (socket) => socket.end().on('close', onClose) });
    const result = await tooOld(1, () => closed.then(() => true));
    expect(result).to.include({ outcome: 'failed' });
    expect(receiver.received()).to.equal('');
  });
});
