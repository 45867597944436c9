import { expect } from 'chai';
import { AccountModel, operatorEmail } from '../../../shared/accounts/account.ts';
import { deviceId, newDevice } from '../../../shared/accounts/device.ts';
import {
  type Browser,
  codeLifetimeMs,
  enterCode,
  newCode,
  readCode,
  readEmail,
  SignInModel,
} from '../../../shared/accounts/sign-in.ts';
import type { Config } from '../../../shared/config.ts';
import type { Context } from '../../../shared/context.ts';
import { randomBase62 } from '../../../shared/ids.ts';
import { type SecretsKeys, secretsKey } from '../../../shared/keys/encryption.ts';
import { wrongCode } from '../../support/mails.ts';
import { testContext } from '../../support/service.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

describe('a code to sign in', () => {
  let ctx: Context;
  let config: Pick<Config, 'secrets'>;
  before(async () => {
    ctx = await testContext();
    config = ctx.config;
  });
  after(() => ctx.close());

  const startMs = Date.parse('2026-11-21T12:00:00Z');
  const someone = () => `${randomBase62(10).toLowerCase()}@partner.example`;
  const aBrowser = (device: string | null = null): Browser => ({ token: randomBase62(43), device });
  const ask = (email: string, browser: Browser, nowMs = startMs, client = randomBase62(8)) =>
    newCode(config, { email, browser, client }, nowMs);
  async function codeFor(email: string, browser: Browser, nowMs = startMs): Promise<string> {
    const made = await ask(email, browser, nowMs);
    if (!('code' in made)) throw new Error(`refused: ${made.tooMany}`);
    return made.code;
  }
  const enter = (email: string, browser: Browser, code: string, nowMs = startMs) =>
    enterCode(config, { email, browser, code }, nowMs);
  const outcome = async (...args: Parameters<typeof enter>) => (await enter(...args)).result;
  const withKeys = (...keys: SecretsKeys) => ({ secrets: { ...ctx.config.secrets, keys } });

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

  it('stays valid when the same browser asks again, since mails can be late; one of them ends them all', async () => {
    const [email, browser] = [someone(), aBrowser()];
    const codes = [await codeFor(email, browser), await codeFor(email, browser)];
    expect(await outcome(email, browser, codes[0] as string)).to.equal('right');
    expect(await outcome(email, browser, codes[1] as string)).to.equal('no code');
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
    const asked = { email, browser, client: 'keys' };
    const made = await newCode(withKeys(old), asked, startMs);
    const code = 'code' in made ? made.code : '';
    expect(await enterCode(withKeys(next), { email, browser, code }, startMs)).to.include({ result: 'wrong' });
    expect(await enterCode(withKeys(next, old), { email, browser, code }, startMs)).to.include({ result: 'right' });
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
        expect(await enter(email, browser, wrongCode(code))).to.deep.equal({ result: 'wrong', triesLeft });
      }
      expect(await outcome(email, browser, code)).to.equal('no code');
    });

    it('4 times works still', async () => {
      const [email, browser] = [someone(), aBrowser()];
      const code = await codeFor(email, browser);
      await tryWrong(email, browser, code, 4);
      expect(await outcome(email, browser, code)).to.equal('right');
    });

    it('15 times in an hour closes the address, over all its codes and browsers, also for a new code', async () => {
      const email = someone();
      for (let asked = 0; asked < 3; asked++) {
        const browser = aBrowser();
        expect(await tryWrong(email, browser, await codeFor(email, browser), 5)).not.to.include('too many');
      }
      const browser = aBrowser();
      const code = await codeFor(email, browser);
      const refused = await enter(email, browser, code, startMs + 20 * minuteMs);
      expect(refused).to.deep.equal({ result: 'too many', freesMs: 40 * minuteMs });
      const later = startMs + hourMs;
      expect(await outcome(email, browser, await codeFor(email, browser, later), later)).to.equal('right');
    });

    it('100 times at once counts at most 5 a code and 15 in all', async () => {
      const [email, browser] = [someone(), aBrowser()];
      const code = await codeFor(email, browser);
      const outcomes = await Promise.all(Array.from({ length: 100 }, () => outcome(email, browser, wrongCode(code))));
      const count = (wanted: string) => outcomes.filter((one) => one === wanted).length;
      expect([count('wrong'), count('no code'), count('too many')]).to.deep.equal([5, 10, 85]);
    });

    it('by a stranger does not lock out a browser in which the owner has signed in before', async () => {
      const [email, stranger] = [someone(), aBrowser()];
      for (let asked = 0; asked < 3; asked++) {
        await tryWrong(email, stranger, await codeFor(email, stranger), 5);
      }
      for (let asked = 0; asked < 2; asked++) await codeFor(email, stranger);
      expect(await ask(email, stranger)).to.include({ tooMany: 'to the address' });
      const known = aBrowser('device of the owner');
      expect(await outcome(email, known, await codeFor(email, known))).to.equal('right');
    });

    it('in a known browser has limits of its own', async () => {
      const [email, known] = [someone(), aBrowser(randomBase62(22))];
      for (let asked = 0; asked < 3; asked++) await tryWrong(email, known, await codeFor(email, known), 5);
      expect(await outcome(email, known, await codeFor(email, known))).to.equal('too many');
      const other = aBrowser();
      expect(await outcome(email, other, await codeFor(email, other))).to.equal('right');
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
