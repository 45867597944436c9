import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { send } from '../../../shared/outbound/send.ts';
import { attemptTo } from '../../support/attempt.ts';
import { certificate, expiredCertificate, type RawReceiver, startReceiver } from '../../support/receiver.ts';
import { useNock } from '../../support/webhook-nock.ts';

const answer = (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');

describe('send: TLS', () => {
  useNock(false);
  let receiver: RawReceiver;
  const tls = { ca: certificate };

  afterEach(() => receiver.close());

  // The sockets are read at once, because a closed socket no longer has this information.
  const resumed: boolean[] = [];
  const connected = (socket: Socket) => void resumed.push((socket as TLSSocket).isSessionReused());
  beforeEach(() => {
    resumed.length = 0;
  });

  it('an attempt is delivered if the certificate is valid for the host name', async () => {
    receiver = await startReceiver({ raw: true, answer, tls: {} });
    expect(await send(attemptTo(receiver, { tls }))).to.include({ outcome: 'delivered', httpStatus: 200 });
    expect(receiver.received()).to.match(/^POST \/hook HTTP\/1\.1\r\nHost: localhost:\d+\r\n/);
    expect((receiver.connections[0] as TLSSocket & { servername: string }).servername).to.equal('localhost');
  });

  it('an attempt is delivered if the certificate is valid for the literal address', async () => {
    receiver = await startReceiver({ raw: true, answer, tls: {} });
    const origin = `https://127.0.0.1:${receiver.port}`;
    expect(await send(attemptTo({ origin }, { tls }))).to.include({ outcome: 'delivered' });
  });

  it('HTTP/1.1 is used even if the receiver prefers HTTP/2', async () => {
    receiver = await startReceiver({ raw: true, answer, tls: { ALPNProtocols: ['h2', 'http/1.1'] } });
    expect(await send(attemptTo(receiver, { tls }))).to.include({ outcome: 'delivered' });
    expect((receiver.connections[0] as TLSSocket).alpnProtocol).to.equal('http/1.1');
  });

  it('an attempt fails and sends nothing if no trusted authority signed the certificate', async () => {
    receiver = await startReceiver({ raw: true, answer, tls: {} });
    expect(await send(attemptTo(receiver))).to.include({ outcome: 'failed', reason: 'certificate' });
    expect(receiver.received()).to.equal('');
  });

  const demands: [string, string, object][] = [
    ['demands a client certificate', 'client_certificate', { requestCert: true, rejectUnauthorized: true }],
    ['speaks only HTTP/2', 'http2', { ALPNProtocols: ['h2'] }],
    [
      'speaks only TLS 1.1',
      'tls_version',
      { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
    ],
  ];
  for (const [what, reason, options] of demands) {
    it(`an attempt fails with the reason \`${reason}\` if the receiver ${what}`, async () => {
      receiver = await startReceiver({ raw: true, answer, tls: options });
      expect(await send(attemptTo(receiver, { tls }))).to.include({ outcome: 'failed', reason });
    });
  }

  it('an attempt fails with the reason `certificate_expired` if the certificate has expired', async () => {
    receiver = await startReceiver({ raw: true, answer, tls: { cert: expiredCertificate } });
    const result = await send(attemptTo(receiver, { tls: { ca: expiredCertificate } }));
    expect(result).to.include({ outcome: 'failed', reason: 'certificate_expired' });
    expect(receiver.received()).to.equal('');
  });

  it('an attempt fails and sends nothing if the certificate is for another name', async () => {
    receiver = await startReceiver({ raw: true, answer, tls: {} });
    const origin = `https://other.localhost:${receiver.port}`;
    expect(await send(attemptTo({ origin }, { tls }))).to.include({ outcome: 'failed', reason: 'certificate_name' });
    expect(receiver.received()).to.equal('');
  });

  it('an attempt fails if the receiver does not use TLS', async () => {
    receiver = await startReceiver({ raw: true, answer });
    const origin = `https://localhost:${receiver.port}`;
    expect(await send(attemptTo({ origin }, { tls }))).to.include({
      outcome: 'failed',
      reason: 'not_tls',
    });
  });

  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    it(`an attempt resumes the TLS session of the previous one (${version})`, async () => {
      receiver = await startReceiver({
        raw: true,
        answer,
        connected,
        tls: { minVersion: version, maxVersion: version },
      });
      for (let round = 0; round < 3; round++) await send(attemptTo(receiver, { tls }));
      expect(resumed).to.deep.equal([false, true, true]);
    });
  }

  it('attempts with different trusted authorities share no TLS session', async () => {
    receiver = await startReceiver({ raw: true, answer, connected, tls: {} });
    await send(attemptTo(receiver, { tls }));
    expect(await send(attemptTo(receiver, { tls: { ca: certificate } }))).to.include({ outcome: 'delivered' });
    expect(await send(attemptTo(receiver))).to.include({ outcome: 'failed', reason: 'certificate' });
    expect(resumed.slice(0, 2)).to.deep.equal([false, false]);
  });
});
