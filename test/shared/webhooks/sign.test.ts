import { expect } from 'chai';
import fc from 'fast-check';
import Stripe from 'stripe';
import { deliveryHeaders, signatureHeader, verifySignature } from '../../../shared/webhooks/sign.ts';

const secret = 'whsec_4fMZ0sTq1Xv8bYd2LwKc7RgHn5JpAeUi';
const body = '{"driver":{"name":"Zoë Müller 東京"},"fare":12.5}';
const t = 1_753_900_000;

describe('signatureHeader', () => {
  // Made with: printf '%s' '<t>.<body>' | openssl dgst -sha256 -hmac '<secret>'
  const vectors = [
    [
      'whsec_test_secret',
      '{"event":"ride.status"}',
      1_700_000_000,
      '5705005ccec5093543f49ac651ee49ada6c3c6c7c0e9b9d4e300e380584f2d2b',
    ],
    [secret, body, t, 'ac76fd078b9f17ab542809138fe0b35274ccb98442976b11bd2cad1380aeb1a7'],
    ['whsec_ключ', '', 0, '6f456f4b0d23ada0396b799f426fa93285e3c6a8c9c73cbd548b71966df0e4f0'],
  ] as const;

  for (const [key, text, seconds, hex] of vectors) {
    it(`signatureHeader signs ${JSON.stringify(text)} like openssl`, () => {
      expect(signatureHeader(key, text, seconds)).to.equal(`t=${seconds},v1=${hex}`);
    });
  }

  it('signatureHeader creates a header that the Stripe library accepts, because the scheme is the same', () => {
    const now = Math.floor(Date.now() / 1000);
    const stripe = new Stripe('sk_test_none');
    const event = stripe.webhooks.constructEvent(body, signatureHeader(secret, body, now), secret);
    expect(event).to.deep.equal(JSON.parse(body));
  });
});

describe('deliveryHeaders', () => {
  it('a delivery has the headers of the contract, and those that mark a redelivery', () => {
    const event = { event: 'ride.status', eventId: 'evt_1', seq: 3 } as const;
    const headers = {
      'X-Service-Event': 'ride.status',
      'X-Service-Signature': 't=1,v1=0',
      'X-Service-Event-Id': 'evt_1',
      'X-Service-Sequence': '3',
    };
    expect(deliveryHeaders(event, 't=1,v1=0')).to.deep.equal(headers);
    expect(deliveryHeaders({ ...event, mark: { 'X-Mark': 'yes' } }, 't=1,v1=0')).to.deep.equal({
      ...headers,
      'X-Mark': 'yes',
    });
  });
});

describe('verifySignature', () => {
  const header = signatureHeader(secret, body, t);

  it('verifySignature accepts a header of signatureHeader, for text and for raw bytes', () => {
    expect(verifySignature(secret, header, body, t)).to.equal(true);
    expect(verifySignature(secret, header, Buffer.from(body), t)).to.equal(true);
  });

  it('a signature is accepted 299 seconds before or after the current time, and rejected at 300', () => {
    expect(verifySignature(secret, header, body, t + 299)).to.equal(true);
    expect(verifySignature(secret, header, body, t - 299)).to.equal(true);
    expect(verifySignature(secret, header, body, t + 300)).to.equal(false);
    expect(verifySignature(secret, header, body, t - 300)).to.equal(false);
  });

  it('verifySignature rejects a different body, secret or time, and a changed signature', () => {
    expect(verifySignature(secret, header, `${body} `, t)).to.equal(false);
    expect(verifySignature(`${secret}x`, header, body, t)).to.equal(false);
    expect(verifySignature(secret.slice('whsec_'.length), header, body, t)).to.equal(false);
    expect(verifySignature(secret, header.replace(`t=${t}`, `t=${t + 1}`), body, t)).to.equal(false);
    expect(
      verifySignature(
        secret,
        header.replace(/.$/, (hex) => (hex === '0' ? '1' : '0')),
        body,
        t,
      ),
    ).to.equal(false);
  });

  it('verifySignature rejects the same JSON after it was parsed and serialized again', () => {
    const reencoded = JSON.stringify(JSON.parse(body), null, 1);
    expect(verifySignature(secret, header, reencoded, t)).to.equal(false);
  });

  it('verifySignature rejects a current time that is not a number', () => {
    expect(verifySignature(secret, header, body, Number.NaN)).to.equal(false);
  });

  it('verifySignature rejects malformed headers without throwing', () => {
    const v1 = header.split('v1=')[1] ?? '';
    const others = ['', 't=', `v1=${v1}`, `t=${t}`, `t=${t},v1=`, `t=${t},v1=${v1.slice(2)}`, `t=${t},v1=${v1}00`];
    const spelled = [` ${header}`, `${header}\n`, `t=-${t},v1=${v1}`, `t=${t},v0=${v1}`, header.toUpperCase()];
    for (const other of [...others, ...spelled]) expect(verifySignature(secret, other, body, t), other).to.equal(false);
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (any) => !verifySignature(secret, any, body, t)));
  });
});
