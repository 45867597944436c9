import { expect } from 'chai';
import { AccountModel, operatorEmail } from '../../../shared/accounts/account.ts';
import { deviceId, newDevice } from '../../../shared/accounts/device.ts';
import { LimitModel } from '../../../shared/accounts/limit.ts';
import {
  codeLifetimeMs,
  enterCode,
  enterLink,
  newCode,
  noteSignedIn,
  openLink,
  readCode,
  readEmail,
  signInLifetimeMs,
} from '../../../shared/accounts/sign-in.ts';
import { type Browser, wrongCodes } from '../../../shared/accounts/sign-in-limits.ts';
import { SignInModel } from '../../../shared/accounts/sign-in-row.ts';
import type { Config } from '../../../shared/base/config.ts';
import { type SecretsKeys, secretsKey } from '../../../shared/base/encryption.ts';
import { randomBase62 } from '../../../shared/base/ids.ts';
import { wrongCode } from '../../support/mails.ts';
import { useTestContext } from '../../support/service.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

describe('a code to sign in', () => {
  const ctx = useTestContext();
  let config: Pick<Config, 'secrets' | 'signInMailsPerHour'>;
  before(async () => {
    config = ctx.config;
  });

  const startMs = Date.parse('2026-11-21T12:00:00Z');
  const someone = () => `${randomBase62(10).toLowerCase()}@partner.example`;
  const aBrowser = (device: string | null = null): Browser => ({ token: randomBase62(43), device });
  const ask = (email: string, browser: Browser, nowMs = startMs, client = randomBase62(8), formId = randomBase62(22)) =>
    newCode(config, { email, browser, client, formId }, nowMs);
  async function mailFor(email: string, browser: Browser, nowMs = startMs): Promise<{ code: string; link: string }> {
    const made = await ask(email, browser, nowMs);
    if (!('code' in made)) throw new Error(`refused: ${made.tooMany}`);
    return made;
  }
  const codeFor = async (email: string, browser: Browser, nowMs = startMs) =>
    (await mailFor(email, browser, nowMs)).code;
  const enter = (email: string, browser: Browser, code: string, nowMs = startMs, formId = randomBase62(22)) =>
    enterCode(config, { email, browser, code, formId }, nowMs);
  const outcome = async (...args: Parameters<typeof enter>) => (await enter(...args)).result;
  const withKeys = (...keys: SecretsKeys) => ({ signInMailsPerHour: 500, secrets: { ...ctx.config.secrets, keys } });

  it('has six digits, works once, and only in the browser that asked', async () => {
    const [email, own, other] = [someone(), aBrowser(), aBrowser()];
    const code = await codeFor(email, own);
    expect(code).to.match(/^\d{6}$/);
    await codeFor(email, other);
    expect(await outcome(email, other, code)).to.equal('wrong');
    expect(await outcome(email, own, code)).to.equal('right');
    expect(await outcome(email, own, code)).to.equal('no code');
  });

  it('works once when it is entered 20 times at once', async () => {
    const [email, browser] = [someone(), aBrowser()];
    const code = await codeFor(email, browser);
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => outcome(email, browser, code)));
    expect(outcomes.filter((one) => one === 'right')).to.have.length(1);
  });

  it('works for 15 minutes', async () => {
    const [email, browser] = [someone(), aBrowser()];
    const code = await codeFor(email, browser);
    expect(await outcome(email, browser, code, startMs + codeLifetimeMs)).to.equal('no code');
    const next = await codeFor(email, browser, startMs + codeLifetimeMs);
    expect(await outcome(email, browser, next, startMs + 2 * codeLifetimeMs - 1)).to.equal('right');
  });

  it('is the same when the same browser asks again, since mails can be late: a guess is compared with one code', async () => {
    const [email, browser] = [someone(), aBrowser()];
    const first = await mailFor(email, browser);
    expect(await mailFor(email, browser, startMs + 10 * minuteMs)).to.deep.equal(first);
    const [row] = await SignInModel.find({ email }).lean();
    expect(row?.codes).to.have.length(1);
    expect(await outcome(email, browser, first.code, startMs + 24 * minuteMs)).to.equal('right');
    expect(await outcome(email, browser, first.code, startMs + 24 * minuteMs)).to.equal('no code');
  });

  it('is another one once it has ended, and the link stays the same', async () => {
    const [email, browser] = [someone(), aBrowser()];
    const first = await mailFor(email, browser);
    const second = await mailFor(email, browser, startMs + codeLifetimeMs);
    expect(second.code).not.to.equal(first.code);
    expect(second.link).to.equal(first.link);
  });

  it('is completed by the form that entered it, sent again, and by no other form', async () => {
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

  it('is entered beside a process of the version before, which keeps several codes', async () => {
    const [email, browser] = [someone(), aBrowser()];
    await codeFor(email, browser);
    const old = { mac: 'of the version before', tries: 0, expiresAt: new Date(startMs + codeLifetimeMs) };
    await SignInModel.updateOne({ email }, { $push: { codes: old } });
    const code = await codeFor(email, browser);
    expect(await outcome(email, browser, code)).to.equal('right');
  });

  it('ends when the same browser asks for another address', async () => {
    const [first, second, browser] = [someone(), someone(), aBrowser()];
    const code = await codeFor(first, browser);
    await codeFor(second, browser);
    expect(await outcome(first, browser, code)).to.equal('no code');
    expect(await outcome(second, browser, code)).to.be.oneOf(['wrong', 'right']);
  });

  it('is stored as an HMAC, and makes no account', async () => {
    const [email, browser] = [someone(), aBrowser()];
    const code = await codeFor(email, browser);
    const stored = JSON.stringify(await SignInModel.find({ email }).lean());
    expect(stored).not.to.include(code);
    expect(stored).not.to.include(browser.token);
    expect(await AccountModel.countDocuments({ email })).to.equal(0);
  });

  it('is verified with every listed SECRETS_KEY, and made with the first', async () => {
    const [old, next] = [secretsKey(Buffer.alloc(32, 1)), secretsKey(Buffer.alloc(32, 2))];
    const [email, browser] = [someone(), aBrowser()];
    const asked = { email, browser, client: 'keys', formId: randomBase62(22) };
    const made = await newCode(withKeys(old), asked, startMs);
    if (!('code' in made)) throw new Error('refused');
    const { code, link } = made;
    expect((await newCode(withKeys(next, old), asked, startMs)) as typeof made).to.include({ code });
    const entered = () => ({ email, browser, code, formId: randomBase62(22) });
    expect(await enterCode(withKeys(next), entered(), startMs)).to.include({ result: 'wrong' });
    expect(await openLink(withKeys(next), { browser, link }, startMs)).to.equal(null);
    expect(await openLink(withKeys(next, old), { browser, link }, startMs)).to.include({ email });
    expect(await enterCode(withKeys(next, old), entered(), startMs)).to.include({ result: 'right' });
  });

  describe('entered wrong', () => {
    const tryWrong = async (email: string, browser: Browser, code: string, times: number, nowMs = startMs) => {
      const outcomes: string[] = [];
      for (let tried = 0; tried < times; tried++) outcomes.push(await outcome(email, browser, wrongCode(code), nowMs));
      return outcomes;
    };

    it('5 times works no more, and says how many tries are left', async () => {
      const [email, browser] = [someone(), aBrowser()];
      const code = await codeFor(email, browser);
      for (const triesLeft of [4, 3, 2, 1, 0]) {
        expect(await enter(email, browser, wrongCode(code))).to.include({ result: 'wrong', triesLeft });
      }
      expect(await outcome(email, browser, code, startMs + minuteMs)).to.equal('no code');
    });

    it('4 times works still', async () => {
      const [email, browser] = [someone(), aBrowser()];
      const code = await codeFor(email, browser);
      await tryWrong(email, browser, code, 4);
      expect(await outcome(email, browser, code)).to.equal('right');
    });

    const dayMs = 24 * hourMs;
    /** Enters wrong codes of many browsers, each as soon as the pause is over. Resolves with when each was entered. */
    async function tryWrongAllDay(email: string, device: string | null = null): Promise<number[]> {
      const entered: number[] = [];
      for (let nowMs = startMs; nowMs < startMs + dayMs; ) {
        const browser = aBrowser(device);
        const code = await codeFor(email, browser, nowMs);
        for (let tried = 0; tried < 5; tried++) {
          const made = await enter(email, browser, wrongCode(code), nowMs);
          if (made.result === 'wrong') entered.push(nowMs);
          else if (made.result === 'too many') nowMs += made.freesMs;
        }
        // Five mails an hour.
        nowMs += 12 * minuteMs;
      }
      return entered;
    }

    it('20 times closes the address for a day, over all its codes and browsers, also for a new code', async () => {
      const email = someone();
      expect(await tryWrongAllDay(email)).to.have.length(20);
      const browser = aBrowser();
      const code = await codeFor(email, browser, startMs + 20 * hourMs);
      const refused = await enter(email, browser, code, startMs + 20 * hourMs);
      expect(refused).to.include({ result: 'too many' });
    });

    it('has no pause five times, and then growing ones up to an hour', async () => {
      const email = someone();
      const entered = await tryWrongAllDay(email);
      expect((entered[4] as number) - startMs).to.equal(0);
      const pauses = entered.slice(5).map((at, index) => at - (entered[index + 4] as number));
      for (const [index, pauseMs] of pauses.entries()) {
        expect(pauseMs, `pause ${index}`).to.be.at.least(wrongCodes.pausesMs?.[index + 5] as number);
      }
      expect(pauses.at(-1)).to.be.at.least(hourMs);
    });

    it('is refused during the pause, also when the code is right', async () => {
      const [email, first] = [someone(), aBrowser()];
      await tryWrong(email, first, await codeFor(email, first), 5);
      const browser = aBrowser();
      const code = await codeFor(email, browser);
      expect(await enter(email, browser, code, startMs + 1)).to.deep.equal({
        result: 'too many',
        freesMs: minuteMs - 1,
      });
      expect(await outcome(email, browser, code, startMs + minuteMs)).to.equal('right');
    });

    it('counts for the address once for one form, however often the form is sent', async () => {
      const [email, browser, formId] = [someone(), aBrowser(), randomBase62(22)];
      const code = await codeFor(email, browser);
      for (let sent = 0; sent < 7; sent++) {
        const made = await enter(email, browser, wrongCode(code), startMs, formId);
        expect(made).to.deep.equal({ result: 'wrong', triesLeft: 4, wrongToday: 1 });
      }
      expect(await enter(email, browser, wrongCode(code))).to.include({ triesLeft: 3, wrongToday: 2 });
    });

    it('counts once for each code, also with the same digits in the same form', async () => {
      const [email, browser, formId] = [someone(), aBrowser(), randomBase62(22)];
      const first = await codeFor(email, browser);
      const later = startMs + codeLifetimeMs;
      await enter(email, browser, wrongCode(first), startMs, formId);
      const second = await codeFor(email, browser, later);
      const guess = [1, 2, 3].map((n) => String((Number(first) + n) % 1_000_000).padStart(6, '0'));
      const wrong = guess.find((one) => one !== second && one !== first) ?? '';
      await enter(email, browser, wrong, later, formId);
      const third = await codeFor(email, browser, later + codeLifetimeMs);
      if (third === wrong) return;
      const again = await enter(email, browser, wrong, later + codeLifetimeMs, formId);
      expect(again).to.include({ result: 'wrong', wrongToday: 3 });
    });

    it('100 times at once counts at most 5', async () => {
      const [email, browser] = [someone(), aBrowser()];
      const code = await codeFor(email, browser);
      const outcomes = await Promise.all(Array.from({ length: 100 }, () => outcome(email, browser, wrongCode(code))));
      expect(outcomes.filter((one) => one === 'wrong')).to.have.length(5);
    });

    it('by a stranger does not lock out a browser in which the owner has signed in before', async () => {
      const [email, stranger] = [someone(), aBrowser()];
      await tryWrong(email, stranger, await codeFor(email, stranger), 5);
      for (let asked = 0; asked < 4; asked++) await codeFor(email, stranger);
      expect(await ask(email, stranger)).to.include({ tooMany: 'to the address' });
      const known = aBrowser('device of the owner');
      expect(await outcome(email, known, await codeFor(email, known))).to.equal('right');
    });

    it('in a known browser has limits of its own', async () => {
      const [email, device] = [someone(), randomBase62(22)];
      expect(await tryWrongAllDay(email, device)).to.have.length(20);
      const [known, other] = [aBrowser(device), aBrowser()];
      const atMs = startMs + 20 * hourMs;
      expect(await outcome(email, known, await codeFor(email, known, atMs), atMs)).to.equal('too many');
      expect(await outcome(email, other, await codeFor(email, other, atMs), atMs)).to.equal('right');
    });
  });

  describe('has a link beside it that', () => {
    const use = (browser: Browser, link: string, nowMs = startMs, formId = randomBase62(22)) =>
      enterLink(config, { browser, link, formId }, nowMs);

    it('has 128 random bits at least, and works once, within an hour, only in the browser that asked', async () => {
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

    it('works once with 20 forms at once, and ends the code', async () => {
      const [email, browser] = [someone(), aBrowser()];
      const { code, link } = await mailFor(email, browser);
      const used = await Promise.all(Array.from({ length: 20 }, () => use(browser, link)));
      expect(used.filter(Boolean)).to.have.length(1);
      expect(await outcome(email, browser, code)).to.equal('no code');
    });

    it('ends with the code', async () => {
      const [email, browser] = [someone(), aBrowser()];
      const { code, link } = await mailFor(email, browser);
      expect(await outcome(email, browser, code)).to.equal('right');
      expect(await use(browser, link)).to.equal(null);
    });

    it('works while the address is closed for codes, so that nobody locks the owner out', async () => {
      const [email, stranger, owner] = [someone(), aBrowser(), aBrowser()];
      const wrong = wrongCode(await codeFor(email, stranger));
      for (let tried = 0; tried < 5; tried++) await enter(email, stranger, wrong);
      const { code, link } = await mailFor(email, owner);
      expect(await outcome(email, owner, code)).to.equal('too many');
      expect(await use(owner, link)).to.include({ result: 'right' });
    });

    it('is opened any number of times without being used up, as mail scanners do', async () => {
      const [email, browser] = [someone(), aBrowser()];
      const { link } = await mailFor(email, browser);
      for (let opened = 0; opened < 30; opened++) {
        expect(await openLink(config, { browser, link }, startMs)).to.include({ email });
      }
      expect(await use(browser, link)).to.include({ result: 'right' });
    });
  });

  describe('is sent', () => {
    it('5 times an hour to an address at most, over all browsers', async () => {
      const email = someone();
      const askMany = await Promise.all(Array.from({ length: 30 }, () => ask(email, aBrowser())));
      expect(askMany.filter((made) => 'code' in made)).to.have.length(5);
      const refused = await ask(email, aBrowser(), startMs + 10 * minuteMs);
      expect(refused).to.deep.equal({ tooMany: 'to the address', freesMs: 50 * minuteMs });
      expect(await ask(email, aBrowser(), startMs + hourMs)).to.have.property('code');
    });

    it('20 times an hour for a client at most, over all addresses', async () => {
      const client = randomBase62(8);
      const made = await Promise.all(Array.from({ length: 50 }, () => ask(someone(), aBrowser(), startMs, client)));
      expect(made.filter((one) => 'code' in one)).to.have.length(20);
      expect(await ask(someone(), aBrowser(), startMs, client)).to.deep.equal({
        tooMany: 'for the client',
        freesMs: hourMs,
      });
    });

    it('at most so often to new browsers of the whole service in an hour; a browser that has signed in before is not counted', async () => {
      const atMs = startMs + 365 * 24 * hourMs;
      const few = { ...config, signInMailsPerHour: 3 };
      const askFew = (browser: Browser, nowMs = atMs, client = randomBase62(8)) =>
        newCode(few, { email: someone(), browser, client, formId: randomBase62(22) }, nowMs);
      const made = await Promise.all(Array.from({ length: 20 }, () => askFew(aBrowser())));
      expect(made.filter((one) => 'code' in one)).to.have.length(3);
      expect(await askFew(aBrowser(), atMs + 10 * minuteMs)).to.deep.equal({
        tooMany: 'in all',
        freesMs: 50 * minuteMs,
      });
      for (let asked = 0; asked < 5; asked++) {
        expect(await askFew(aBrowser(randomBase62(22)))).to.have.property('code');
      }
      expect(await askFew(aBrowser(), atMs + hourMs)).to.have.property('code');
    });

    it('once for one form, charged once in the count of the whole service', async () => {
      const atMs = startMs + 366 * 24 * hourMs;
      const [email, browser, client, formId] = [someone(), aBrowser(), randomBase62(8), randomBase62(22)];
      for (let sent = 0; sent < 5; sent++) {
        const made = await newCode({ ...config, signInMailsPerHour: 2 }, { email, browser, client, formId }, atMs);
        expect(made).to.have.property('code');
      }
      const row = await LimitModel.findById(`code-mails:${Math.floor(atMs / hourMs)}`).lean();
      expect(row?.count).to.equal(1);
    });

    it('once for one form, charged once, with the same code', async () => {
      const [email, browser, client, formId] = [someone(), aBrowser(), randomBase62(8), randomBase62(22)];
      const made = await Promise.all(Array.from({ length: 30 }, () => ask(email, browser, startMs, client, formId)));
      expect(new Set(made.map((one) => JSON.stringify(one))).size).to.equal(1);
      for (let asked = 0; asked < 4; asked++) expect(await ask(email, aBrowser())).to.have.property('code');
      expect(await ask(email, aBrowser())).to.include({ tooMany: 'to the address' });
    });

    it('not at all when a limit is reached: a refused request stores nothing', async () => {
      const [email, browser] = [someone(), aBrowser()];
      for (let asked = 0; asked < 5; asked++) await ask(email, aBrowser());
      const stored = async () => [await LimitModel.find({}).sort('_id').lean(), await SignInModel.countDocuments({})];
      const before = await stored();
      for (let asked = 0; asked < 10; asked++) {
        expect(await ask(email, browser)).to.include({ tooMany: 'to the address' });
      }
      expect(await stored()).to.deep.equal(before);
    });

    it('to a full address without a charge to the client', async () => {
      const [email, client] = [someone(), randomBase62(8)];
      for (let asked = 0; asked < 40; asked++) await ask(email, aBrowser(), startMs, client);
      expect(await ask(someone(), aBrowser(), startMs, client)).to.have.property('code');
    });
  });

  it('is for an address in lower case that mail can reach, and never for the operator', () => {
    expect(readEmail('  Dana@Partner.Example ')).to.equal('dana@partner.example');
    for (const typed of [
      '',
      'dana',
      'dana@',
      'dana@localhost',
      operatorEmail,
      'a@b.example, c@d.example',
      'a b@c.example',
    ])
      expect(readEmail(typed), typed).to.equal(null);
    expect(readEmail('a@b.example\r\nBcc: c@d.example')).to.equal(null);
    expect(readEmail(`${'a'.repeat(250)}@b.example`)).to.equal(null);
  });

  it('is read as it was typed', () => {
    for (const typed of ['123456', '123 456', ' 123-456 ', '１２３４５６', '123\u00a0456']) {
      expect(readCode(typed), typed).to.equal('123456');
    }
    for (const typed of ['', '12345', '1234567', 'abcdef', '12 34 5x']) expect(readCode(typed), typed).to.equal(null);
  });

  it('has a device cookie that is good for its address alone, under every listed SECRETS_KEY', () => {
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
