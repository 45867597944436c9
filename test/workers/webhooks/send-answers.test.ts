import diagnostics from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { send } from '../../../shared/outbound/send.ts';
import { attemptTo } from '../../support/attempt.ts';
import { certificate, type RawOptions, type RawReceiver, startReceiver } from '../../support/receiver.ts';

/** Makes an attempt at a receiver with this answer, and waits until the sender has closed its connections. */
async function sendTo(answer: RawOptions['answer']) {
  const receiver = await startReceiver({ raw: true, answer });
  const result = await send(attemptTo(receiver));
  await receiver.close();
  return { ...result, durationMs: undefined };
}

const writes = (text: string) => (socket: Socket) => void socket.write(text);
const status = (code: number, headers = '') => writes(`HTTP/1.1 ${code} X\r\n${headers}Content-Length: 0\r\n\r\n`);

describe('send: the request', () => {
  it('send posts the unchanged body with the given headers, its length in bytes, and Connection: close', async () => {
    const receiver = await startReceiver({ raw: true, answer: status(200) });
    const body = '{"driver":{"name":"Zoë Müller 東京 🚕"},"fare":12.5}';
    const headersNow = () => ({
      'X-Service-Event': 'ride.status',
      'X-Service-Signature': 't=1,v1=00',
      'Content-Type': 'x',
    });
    const url = `${receiver.origin}/hook/ö?a=1&b=%20#fragment`;

    expect(await send(attemptTo(receiver, { url, body, headersNow }))).to.include({ outcome: 'delivered' });
    await receiver.close();

    const [head = '', sent] = receiver.received().split('\r\n\r\n');
    const [requestLine, ...headers] = head.split('\r\n');
    expect(sent).to.equal(body);
    expect(requestLine).to.equal('POST /hook/%C3%B6?a=1&b=%20 HTTP/1.1');
    expect(headers).to.have.members([
      `Host: 127.0.0.1:${receiver.port}`,
      'Connection: close',
      'Accept: */*',
      'User-Agent: RidePartner-Webhooks/1',
      'X-Service-Event: ride.status',
      'X-Service-Signature: t=1,v1=00',
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
    ]);
  });

  it('an attempt fails without an exception if a header cannot be written', async () => {
    const receiver = await startReceiver({ raw: true });
    const headersNow = () => ({ 'X-Service-Event': 'line\r\nbreak' });
    expect(await send(attemptTo(receiver, { headersNow }))).to.include({
      outcome: 'failed',
      reason: 'unknown',
    });
    await receiver.close();
    expect(receiver.received()).to.equal('');
  });

  it('each attempt opens a new connection', async () => {
    const receiver = await startReceiver({ raw: true, answer: status(200) });
    await send(attemptTo(receiver));
    await send(attemptTo(receiver));
    await receiver.close();
    expect(receiver.connections).to.have.length(2);
  });
});

describe('send: the status of the answer', () => {
  for (const code of [200, 204, 299]) {
    it(`an attempt is delivered if the answer is ${code}`, async () => {
      expect(await sendTo(status(code))).to.deep.include({ outcome: 'delivered', httpStatus: code });
    });
  }

  for (const code of [300, 304, 400, 404, 410, 500, 999]) {
    it(`an attempt fails if the answer is ${code}`, async () => {
      expect(await sendTo(status(code))).to.include({ outcome: 'failed', httpStatus: code });
    });
  }

  for (const code of [301, 302, 303, 307, 308]) {
    it(`an attempt fails and does not follow a redirect with ${code}`, async () => {
      const elsewhere = await startReceiver({ raw: true });
      const result = await sendTo(status(code, `Location: ${elsewhere.origin}/\r\n`));
      await elsewhere.close();
      expect(result).to.include({ outcome: 'failed', httpStatus: code, reason: 'redirect' });
      expect(elsewhere.connections).to.have.length(0);
    });
  }

  it('1xx responses are skipped, and the answer after them decides the outcome', async () => {
    const informational = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n';
    expect(await sendTo(writes(`${informational}HTTP/1.1 200 OK\r\n\r\n`))).to.include({ outcome: 'delivered' });
    expect(await sendTo(writes(`${informational}HTTP/1.1 500 X\r\n\r\n`))).to.include({ outcome: 'failed' });
  });

  it('the outcome is known once the status line and the end of the headers have arrived', async () => {
    expect(await sendTo(writes('HTTP/1.0 200\r\n\r\n'))).to.include({ outcome: 'delivered', httpStatus: 200 });
    const promised = writes('HTTP/1.1 202 OK\r\nContent-Length: 1000000\r\n\r\nonly this');
    expect(await sendTo(promised)).to.include({ outcome: 'delivered', httpStatus: 202 });
  });
});

describe('send: malformed heads', () => {
  const heads: [string, string][] = [
    ['lines that end in a bare LF', 'Content-Length: 0\n\n'],
    ['lines with mixed endings', 'A: b\nContent-Length: 0\r\n\n'],
    ['a folded line', 'X: a\r\n b\r\n\tc\r\nContent-Length: 0\r\n\r\n'],
    ['a folded first line', ' X: a\r\nContent-Length: 0\r\n\r\n'],
    ['both length headers', 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['both length headers in reverse order', 'Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n'],
    ['two lengths', 'Content-Length: 5\r\nContent-Length: 6\r\n\r\n12345'],
    ['a length that is not a number', 'Content-Length: none\r\n\r\n'],
    ['a line without a colon', 'nonsense\r\n\r\n'],
    ['a space before a colon', 'X : y\r\n\r\n'],
    ['control characters', 'X: \u0000\u0001\r\nContent-Length: 0\r\n\r\n'],
  ];
  for (const [what, rest] of heads) {
    it(`the status line decides the outcome if the head has ${what}`, async () => {
      // Sent in two pieces, so that the parser gets the malformed part separately from the status line.
      const inPieces = (line: string) => (socket: Socket) => {
        socket.setNoDelay(true).write(line);
        setTimeout(() => socket.write(rest), 20);
      };
      for (const end of ['\r\n', '\n']) {
        expect(await sendTo(writes(`HTTP/1.1 200 OK${end}${rest}`))).to.include({
          outcome: 'delivered',
          httpStatus: 200,
        });
      }
      expect(await sendTo(inPieces('HTTP/1.1 202\r\n'))).to.include({ outcome: 'delivered', httpStatus: 202 });
      const failed = { outcome: 'failed', httpStatus: 500, reason: 'status' };
      expect(await sendTo(writes(`HTTP/1.1 500 X\r\n${rest}`))).to.include(failed);
      const redirected = { outcome: 'failed', httpStatus: 307, reason: 'redirect' };
      expect(await sendTo(writes(`HTTP/1.1 307 X\r\n${rest}`))).to.include(redirected);
    });
  }

  it('the status line decides the outcome if the connection ends before the end of the head', async () => {
    const answer = (socket: Socket) => socket.end('HTTP/1.1 204 No Content\r\nX: ');
    expect(await sendTo(answer)).to.include({ outcome: 'delivered', httpStatus: 204 });
    const cut = (socket: Socket) => socket.end('HTTP/1.1 204 No Con');
    expect(await sendTo(cut)).to.include({ outcome: 'failed', reason: 'ECONNRESET' });
  });

  for (const [what, bytes] of [
    ['more than 16 kB', 17_000],
    ['more than 64 kB', 70_000],
  ] as const) {
    it(`the status line decides the outcome if the headers have ${what}`, async () => {
      const long = `X: ${'x'.repeat(bytes)}\r\n\r\n`;
      expect(await sendTo(writes(`HTTP/1.1 200 OK\r\n${long}`))).to.include({ outcome: 'delivered', httpStatus: 200 });
      expect(await sendTo(writes(`HTTP/1.1 500 X\r\n${long}`))).to.include({ outcome: 'failed', httpStatus: 500 });
    });
  }

  it('the status line of a malformed 1xx response does not decide the outcome', async () => {
    const early = 'HTTP/1.1 103 Early Hints\nLink: <a>\n b\n\n';
    expect(await sendTo(writes(`${early}HTTP/1.1 200 OK\nnonsense\n\n`))).to.include({ httpStatus: 200 });
    expect(await sendTo(writes(`${early}HTTP/1.1 500 OK\nnonsense\n\n`))).to.include({ httpStatus: 500 });
    const unfinished = (socket: Socket) => socket.end('HTTP/1.1 100 Continue\r\nnonsense\r\n\r\n');
    expect(await sendTo(unfinished))
      .to.include({ outcome: 'failed' })
      .and.not.to.have.property('httpStatus');
  });
});

describe('send: no valid answer', () => {
  const cases: [string, RawOptions['answer'], string][] = [
    ['a connection that is closed', (socket) => socket.end(), 'ECONNRESET'],
    ['a connection that is reset', (socket) => socket.resetAndDestroy(), 'ECONNRESET'],
    ['something that is not HTTP', writes('SSH-2.0-OpenSSH_9.2\r\n\r\n'), 'not_http'],
    ['the first frame of HTTP/2', writes('\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0\x80\0\x04'), 'http2'],
  ];
  for (const [what, answer, reason] of cases) {
    it(`an attempt fails on ${what}`, async () => {
      expect(await sendTo(answer)).to.deep.equal({ outcome: 'failed', reason, durationMs: undefined });
    });
  }

  it('an attempt fails with the status of an answer that changes the protocol', async () => {
    const upgrade = writes('HTTP/1.1 101 Y\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n');
    expect(await sendTo(upgrade)).to.include({ outcome: 'failed', httpStatus: 101, reason: 'status' });
  });
});

describe('send: reading the answer', () => {
  let receiver: RawReceiver;
  const sockets: Socket[] = [];
  const remember = (message: unknown) => void sockets.push((message as { socket: Socket }).socket);
  before(() => diagnostics.subscribe('net.client.socket', remember));
  after(() => diagnostics.unsubscribe('net.client.socket', remember));

  const endless = (head: string, more: string) => (socket: Socket) => {
    socket.write(head);
    const pour = () => {
      while (!socket.destroyed && socket.write(more));
    };
    socket.on('drain', pour);
    pour();
  };

  // Reading stops at 64 kB even in the middle of a chunk.
  const expectLittleRead = () => expect(sockets.map((socket) => socket.bytesRead <= 65_536)).to.deep.equal([true]);

  const ok = 'HTTP/1.1 200 OK\r\n';
  const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`;
  const filler = 'x'.repeat(16_384);
  const delivered = { outcome: 'delivered' };
  const tooLong = { outcome: 'failed', reason: 'answer_too_long' };
  const endlessAnswers: [what: string, head: string, more: string, result: object][] = [
    ['a body without a length', `${ok}\r\n`, filler, delivered],
    ['a compressed body', `${ok}Content-Encoding: gzip\r\n\r\n`, filler, delivered],
    ['a body of 9 GB', `${ok}Content-Length: 9000000000\r\n\r\n`, filler, delivered],
    ['chunks', chunked, `4000\r\n${filler}\r\n`, delivered],
    ['chunks of one byte', chunked, '1\r\nx\r\n'.repeat(2_000), delivered],
    ['a chunk extension', `${chunked}1;x=`, filler, delivered],
    ['trailers', `${chunked}0\r\n`, `X: ${'y'.repeat(100)}\r\n`, delivered],
    ['header lines', ok, `X: ${'y'.repeat(100)}\r\n`, delivered],
    ['one header', `${ok}X: `, filler, delivered],
    ['a status line', 'HTTP/1.1 200 ', filler, tooLong],
    ['1xx responses', '', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1_000), tooLong],
    ['long 1xx responses', '', `HTTP/1.1 103 Early Hints\r\nLink: ${'x'.repeat(12_000)}\r\n\r\n`, tooLong],
  ];
  for (const [what, head, more, result] of endlessAnswers) {
    for (const tls of [undefined, {}]) {
      it(`an endless answer is cut off after 64 kB (${what}${tls ? ', with TLS' : ''})`, async () => {
        receiver = await startReceiver({ raw: true, answer: endless(head, more), tls });
        sockets.length = 0;
        expect(await send(attemptTo(receiver, { tls: { ca: certificate } }))).to.include(result);
        await receiver.close();
        // The diagnostics channel names no TLS sockets.
        if (!tls) expectLittleRead();
      });
    }
  }

  it('an answer that never ends does not delay the result, and its connection is soon closed', async () => {
    receiver = await startReceiver({ raw: true, answer: writes('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345') });
    expect(await send(attemptTo(receiver))).to.include({ outcome: 'delivered' });
    expect(receiver.connections[0]?.readableEnded).to.equal(false);
    await receiver.close();
  });

  it('a short answer is read to its end, so the receiver sees no connection reset', async () => {
    const answer = (socket: Socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n123');
      setImmediate(() => socket.write('456'));
    };
    receiver = await startReceiver({ raw: true, answer });
    expect(await send(attemptTo(receiver))).to.include({ outcome: 'delivered' });
    const [socket] = receiver.connections;
    const [hadError] = socket?.closed ? [socket.errored !== null] : await once(socket as Socket, 'close');
    expect(hadError).to.equal(false);
    await receiver.close();
  });
});
