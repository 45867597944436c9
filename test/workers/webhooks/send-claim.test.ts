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

  const away = () => Promise.reject(new Error('MongoDB is unavailable'));
  const hanging = () => new Promise<boolean>(() => {});
  for (const [title, times, renewClaim, reason, timeoutMs] of [
    ['the claim is too old after every renewal', 99, async () => true, 'claim_too_old', 30_000],
    ['another worker has the claim', 1, async () => false, 'claim_taken', 30_000],
    ['the renewal of the claim fails', 1, away, 'claim_unknown', 30_000],
    ['the renewal is not answered within the time limit', 1, hanging, 'claim_unknown', 100],
  ] as const) {
    it(`an attempt is \`lost\`, and nothing is sent, if ${title}`, async () => {
      expect(await tooOld(times, renewClaim, { timeoutMs })).to.include({ outcome: 'lost', reason });
      await receiver.close();
      expect(receiver.connections).to.have.length(1);
      expect(receiver.received()).to.equal('');
    });
  }

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
