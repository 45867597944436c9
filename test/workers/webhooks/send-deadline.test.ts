import type { Socket } from 'node:net';
import { expect } from 'chai';
import { dnsResolver } from '../../../workers/webhooks/send/resolve.ts';
import { type Attempt, send } from '../../../workers/webhooks/send/send.ts';
import { attemptTo } from '../../support/attempt.ts';
import { type RawOptions, startReceiver } from '../../support/receiver.ts';
import { onlyPartner, startNameServer } from '../../support/webhook-dns.ts';
import { useNock } from '../../support/webhook-nock.ts';
import { divertOutbound } from '../../support/webhook-outbound.ts';

const timeoutMs = 150;
const partner = { origin: 'https://partner.test' };

async function expectCut(attempt: Attempt): Promise<void> {
  const result = await send({ ...attempt, timeoutMs });
  expect(result.outcome).to.equal('timeout');
  expect(result.durationMs).to.be.at.least(timeoutMs);
}

/** Writes a text again and again, slowly, for as long as there is a connection. */
const trickles =
  (text: string, first = '') =>
  (socket: Socket) => {
    socket.write(first);
    const timer = setInterval(() => socket.write(text), 10);
    socket.on('close', () => clearInterval(timer));
  };

describe('send: the limit cuts', () => {
  useNock(false);
  it('a name server that never answers', async () => {
    const nameServer = await startNameServer(() => null);
    await expectCut(attemptTo(partner, { localTargets: [], resolver: onlyPartner(dnsResolver([nameServer.address])) }));
    await nameServer.close();
  });

  it('a resolver that heeds no signal', async () => {
    await expectCut(attemptTo(partner, { localTargets: [], resolver: onlyPartner(() => new Promise(() => {})) }));
  });

  it('a host that never takes the connection', async () => {
    const outbound = divertOutbound(() => 'hang');
    try {
      await expectCut(attemptTo(partner, { resolver: async () => ['93.184.216.34', '93.184.216.35'] }));
      await expectCut(attemptTo({ origin: 'http://127.0.0.1:9' }));
    } finally {
      outbound.restore();
    }
  });

  it('a TLS handshake that is never completed', async () => {
    const mute = await startReceiver({ raw: true });
    const origin = `https://localhost:${mute.port}`;
    await expectCut(attemptTo({ origin }));
    await mute.close();
  });

  const answers: [string, Omit<RawOptions, 'raw'>][] = [
    ['a receiver that never answers', {}],
    ['headers that come byte by byte', { answer: trickles('x', 'HTTP/1.1 200 OK\r\nX: ') }],
    ['headers that come line by line', { answer: trickles('X: y\r\n', 'HTTP/1.1 200 OK\r\n') }],
    [
      'a status line without the end of its headers',
      { answer: (socket) => socket.write('HTTP/1.1 200 OK\r\nA: b\r\n') },
    ],
    ['informational answers that come one by one', { answer: trickles('HTTP/1.1 103 Early Hints\r\n\r\n') }],
  ];
  for (const [what, options] of answers) {
    it(what, async () => {
      const receiver = await startReceiver({ raw: true, ...options });
      await expectCut(attemptTo(receiver));
      await receiver.close();
    });
  }
});
