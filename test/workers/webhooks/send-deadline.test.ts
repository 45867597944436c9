import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { dnsResolver } from '../../../shared/outbound/resolve.ts';
import { type Attempt, send } from '../../../shared/outbound/send.ts';
import { newTrace, waitUntilDrained } from '../../../shared/outbound/trace.ts';
import type { AttemptPhase } from '../../../shared/webhooks/attempts.ts';
import { attemptTo } from '../../support/attempt.ts';
import { scaled } from '../../support/machine-speed.ts';
import { type RawOptions, startReceiver } from '../../support/receiver.ts';
import { onlyPartner, startNameServer } from '../../support/webhook-dns.ts';
import { useNock } from '../../support/webhook-nock.ts';
import { divertOutbound } from '../../support/webhook-outbound.ts';

const timeoutMs = scaled(150);
const partner = { origin: 'https://partner.test' };

async function expectTimeout(reason: AttemptPhase, attempt: Attempt): Promise<void> {
  const result = await send({ ...attempt, timeoutMs });
  expect(result).to.include({ outcome: 'timeout', reason });
  expect(result.durationMs).to.be.at.least(timeoutMs);
}

/** Writes a text repeatedly and slowly, until the connection is closed. */
const trickles =
  (text: string, first = '') =>
  (socket: Socket) => {
    socket.write(first);
    const timer = setInterval(() => socket.write(text), 10);
    socket.on('close', () => clearInterval(timer));
  };

describe('send: time limit', () => {
  useNock(false);
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

  it('an attempt times out on a TLS handshake that is never completed', async () => {
    const mute = await startReceiver({ raw: true });
    const origin = `https://localhost:${mute.port}`;
    await expectTimeout('tls', attemptTo({ origin }));
    await mute.close();
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
