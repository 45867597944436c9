import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { poolNames } from '../../shared/base/queues.ts';
import { rides } from '../../shared/rides/ride.ts';
import { chargesOf } from '../support/charges.ts';
import { type Answer, type Client, call, validRide } from '../support/client.ts';
import { rawRequest, requestText } from '../support/raw-http.ts';
import { usePartner, useTestApi } from '../support/service.ts';

const limitBytes = 16_384;
const valid = JSON.stringify(validRide);

/** The body of a valid creation with exactly `bytes` bytes, padded with an unknown field. */
function bodyOf(bytes: number): string {
  const filled = (filler: string) => JSON.stringify({ ...validRide, filler });
  return filled('x'.repeat(bytes - Buffer.byteLength(filled(''))));
}

/** Every kind of creation that is refused, with its status. */
const refusals: [title: string, status: number, send: (partner: Client) => Promise<Answer>][] = [
  ['a wrong optional field', 400, (partner) => partner.createRide({ passengerCount: 8 })],
  ['a blocked webhookUrl', 400, (partner) => partner.createRide({ webhookUrl: 'https://127.0.0.1/' })],
  ['malformed JSON', 400, (partner) => partner.post('/rides', '{')],
  ['an unknown scenario', 400, (partner) => partner.createRide({}, { 'x-service-test-scenario': 'nope' })],
  ['a wrong Idempotency-Key', 400, (partner) => partner.createRide({}, { 'idempotency-key': 'a b' })],
  ['a body that is too large', 413, (partner) => partner.createRide({ filler: 'x'.repeat(20_000) })],
  ['a wrong key', 401, (partner) => partner.createRide({}, { authorization: 'Bearer svc_test_nope' })],
];

describe('POST /rides: the body', () => {
  const api = useTestApi();
  const partner = usePartner(api);

  /** Sends a body unchanged, with only these headers. */
  const send = (body: RequestInit['body'], headers: Record<string, string>) =>
    call(`${api.url}/v1/rides`, {
      method: 'POST',
      headers: { authorization: `Bearer ${partner.key}`, ...headers },
      body,
      ...({ duplex: 'half' } as object),
    });
  const json = { 'content-type': 'application/json' };

  const notJson = 'The request body is not valid JSON';
  const notAnObject = 'The request body must be a JSON object';
  const missing = 'The request needs a JSON object as its body, sent as application/json';
  for (const [title, body, error] of [
    ['malformed JSON', '{"fare": 25', notJson],
    ['two objects', `${valid}${valid}`, notJson],
    ['deep nesting', '['.repeat(8_000), notJson],
    ['an array', `[${valid}]`, notAnObject],
    ['null', 'null', notAnObject],
    ['an object that was serialized twice', JSON.stringify(valid), notAnObject],
    ['an empty body', '', missing],
    ['only white space', '  \n ', notJson],
    ['only a byte order mark', '\ufeff', missing],
  ] as const) {
    it(`a creation answers 400 for ${title} as its body`, async () => {
      const answer = await send(body, json);
      expect([answer.status, answer.body]).to.deep.equal([400, { error }]);
      expect(await rides.countDocuments({ keyId: partner.keyId })).to.equal(0);
    });
  }

  it('a creation without a body answers 400', async () => {
    const answer = await rawRequest(
      api.url,
      requestText([
        'POST /v1/rides HTTP/1.1',
        'Host: x',
        `X-Api-Key: ${partner.key}`,
        'Content-Type: application/json',
        'Connection: close',
      ]),
    );
    expect(answer.status).to.equal(400);
  });

  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'json', '']) {
    it(`a creation answers 400 for the content type ${type || '(none)'}`, async () => {
      // The body is sent as bytes, so that fetch does not add a content type.
      const answer = await send(Buffer.from(valid), type ? { 'content-type': type } : {});
      expect(answer.status).to.equal(400);
      expect(answer.body.error).to.include('application/json');
    });
  }

  for (const type of ['application/json;charset=UTF-8', 'APPLICATION/JSON', 'application/vnd.partner+json']) {
    it(`a creation accepts the content type ${type}`, async () => {
      const answer = await send(valid, { 'content-type': type });
      expect(answer.status).to.equal(201);
    });
  }

  for (const charset of ['utf-16', 'iso-8859-1', 'nonsense']) {
    it(`a creation answers 400 for the charset ${charset}: the wire format is UTF-8`, async () => {
      const answer = await send(valid, { 'content-type': `application/json; charset=${charset}` });
      expect(answer.status).to.equal(400);
      expect(answer.body).to.deep.equal({ error: 'The request body must be UTF-8' });
    });
  }

  for (const [title, bytes] of [
    ['a byte that UTF-8 never contains', [0xff]],
    ['a truncated character', [0xe6, 0x9d]],
    ['an overlong encoding', [0xc0, 0x80]],
    ['half of a surrogate pair', [0xed, 0xa0, 0x80]],
    ['a code point above the maximum', [0xf4, 0x90, 0x80, 0x80]],
  ] as const) {
    it(`a creation answers 400 for a body that is not UTF-8: ${title}`, async () => {
      const [start = '', end = ''] = JSON.stringify({ ...validRide, notes: '|' }).split('|');
      const answer = await send(Buffer.concat([Buffer.from(start), Buffer.from(bytes), Buffer.from(end)]), json);
      expect(answer.status).to.equal(400);
      expect(answer.body).to.deep.equal({ error: 'The request body must be UTF-8' });
      expect(await rides.countDocuments({ keyId: partner.keyId })).to.equal(0);
    });
  }

  it('a creation stores the character U+FFFD if it was sent, literally or escaped', async () => {
    for (const text of ['a\ufffdb', 'a\\ufffdb']) {
      const answer = await send(valid.replace('"fare"', `"notes":"${text}","fare"`), json);
      expect(answer.status).to.equal(201);
      expect((await rides.findOne({ _id: answer.body.rideId }))?.notes).to.equal('a\ufffdb');
    }
  });

  it('a creation ignores a byte order mark before the JSON', async () => {
    expect((await send(`\ufeff${valid}`, json)).status).to.equal(201);
  });

  for (const encoding of ['identity', 'Identity', 'IDENTITY', '']) {
    it(`a creation accepts the content encoding "${encoding}"`, async () => {
      expect((await send(valid, { ...json, 'content-encoding': encoding })).status).to.equal(201);
    });
  }

  it('a creation accepts a body of 16,384 bytes and answers 413 to 16,385', async () => {
    expect(Buffer.byteLength(bodyOf(limitBytes))).to.equal(16_384);
    const fits = await send(bodyOf(limitBytes), json);
    expect(fits.status).to.equal(201);
    expect((await send(bodyOf(limitBytes + 1), json)).status).to.equal(413);
  });

  it('the size limit of a body counts bytes, not characters', async () => {
    const filler = 'ü'.repeat(limitBytes / 2);
    const over = await send(JSON.stringify({ ...validRide, filler }), json);
    expect(over.status).to.equal(413);
  });

  it('the size limit also applies to a chunked body, which has no Content-Length', async () => {
    const chunked = (text: string) => new Blob([text]).stream();
    const fits = await send(chunked(bodyOf(limitBytes)), json);
    expect(fits.status).to.equal(201);
    expect((await send(chunked(bodyOf(limitBytes + 1)), json)).status).to.equal(413);
  });

  // Regression: a body that broke after inflating beyond the limit ended the process, because nothing listened to its
  // errors.
  const brokenBomb = gzipSync(bodyOf(33_000), { level: 0 });
  brokenBomb.subarray(-2_000).fill(0xff);

  for (const [title, body, encoding] of [
    ['a compressed body', gzipSync(valid), 'gzip'],
    ['a compressed body that breaks beyond the size limit', brokenBomb, 'gzip'],
    ['an unknown encoding', Buffer.from(valid), 'snappy'],
  ] as const) {
    it(`a creation answers 400 to ${title}`, async () => {
      const answer = await send(body, { ...json, 'content-encoding': encoding });
      expect(answer.status).to.equal(400);
      expect(answer.body).to.deep.equal({ error: 'Content-Encoding is not supported' });
    });
  }

  const jobs = async () => {
    const counts = await Promise.all(poolNames.map((pool) => api.ctx.queues[pool].getJobCountByTypes()));
    return counts.reduce((sum, count) => sum + count, 0);
  };

  for (const [title, status, send] of refusals) {
    it(`a creation refused for ${title} (${status}) leaves no ride, no charge and no job`, async () => {
      const partner = await api.partner();
      const [ridesBefore, jobsBefore] = [await rides.countDocuments({}), await jobs()];
      const answer = await send(partner);
      expect(answer.status).to.equal(status);
      expect(answer.headers.get('ratelimit')).to.equal(null);
      expect(await rides.countDocuments({})).to.equal(ridesBefore);
      expect(await chargesOf(api.ctx, partner.keyId)).to.equal(0);
      expect(await jobs()).to.equal(jobsBefore);
    });
  }
});
