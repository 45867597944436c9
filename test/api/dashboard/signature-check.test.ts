import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { checkSignature } from '../../../api/dashboard/browser/signature-check.ts';
import { signatureHeader } from '../../../shared/webhooks/sign.ts';
import { signedIn } from '../../support/dashboard.ts';
import { useTestApi } from '../../support/service.ts';

const secret = 'whsec_4fMZ0sTq1Xv8bYd2LwKc7RgHn5JpAeUi';
const sent = '{"event":"ride.status","driver":{"name":"Zoë Müller 東京"},"fare":12.5,"url":"https://a.example/b"}';
const t = 1_753_900_000;
const header = signatureHeader(secret, sent, t);

/** The faults of a pasted delivery, 12 s after it was signed. */
const faultsOf = async (pasted: { header?: string; body?: string; secret?: string }, now = t + 12) =>
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

  it('the check reports a wrong secret, also for changed content', async () => {
    expect(await faultsOf({ secret: 'whsec_anotherSecretOfAnotherKey00000000' })).to.deep.equal(['wrong_secret']);
    expect(await faultsOf({ body: sent.replace('12.5', '13.5') })).to.deep.equal(['wrong_secret']);
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

  it('the check reports spaces around the secret', async () => {
    expect(await faultsOf({ secret: ` ${secret}\n` })).to.deep.equal(['secret_spaces']);
  });

  it('the check reports every malformed header', async () => {
    const v1 = header.split('v1=')[1] ?? '';
    const others = [
      '',
      'x',
      v1,
      `v1=${v1}`,
      `t=${t}`,
      `t=${t},v1=${v1.slice(2)}`,
      `t=${t}, v1=${v1}`,
      `t=now,v1=${v1}`,
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
      expect(await faultsOf({ body: text, secret: text })).to.have.members(['wrong_secret']);
    }
  });
});

describe('the page of the signature check', () => {
  const api = useTestApi();

  it('the form has no named fields and no action, so the browser cannot send it', async () => {
    const { html, status } = await (await signedIn(api)).get('/dashboard/signature');
    const form = /<form class="form".*?<\/form>/s.exec(html)?.[0] ?? '';
    expect(status).to.equal(200);
    expect(form).to.include('id="secret"').and.include('hidden').and.include('method="dialog"');
    expect(form).not.to.match(/\s(name|action)=/);
  });
});
