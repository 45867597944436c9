import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { rides } from '../../shared/rides/ride.ts';
import { call, validRide } from '../support/client.ts';
import { rawRequest, requestText } from '../support/raw-http.ts';
import { usePartner, useTestApi } from '../support/service.ts';

const limitBytes = 16_384;
const valid = JSON.stringify(validRide);

/** A valid creation of exactly so many bytes: an unknown field fills it up. */
function bodyOf(bytes: number): string {
  const filled = (filler: string) => JSON.stringify({ ...validRide, filler });
  return filled('x'.repeat(bytes - Buffer.byteLength(filled(''))));
}

describe('POST /rides: the body', () => {
  const api = useTestApi();
  const partner = usePartner(api);

  /** Bytes as they are, with these headers alone. */
  const send = (body: RequestInit['body'], headers: Record<string, string>) =>
    call(`${api.url}/v1/rides`, {
      method: 'POST',
      headers: { authorization: `Bearer ${partner.key}`, ...headers },
      body,
      ...({ duplex: 'half' } as object),
    });
  const json = { 'content-type': 'application/json' };

  const noJsonObject: [title: string, body: string][] = [
    ['malformed JSON', '{"fare": 25'],
    ['a trailing comma', '{"fare": 25,}'],
    ['two objects', `${valid}${valid}`],
    ['an array', `[${valid}]`],
    ['an empty array', '[]'],
    ['null', 'null'],
    ['a number', '5'],
    ['a text', '"ride"'],
    ['true', 'true'],
    ['an empty body', ''],
    ['white space alone', '  \n '],
    ['a form', 'fare=25'],
    ['a byte order mark and nothing', '\ufeff'],
    ['an empty object', '{}'],
    ['deep nesting', '['.repeat(8_000)],
    ['deep nesting in a field', `{"notes":${'['.repeat(8_000)}${']'.repeat(8_000)}}`],
  ];
  for (const [title, body] of noJsonObject) {
    it(`refuses ${title} with a 400`, async () => {
      const answer = await send(body, json);
      expect(answer.status).to.equal(400);
      expect(answer.body).to.have.all.keys('error');
      expect(answer.body.error).to.match(/^(The request (body|needs)|pickup is required)/);
      expect(await rides.countDocuments({ keyId: partner.keyId })).to.equal(0);
    });
  }

  it('ignores an unknown field however deep it is nested', async () => {
    const deep = `${'{"a":'.repeat(2_500)}1${'}'.repeat(2_500)}`;
    const answer = await send(`{"deep":${deep},${valid.slice(1)}`, json);
    expect(answer.status).to.equal(201);
  });

  it('refuses a request without a body', async () => {
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
    expect(answer.body).to.have.all.keys('error');
  });

  for (const type of [
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'json',
    '',
  ]) {
    it(`refuses the content type ${type || '(none)'}`, async () => {
      // As bytes, so that fetch adds no type of its own.
      const answer = await send(Buffer.from(valid), type ? { 'content-type': type } : {});
      expect(answer.status).to.equal(400);
      expect(answer.body).to.have.all.keys('error');
      expect(answer.body.error).to.include('application/json');
    });
  }

  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'APPLICATION/JSON',
    'application/vnd.partner+json',
  ]) {
    it(`accepts the content type ${type}`, async () => {
      const answer = await send(valid, { 'content-type': type });
      expect(answer.status).to.equal(201);
    });
  }

  for (const charset of ['utf-16', 'iso-8859-1', 'nonsense']) {
    it(`refuses the charset ${charset}: the wire format is UTF-8`, async () => {
      const answer = await send(valid, { 'content-type': `application/json; charset=${charset}` });
      expect(answer.status).to.equal(400);
      expect(answer.body).to.deep.equal({ error: 'The request body must be UTF-8' });
    });
  }

  for (const [title, bytes] of [
    ['a byte that is never in it', [0xff]],
    ['a character that breaks off', [0xe6, 0x9d]],
    ['an overlong form', [0xc0, 0x80]],
    ['half of a surrogate pair', [0xed, 0xa0, 0x80]],
    ['a code point beyond the last', [0xf4, 0x90, 0x80, 0x80]],
  ] as const) {
    it(`refuses what is not UTF-8: ${title}`, async () => {
      const [start = '', end = ''] = JSON.stringify({ ...validRide, notes: '|' }).split('|');
      const answer = await send(Buffer.concat([Buffer.from(start), Buffer.from(bytes), Buffer.from(end)]), json);
      expect(answer.status).to.equal(400);
      expect(answer.body).to.deep.equal({ error: 'The request body must be UTF-8' });
      expect(await rides.countDocuments({ keyId: partner.keyId })).to.equal(0);
    });
  }

  it('stores the replacement character as it was sent, spelled out and escaped', async () => {
    for (const text of ['a\ufffdb', 'a\\ufffdb']) {
      const answer = await send(valid.replace('"fare"', `"notes":"${text}","fare"`), json);
      expect(answer.status).to.equal(201);
      expect((await rides.findOne({ _id: answer.body.rideId }))?.notes).to.equal('a\ufffdb');
    }
  });

  it('ignores a byte order mark in front of the JSON', async () => {
    expect((await send(`\ufeff${valid}`, json)).status).to.equal(201);
  });

  for (const encoding of ['identity', 'Identity', 'IDENTITY', '']) {
    it(`takes a body with the content encoding "${encoding}" as it is`, async () => {
      expect((await send(valid, { ...json, 'content-encoding': encoding })).status).to.equal(201);
    });
  }

  it('accepts a body of 16,384 bytes and refuses one of 16,385 with a 413', async () => {
    expect(Buffer.byteLength(bodyOf(limitBytes))).to.equal(16_384);
    const fits = await send(bodyOf(limitBytes), json);
    expect(fits.status).to.equal(201);
    const over = await send(bodyOf(limitBytes + 1), json);
    expect(over.status).to.equal(413);
    expect(over.body).to.have.all.keys('error');
  });

  it('counts the body in bytes, not in characters', async () => {
    const filler = 'ü'.repeat(limitBytes / 2);
    const over = await send(JSON.stringify({ ...validRide, filler }), json);
    expect(over.status).to.equal(413);
  });

  it('holds the same limit for a chunked body, which has no length', async () => {
    const chunked = (text: string) => new Blob([text]).stream();
    const fits = await send(chunked(bodyOf(limitBytes)), json);
    expect(fits.status).to.equal(201);
    const over = await send(chunked(bodyOf(limitBytes + 1)), json);
    expect(over.status).to.equal(413);
    expect(over.body).to.have.all.keys('error');
  });

  it('refuses a body that is far too large without reading it all', async () => {
    const answer = await rawRequest(
      api.url,
      requestText([
        'POST /v1/rides HTTP/1.1',
        'Host: x',
        `X-Api-Key: ${partner.key}`,
        'Content-Type: application/json',
        'Content-Length: 10000000000',
        'Connection: close',
      ]),
      '{'.repeat(1_000),
    );
    expect(answer.status).to.equal(413);
    expect(answer.body).to.have.all.keys('error');
  });

  // Inflated past the limit and then broken, a body once ended the process: nobody listened to the stream any more.
  const brokenBomb = gzipSync(bodyOf(33_000), { level: 0 });
  brokenBomb.subarray(-2_000).fill(0xff);

  for (const [title, body, encoding] of [
    ['a compressed body', gzipSync(valid), 'gzip'],
    ['a compressed body that breaks off beyond the limit', brokenBomb, 'gzip'],
    ['an unknown encoding', Buffer.from(valid), 'snappy'],
  ] as const) {
    it(`refuses ${title} with a 400`, async () => {
      const answer = await send(body, { ...json, 'content-encoding': encoding });
      expect(answer.status).to.equal(400);
      expect(answer.body).to.deep.equal({ error: 'Content-Encoding is not supported' });
    });
  }
});
