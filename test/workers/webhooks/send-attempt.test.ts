import diagnostics from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { Worker } from 'node:worker_threads';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { dnsResolver } from '../../../shared/outbound/resolve.ts';
import { type Attempt, send } from '../../../shared/outbound/send.ts';
import { newTrace, traceFields, waitUntilDrained } from '../../../shared/outbound/trace.ts';
import type { AttemptPhase } from '../../../shared/webhooks/attempts.ts';
import { attemptTo } from '../../support/attempt.ts';
import { scaled } from '../../support/machine-speed.ts';
import {
  certificate,
  expiredCertificate,
  type RawOptions,
  type RawReceiver,
  startReceiver,
} from '../../support/receiver.ts';
import { onlyPartner, startNameServer } from '../../support/webhook-dns.ts';
import { divertOutbound } from '../../support/webhook-outbound.ts';

const headers = { 'X-Service-Event': 'ride.status' };
const answer = (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n');

describe('send: claim', () => {
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

const timeoutMs = scaled(150);
const partner = { origin: 'https://partner.test' };

async function expectTimeout(reason: AttemptPhase, attempt: Attempt): Promise<void> {
  const result = await send({ ...attempt, timeoutMs });
  expect(result).to.include({ outcome: 'timeout', reason });
  expect(result.durationMs).to.be.at.least(timeoutMs);
}

/** Writes a text repeatedly and slowly, until the connection is closed. */
const trickles =
  (text: string, first: string | Buffer = '') =>
  (socket: Socket) => {
    socket.write(first);
    const timer = setInterval(() => socket.write(text), 10);
    socket.on('close', () => clearInterval(timer));
  };

describe('send: time limit', () => {
  it('an attempt times out on a name server that never answers', async () => {
    const nameServer = await startNameServer(() => null);
    const resolver = onlyPartner(dnsResolver([nameServer.address]));
    await expectTimeout('dns', attemptTo(partner, { localTargets: [], resolver }));
    await nameServer.close();
  });

  it('an attempt times out on a resolver that ignores the abort signal', async () => {
    const resolver = onlyPartner(() => new Promise(() => {}));
    await expectTimeout('dns', attemptTo(partner, { localTargets: [], resolver }));
  });

  it('an attempt times out on a host that never accepts the connection', async () => {
    const outbound = divertOutbound(() => 'hang');
    try {
      const resolver = async () => ['93.184.216.34', '93.184.216.35'];
      await expectTimeout('connect', attemptTo(partner, { resolver }));
      await expectTimeout('connect', attemptTo({ origin: 'http://127.0.0.1:9' }));
    } finally {
      outbound.restore();
    }
  });

  /** The start of a TLS record of 16 kB that contains a ServerHello of the same length. */
  const hello = Buffer.from([22, 3, 3, 0x40, 0, 2, 0, 0x3f, 0xfc, 3, 3]);
  for (const [what, answer] of [
    ['is never completed', undefined],
    ['arrives byte by byte', trickles('x', hello)],
  ] as const) {
    it(`an attempt times out on a TLS handshake that ${what}`, async () => {
      const receiver = await startReceiver({ raw: true, answer });
      const origin = `https://localhost:${receiver.port}`;
      await expectTimeout('tls', attemptTo({ origin }));
      await receiver.close();
    });
  }

  it('one time limit covers the lookup of the name and the wait for the answer', async () => {
    const receiver = await startReceiver({ raw: true });
    const limitMs = scaled(300);
    const resolver = () => setTimeout(0.8 * limitMs, ['127.0.0.1']);
    const origin = `http://partner.test:${receiver.port}`;
    const result = await send(attemptTo({ origin }, { resolver, timeoutMs: limitMs }));
    await receiver.close();
    expect(result).to.include({ outcome: 'timeout', reason: 'answer' });
    expect(result.durationMs).to.be.below(1.7 * limitMs);
  });

  const answers: [string, Omit<RawOptions, 'raw'>][] = [
    ['a receiver that never answers', {}],
    ['a status line that arrives byte by byte', { answer: trickles('x', 'HTTP/1.1 200 ') }],
    ['1xx responses that arrive one by one', { answer: trickles('HTTP/1.1 103 Early Hints\r\n\r\n') }],
  ];
  for (const [what, options] of answers) {
    it(`an attempt times out on ${what}`, async () => {
      const receiver = await startReceiver({ raw: true, ...options });
      await expectTimeout('answer', attemptTo(receiver));
      await receiver.close();
    });
  }

  const unfinished: [string, RawOptions['answer']][] = [
    ['byte by byte', trickles('x', 'HTTP/1.1 200 OK\r\nX: ')],
    ['line by line', trickles('X: y\r\n', 'HTTP/1.1 200 OK\r\n')],
    ['and stop', (socket) => socket.write('HTTP/1.1 200 OK\r\nA: b\r\n')],
  ];
  for (const [what, answer] of unfinished) {
    it(`a status line within the time limit decides the outcome if its headers arrive ${what}`, async () => {
      const receiver = await startReceiver({ raw: true, answer });
      const result = await send({ ...attemptTo(receiver), timeoutMs: scaled(150) });
      expect(result).to.include({ outcome: 'delivered', httpStatus: 200 });
      await receiver.close();
    });
  }

  it('an answer that arrives before the time limit, while the process is paused, is read to its end', async () => {
    const receiver = await startReceiverThread();
    // The attempt must be connected before this limit.
    const timeoutMs = scaled(150);
    const trace = newTrace();
    const headersNow = () => {
      setImmediate(() => receiver.pauseUntilAnswered(timeoutMs + 50));
      return {};
    };
    const result = await send({ ...attemptTo(receiver), headersNow, timeoutMs }, trace);
    receiver.sendBody();
    await waitUntilDrained(trace);
    await receiver.close();
    expect(result).to.include({ outcome: 'delivered', httpStatus: 200 });
    expect(String(trace.answer)).to.equal('thank you');
  });
});

/** A receiver in a thread of its own, which answers while the main thread is paused. */
async function startReceiverThread() {
  const answered = new Int32Array(new SharedArrayBuffer(4));
  const thread = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads');
    const server = require('node:net').createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () =>
        socket.write('HTTP/1.1 200 OK\\r\\nContent-Length: 9\\r\\n\\r\\n', () => {
          Atomics.store(workerData, 0, 1);
          Atomics.notify(workerData, 0);
        }),
      );
      parentPort.once('message', () => socket.end('thank you'));
    });
    server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`,
    { eval: true, workerData: answered },
  );
  const [port] = await once(thread, 'message');
  return {
    origin: `http://127.0.0.1:${port}`,
    /** Pauses this thread until the head of the answer was sent, and then for `ms`. */
    pauseUntilAnswered(ms: number): void {
      Atomics.wait(answered, 0, 0);
      Atomics.wait(answered, 0, 1, ms);
    },
    sendBody: () => thread.postMessage('body'),
    close: () => thread.terminate(),
  };
}

describe('send: TLS', () => {
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

describe('send: trace', () => {
  it('the trace has the duration of each phase, including TLS', async () => {
    const receiver = await startReceiver({ raw: true, answer, tls: {} });
    const trace = newTrace();
    const result = await send(attemptTo(receiver, { tls: { ca: certificate } }), trace);
    await receiver.close();
    expect(result.outcome).to.equal('delivered');
    const { phases = {}, address } = traceFields(trace, 'delivered');
    expect(Object.keys(phases)).to.deep.equal(['dns', 'connect', 'tls', 'write', 'answer']);
    expect(address).to.be.oneOf(['127.0.0.1', '::1']);
  });

  it('the trace has the first address if all addresses refuse the connection', async () => {
    const outbound = divertOutbound(() => 'refuse');
    const trace = newTrace();
    try {
      const resolver = async () => ['93.184.216.34', '93.184.216.35'];
      expect(await send(attemptTo(partner, { resolver }), trace)).to.include({ reason: 'ECONNREFUSED' });
    } finally {
      outbound.restore();
    }
    expect(traceFields(trace, 'failed').address).to.equal('93.184.216.34');
  });

  describe('the text of an answer', () => {
    const text = 'Fehler: Größe — ошибка';
    const kept = async (body: Buffer, headers: string) => {
      const head = `HTTP/1.1 400 X\r\n${headers}\r\nContent-Length: ${body.length}\r\n\r\n`;
      const receiver = await startReceiver({
        raw: true,
        answer: (socket) => socket.end(Buffer.concat([Buffer.from(head), body])),
      });
      const trace = newTrace();
      await send(attemptTo(receiver), trace);
      await waitUntilDrained(trace);
      await receiver.close();
      return traceFields(trace, 'failed');
    };
    const bomb = brotliCompressSync(Buffer.alloc(64 << 20));
    const forms: [string, string, Buffer, string][] = [
      ['gzip', 'Content-Encoding: gzip', gzipSync(text), text],
      ['deflate', 'Content-Encoding: deflate', deflateSync(text), text],
      ['brotli', 'Content-Encoding: br', brotliCompressSync(text), text],
      [
        'windows-1251',
        'Content-Type: text/plain; charset=windows-1251',
        Buffer.from([0xee, 0xf8, 0xe8, 0xe1, 0xea, 0xe0]),
        'ошибка',
      ],
      ['Shift_JIS', 'Content-Type: text/html; charset="Shift_JIS"', Buffer.from([0x8e, 0xb8, 0x94, 0x73]), '失敗'],
      ['no known form', 'Content-Type: text/plain; charset=none', Buffer.from([0x61, 0xff]), 'aÿ'],
      ['a compressed answer that is damaged', 'Content-Encoding: gzip', Buffer.from('no gzip'), 'no gzip'],
      ['64 MB in brotli, which is not decompressed', 'Content-Encoding: br', bomb, bomb.toString('latin1')],
    ];
    for (const [what, header, body, expected] of forms) {
      it(`the trace has the text of an answer in ${what}`, async () => {
        expect((await kept(body, header)).answer).to.equal(expected);
      });
    }

    it('the trace keeps the Content-Encoding, and at most 1,024 characters of a compressed answer', async () => {
      const { answer, answerHeaders } = await kept(gzipSync('x'.repeat(500_000)), 'Content-Encoding: gzip');
      expect(answer).to.equal('x'.repeat(1_024));
      expect(answerHeaders).to.include({ 'content-encoding': 'gzip' });
    });

    it('the trace marks an answer whose headers could not be read to their end', async () => {
      const head = `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`;
      const receiver = await startReceiver({ raw: true, answer: (socket) => socket.end(head) });
      const trace = newTrace();
      await send(attemptTo(receiver), trace);
      await receiver.close();
      expect(traceFields(trace, 'delivered')).to.deep.include({ isRawHead: true, answer: head.slice(0, 1_024) });
    });
  });
});
