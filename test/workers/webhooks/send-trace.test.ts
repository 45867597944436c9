import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { send } from '../../../shared/outbound/send.ts';
import { newTrace, traceFields, waitUntilDrained } from '../../../shared/outbound/trace.ts';
import { attemptTo } from '../../support/attempt.ts';
import { certificate, startReceiver } from '../../support/receiver.ts';
import { useNock } from '../../support/webhook-nock.ts';
import { divertOutbound } from '../../support/webhook-outbound.ts';

const partner = { origin: 'https://partner.test' };
const answer = (socket: { end(text: string): unknown }) => socket.end('HTTP/1.1 204 No Content\r\n\r\n');

describe('send: trace', () => {
  useNock(false);

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
