import { expect } from 'chai';
import {
  AccountModel,
  accountOf,
  accountsWith,
  emailForm,
  operatorEmail,
  parseEmail,
} from '../../../shared/accounts/account.ts';
import { deviceId, newDevice } from '../../../shared/accounts/derived-keys.ts';
import {
  codeLifetimeMs,
  enterCode,
  enterLink,
  newCode,
  noteSignedIn,
  openLink,
  parseCode,
  signInLifetimeMs,
} from '../../../shared/accounts/enter-code.ts';
import type { Browser } from '../../../shared/accounts/sign-in-limits.ts';
import { SignInModel } from '../../../shared/accounts/sign-in-row.ts';
import { secretsKey } from '../../../shared/base/encryption.ts';
import { randomBase62 } from '../../../shared/base/ids.ts';
import { someone, wrongCode } from '../../support/mails.ts';
import { aBrowser, startMs, useSignInCodes } from '../../support/sign-in-codes.ts';

const minuteMs = 60_000;

describe('the form of an e-mail address', () => {
  it('is one for upper and lower case, and for both forms of an international domain', () => {
    const form = 'user@xn--bcher-kva.example';
    for (const typed of ['user@bücher.example', ' User@BÜCHER.example ', form]) {
      expect(emailForm(typed)).to.equal(form);
      expect(parseEmail(typed)).to.equal(form);
    }
    for (const typed of ['user', 'user@', 'a@b@', 'üser@x.example']) expect(parseEmail(typed)).to.equal(null);
  });
});

describe('sign-in codes', () => {
  const { ctx, mailFor, codeFor, enter, outcome, withKeys } = useSignInCodes();

  it('names the same account from a command and from a browser', async () => {
    const name = randomBase62(12);
    const { _id } = await accountOf(`${name}@bücher.example`);
    const [found] = await accountsWith(parseEmail(`${name}@bücher.example`) ?? '');
    expect(found?._id).to.equal(_id);
  });

  it('of 20 concurrent entries of a code, one succeeds', async () => {
    const [email, browser] = [someone(), aBrowser()];
    const code = await codeFor(email, browser);
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => outcome(email, browser, code)));
    expect(outcomes.filter((one) => one === 'right')).to.have.length(1);
  });

  it('a code works for 15 minutes', async () => {
    const [email, browser] = [someone(), aBrowser()];
    const code = await codeFor(email, browser);
    expect(await outcome(email, browser, code, startMs + codeLifetimeMs)).to.equal('no code');
    const next = await codeFor(email, browser, startMs + codeLifetimeMs);
    expect(await outcome(email, browser, next, startMs + 2 * codeLifetimeMs - 1)).to.equal('right');
  });

  it('a browser that requests a code again gets the same code, so there is only one code to guess', async () => {
    const [email, browser] = [someone(), aBrowser()];
    const first = await mailFor(email, browser);
    expect(await mailFor(email, browser, startMs + 10 * minuteMs)).to.deep.equal(first);
    expect(await outcome(email, browser, first.code, startMs + 24 * minuteMs)).to.equal('right');
    expect(await outcome(email, browser, first.code, startMs + 24 * minuteMs)).to.equal('no code');
  });

  it('after a code expires, a new request gets a new code with the same link', async () => {
    const [email, browser] = [someone(), aBrowser()];
    const first = await mailFor(email, browser);
    const second = await mailFor(email, browser, startMs + codeLifetimeMs);
    expect(second.code).not.to.equal(first.code);
    expect(second.link).to.equal(first.link);
  });

  it('only the form that entered a code can be repeated', async () => {
    const [email, browser, formId] = [someone(), aBrowser(), randomBase62(22)];
    const code = await codeFor(email, browser);
    expect(await enter(email, browser, code, startMs, formId)).to.include({ result: 'right', isDone: false });
    expect(await enter(email, browser, code, startMs + minuteMs, formId)).to.include({
      result: 'right',
      isDone: false,
    });
    expect(await outcome(email, browser, wrongCode(code), startMs, formId)).to.equal('no code');
    expect(await outcome(email, browser, code)).to.equal('no code');
    await noteSignedIn(browser.token, formId);
    expect(await enter(email, browser, code, startMs, formId)).to.include({ result: 'right', isDone: true });
  });

  it('a code stops working when its browser requests a code for another address', async () => {
    const [first, second, browser] = [someone(), someone(), aBrowser()];
    const code = await codeFor(first, browser);
    await codeFor(second, browser);
    expect(await outcome(first, browser, code)).to.equal('no code');
    expect(await outcome(second, browser, code)).to.be.oneOf(['wrong', 'right']);
  });

  it('a code is stored as an HMAC, and creates no account', async () => {
    const [email, browser] = [someone(), aBrowser()];
    const { code, link } = await mailFor(email, browser);
    const rows = await SignInModel.find({ email }).lean();
    expect(rows).to.have.length(1);
    expect(rows[0]?.code?.mac).to.match(/^[\w-]{43}$/);
    for (const secret of [code, link, browser.token]) expect(JSON.stringify(rows)).not.to.include(secret);
    expect(await AccountModel.countDocuments({ email })).to.equal(0);
  });

  it('a code is created with the first SECRETS_KEY and verified with every listed one', async () => {
    const [old, next] = [secretsKey(Buffer.alloc(32, 1)), secretsKey(Buffer.alloc(32, 2))];
    const [email, browser] = [someone(), aBrowser()];
    const request = { email, browser, client: 'keys', formId: randomBase62(22) };
    const made = await newCode(withKeys(old), request, startMs);
    if (!('code' in made)) throw new Error('refused');
    const { code, link } = made;
    expect((await newCode(withKeys(next, old), request, startMs)) as typeof made).to.include({ code });
    const entered = () => ({ email, browser, code, formId: randomBase62(22) });
    expect(await enterCode(withKeys(next), entered(), startMs)).to.include({ result: 'wrong' });
    expect(await openLink(withKeys(next), { browser, link }, startMs)).to.equal(null);
    expect(await openLink(withKeys(next, old), { browser, link }, startMs)).to.include({ email });
    expect(await enterCode(withKeys(next, old), entered(), startMs)).to.include({ result: 'right' });
  });

  describe('sign-in links', () => {
    const use = (browser: Browser, link: string, nowMs = startMs, formId = randomBase62(22)) =>
      enterLink(ctx.config, { browser, link, formId }, nowMs);

    it('a link has 22 characters, and works once, within an hour, only in the browser that requested it', async () => {
      const [email, browser, other] = [someone(), aBrowser(), aBrowser()];
      const { link } = await mailFor(email, browser);
      expect(link).to.match(/^[\w-]{22}$/);
      await mailFor(email, other);
      expect(await use(other, link)).to.equal(null);
      expect(await use(browser, `${link.slice(0, -1)}!`)).to.equal(null);
      expect(await use(browser, link, startMs + signInLifetimeMs)).to.equal(null);
      expect(await use(browser, link)).to.include({ result: 'right', email });
      expect(await use(browser, link)).to.equal(null);
    });

    it('of 20 concurrent uses of a link, one succeeds, and the code stops working', async () => {
      const [email, browser] = [someone(), aBrowser()];
      const { code, link } = await mailFor(email, browser);
      const used = await Promise.all(Array.from({ length: 20 }, () => use(browser, link)));
      expect(used.filter(Boolean)).to.have.length(1);
      expect(await outcome(email, browser, code)).to.equal('no code');
    });

    it('a link stops working when its code is used', async () => {
      const [email, browser] = [someone(), aBrowser()];
      const { code, link } = await mailFor(email, browser);
      expect(await outcome(email, browser, code)).to.equal('right');
      expect(await use(browser, link)).to.equal(null);
    });
  });

  it("parseEmail lower-cases a valid address, and refuses the operator's address", () => {
    expect(parseEmail('  Dana@Partner.Example ')).to.equal('dana@partner.example');
    for (const typed of [
      '',
      'dana',
      'dana@',
      'dana@localhost',
      operatorEmail,
      'a@b.example, c@d.example',
      'a b@c.example',
    ])
      expect(parseEmail(typed), typed).to.equal(null);
    expect(parseEmail('a@b.example\r\nBcc: c@d.example')).to.equal(null);
    expect(parseEmail(`${'a'.repeat(250)}@b.example`)).to.equal(null);
  });

  it('parseCode accepts six digits of any script with spaces, dashes and invisible characters, and no other text', () => {
    const pasted = ['123\u00a0456', '123\u200b456', '\u2068123456\u2069', '123\u2013456', '\ufeff123456'];
    const scripts = ['１２３４５６', '١٢٣٤٥٦', '۱۲۳۴۵۶', '१२३४५६', '𝟭𝟮𝟯𝟰𝟱𝟲'];
    for (const typed of ['123456', '123 456', ' 123-456 ', ...scripts, ...pasted]) {
      expect(parseCode(typed), typed).to.equal('123456');
    }
    for (const typed of ['', '12345', '1234567', 'abcdef', '12 34 5x']) expect(parseCode(typed), typed).to.equal(null);
  });

  it('a device cookie is valid only for its address, with every listed SECRETS_KEY', () => {
    const [old, next] = [secretsKey(Buffer.alloc(32, 1)), secretsKey(Buffer.alloc(32, 2))];
    const cookie = newDevice(withKeys(old), 'dana@partner.example');
    const id = deviceId(withKeys(next, old), cookie, 'dana@partner.example');
    expect(id).to.match(/^[0-9A-Za-z]{22}$/);
    expect(cookie.startsWith(`${id}.`)).to.equal(true);
    expect(deviceId(withKeys(next, old), cookie, 'other@partner.example')).to.equal(null);
    expect(deviceId(withKeys(next), cookie, 'dana@partner.example')).to.equal(null);
    for (const forged of ['', '.', `${id}.`, `x${cookie}`, cookie.slice(0, -1)]) {
      expect(deviceId(withKeys(old), forged, 'dana@partner.example'), forged).to.equal(null);
    }
  });
});
