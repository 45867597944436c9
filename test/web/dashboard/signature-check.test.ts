import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { signatureHeader } from '../../../shared/webhooks/sign.ts';
import { checkSignature } from '../../../web/dashboard/signature-check.ts';
import { faultWords } from '../../../web/dashboard/signature-words.ts';
import { storedAttempts } from '../../support/attempts.ts';
import { signedIn } from '../../support/dashboard.ts';
import { hrefsIn, textOf } from '../../support/pages.ts';
import { useTestApi } from '../../support/service.ts';

const secret = 'whsec_4fMZ0sTq1Xv8bYd2LwKc7RgHn5JpAeUi';
const sent = '{"event":"ride.status","driver":{"name":"Zoë Müller 東京"},"fare":12.5,"url":"https://a.example/b"}';
const t = 1_753_900_000;
const header = signatureHeader(secret, sent, t);

/** The faults of a pasted delivery, 12 s after it was signed. */
const faultsOf = async (pasted: Partial<Parameters<typeof checkSignature>[0]>, now = t + 12) =>
  (await checkSignature({ header, body: sent, secret, ...pasted }, now)).faults;

/** The signature of a partner whose code uses another HMAC key. */
const signedWith = (key: string | Buffer) =>
  `t=${t},v1=${createHmac('sha256', key).update(`${t}.${sent}`).digest('hex')}`;

describe('the signature check', () => {
  it('the check accepts an unchanged delivery and reports its age', async () => {
    const verdict = await checkSignature({ header, body: sent, secret }, t + 12);
    expect(verdict).to.deep.equal({ faults: [], ageSeconds: 12 });
  });

  it('the check accepts the header with its name, as a log shows it', async () => {
    expect(await faultsOf({ header: `x-service-signature: ${header}\n` })).to.deep.equal([]);
  });

  const otherSecret = 'whsec_anotherSecretOfAnotherKey00000000';
  const changed = sent.replace('12.5', '13.5');

  it('reports that body or secret does not match, without blaming one of them, for a pasted delivery', async () => {
    expect(await faultsOf({ secret: otherSecret })).to.deep.equal(['no_match']);
    expect(await faultsOf({ body: changed })).to.deep.equal(['no_match']);
  });

  it('reports a wrong body, never a wrong secret, if the secret signed the request as it was sent', async () => {
    const request = { header, body: sent };
    const verdict = await checkSignature({ header, body: changed, secret, sent: request }, t + 400);
    expect(verdict.faults).to.deep.equal(['wrong_body', 'stale']);
    const at = sent.indexOf('12.5') + 2;
    expect(verdict.difference).to.deep.equal({
      at,
      sent: sent.slice(at - 13, at + 23),
      checked: changed.slice(at - 13, at + 23),
    });
    expect(await faultsOf({ body: sent.slice(0, -1), sent: request })).to.deep.equal(['wrong_body']);
    expect(await faultsOf({ body: '', sent: request })).to.deep.equal(['wrong_body']);
    expect(await faultsOf({ body: `${sent}\n`, sent: request })).to.deep.equal(['line_end']);
  });

  it('reports a wrong secret if the body is as it was sent, and both faults if both are wrong', async () => {
    const request = { header: `x-service-signature: ${header}`, body: sent };
    expect(await faultsOf({ secret: otherSecret, sent: request })).to.deep.equal(['wrong_secret']);
    expect(faultWords.wrong_secret.remedy).to.include('page of the key').and.to.include('of the endpoint');
    const both = await faultsOf({ secret: otherSecret, body: changed, sent: request });
    expect(both).to.deep.equal(['wrong_secret', 'wrong_body']);
    const bare = { secret: secret.slice('whsec_'.length), body: changed, sent: request };
    expect(await faultsOf(bare)).to.deep.equal(['prefix_missing', 'wrong_body']);
  });

  it('does not use the request of an attempt for the header of another one', async () => {
    const request = { header: signatureHeader(secret, sent, t - 60), body: sent };
    expect(await faultsOf({ body: changed, sent: request })).to.deep.equal(['no_match']);
  });

  it('the check reports a stale signature from an age of 300 s on, in both directions, with its age', async () => {
    for (const [age, faults] of [
      [299, []],
      [300, ['stale']],
      [-299, []],
      [-300, ['stale']],
    ] as const) {
      const verdict = await checkSignature({ header, body: sent, secret }, t + age);
      expect(verdict).to.deep.equal({ faults, ageSeconds: age });
    }
  });

  it('the check reports a body that was parsed and serialised again', async () => {
    const parsed = JSON.parse(sent);
    const spaced = JSON.stringify(parsed, null, 2);
    const escaped = sent.replaceAll('/', '\\/').replace('ë', '\\u00eb');
    for (const body of [spaced, escaped, `${spaced}\n`]) {
      expect(await faultsOf({ body }), body).to.deep.equal(['body_reserialised']);
    }
  });

  it('the check reports a line end that was added, removed or exchanged', async () => {
    expect(await faultsOf({ body: `${sent}\n` })).to.deep.equal(['line_end']);
    expect(await faultsOf({ body: `${sent}\r\n` })).to.deep.equal(['line_end']);
    for (const [signed, pasted] of [
      ['{\r\n"a":1\r\n}', '{\n"a":1\n}'],
      ['{\n"a":1\n}', '{\r\n"a":1\r\n}'],
      ['{"a":1}\n', '{"a":1}'],
      ['{"a":1}\r\n', '{"a":1}\n'],
    ] as const) {
      const faults = await faultsOf({ header: signatureHeader(secret, signed, t), body: pasted });
      expect(faults, JSON.stringify(signed)).to.deep.equal(['line_end']);
    }
  });

  it('the check reports a byte order mark that was added or removed', async () => {
    expect(await faultsOf({ body: `\uFEFF${sent}` })).to.deep.equal(['byte_order_mark']);
    const marked = signatureHeader(secret, `\uFEFF${sent}`, t);
    expect(await faultsOf({ header: marked })).to.deep.equal(['byte_order_mark']);
  });

  it('the check reports a missing whsec_, in the pasted secret or in the secret that signed the event', async () => {
    const bare = secret.slice('whsec_'.length);
    expect(await faultsOf({ secret: bare })).to.deep.equal(['prefix_missing']);
    expect(await faultsOf({ header: signedWith(bare) })).to.deep.equal(['prefix_missing']);
  });

  it('the check reports a signature that was made with a base64-decoded secret', async () => {
    const bare = secret.slice('whsec_'.length);
    expect(await faultsOf({ header: signedWith(Buffer.from(bare, 'base64')) })).to.deep.equal(['secret_decoded']);
    expect(await faultsOf({ header: signedWith(Buffer.from(secret, 'base64')) })).to.deep.equal(['secret_decoded']);
  });

  it('the check reports spaces and invisible characters in the secret', async () => {
    const [half, rest] = [secret.slice(0, 12), secret.slice(12)];
    for (const pasted of [` ${secret}\n`, `${secret}\u200b`, `${half}\u00ad${rest}`, `\u2068${secret}\u2069`])
      expect(await faultsOf({ secret: pasted }), JSON.stringify(pasted)).to.deep.equal(['secret_spaces']);
  });

  it('the check reports every malformed header', async () => {
    const v1 = header.split('v1=')[1] ?? '';
    const others = [
      ...['', 'x', v1, `v1=${v1}`, `t=${t}`, `t=${t},v1=${v1.slice(2)}`, `t=${t}, v1=${v1}`, `t=now,v1=${v1}`],
    ];
    for (const other of [...others, header.toUpperCase()]) {
      expect(await faultsOf({ header: other }), other).to.deep.equal(['header_malformed']);
    }
  });

  it('the check reports all faults together', async () => {
    const pasted = { body: `\uFEFF${sent}\r\n`, secret: secret.slice('whsec_'.length) };
    expect(await faultsOf(pasted, t + 400)).to.have.members(['prefix_missing', 'byte_order_mark', 'line_end', 'stale']);
  });

  it('the check accepts any text without throwing', async () => {
    for (const text of ['', '{', '\uD800', '%%%', 'null', 'é'.repeat(1_000)]) {
      expect(await faultsOf({ body: text, secret: text })).to.have.members(['no_match']);
    }
  });
});

describe('the page of the signature check', () => {
  const api = useTestApi();

  it('the form has no named fields and no action, so the browser cannot send it', async () => {
    const { html, status } = await (await signedIn(api)).get('/dashboard/signature');
    const form = /<form class="form".*?<\/form>/s.exec(html)?.[0] ?? '';
    expect(status).to.equal(200);
    expect(/<noscript>.*?<\/noscript>/s.exec(html)?.[0]).to.match(/<p/);
    expect(html).to.include('openssl dgst');
    expect(form).to.include('id="secret"').and.include('hidden').and.include('method="dialog"');
    expect(form)
      .not.to.match(/\s(name|action)=/)
      .and.not.to.include('data-sent');
  });

  it('is filled in with the request of an attempt, without a secret', async () => {
    const visitor = await signedIn(api);
    const hostile = `${sent}</textarea><script>`;
    const [attempt] = await storedAttempts([
      { accountId: visitor.account._id, headers: { 'X-Service-Signature': header }, body: hostile },
    ]);
    const path = `/dashboard/signature?attempt=${attempt?._id}`;
    expect(hrefsIn((await visitor.get(`/dashboard/deliveries/${attempt?._id}`)).html)).to.include(path);
    const { html } = await visitor.get(path);
    expect(html).to.include(`value="${header}"`).and.include('data-sent').and.not.include('<script>');
    expect(textOf(/<textarea.*?<\/textarea>/s.exec(html)?.[0] ?? '')).to.include(hostile);
    expect(html).to.not.match(/value="whsec_/);
  });

  it('says that the request of an attempt is missing if it is erased', async () => {
    const visitor = await signedIn(api);
    const [attempt] = await storedAttempts([
      { accountId: visitor.account._id, headers: undefined, body: undefined, erasedAt: new Date() },
    ]);
    const { html } = await visitor.get(`/dashboard/signature?attempt=${attempt?._id}`);
    expect(textOf(html)).to.include('The request of this attempt is not kept');
    expect(html).not.to.include('data-sent');
  });
});
