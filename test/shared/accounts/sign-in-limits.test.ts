import { expect } from 'chai';
import { codeLifetimeMs, newCode } from '../../../shared/accounts/enter-code.ts';
import { chargeInvitation } from '../../../shared/accounts/invitations.ts';
import { LimitModel } from '../../../shared/accounts/limit.ts';
import { type Browser, wrongCodes } from '../../../shared/accounts/sign-in-limits.ts';
import { SignInModel, signIns } from '../../../shared/accounts/sign-in-row.ts';
import { randomBase62, sha256 } from '../../../shared/base/ids.ts';
import { onceInsteadOf } from '../../support/failing-mongo.ts';
import { someone, wrongCode } from '../../support/mails.ts';
import { aBrowser, startMs, useSignInCodes } from '../../support/sign-in-codes.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

describe('limits of sign-in codes', () => {
  const { ctx, ask, codeFor, enter, outcome } = useSignInCodes();

  describe('wrong codes', () => {
    const tryWrong = async (email: string, browser: Browser, code: string, times: number, nowMs = startMs) => {
      const outcomes: string[] = [];
      for (let tried = 0; tried < times; tried++) outcomes.push(await outcome(email, browser, wrongCode(code), nowMs));
      return outcomes;
    };

    it('wrong tries of several codes add up, and a correct code in between does not change their number', async () => {
      const [email, browser, other] = [someone(), aBrowser(), aBrowser()];
      const code = await codeFor(email, browser);
      await tryWrong(email, browser, code, 4);
      expect(await outcome(email, browser, code)).to.equal('right');
      const next = await codeFor(email, other);
      expect(await enter(email, other, wrongCode(next))).to.include({ result: 'wrong', wrongToday: 5 });
    });

    const dayMs = 24 * hourMs;
    /**
     * Enters wrong codes in many browsers, each as soon as the pause is over. Resolves with the times of these tries.
     */
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
        // Tries only every 12 minutes, because an address gets only five mails an hour.
        nowMs += 12 * minuteMs;
      }
      return entered;
    }

    it('20 wrong tries, with growing pauses after the first five, lock an address for a day, even for a new code', async () => {
      const email = someone();
      const entered = await tryWrongAllDay(email);
      expect(entered).to.have.length(20);
      expect((entered[4] as number) - startMs).to.equal(0);
      const pauses = entered.slice(5).map((at, index) => at - (entered[index + 4] as number));
      for (const [index, pauseMs] of pauses.entries()) {
        expect(pauseMs, `pause ${index}`).to.be.at.least(wrongCodes.pausesMs?.[index + 5] as number);
      }
      expect(pauses.at(-1)).to.be.at.least(hourMs);
      const browser = aBrowser();
      const code = await codeFor(email, browser, startMs + 20 * hourMs);
      const refused = await enter(email, browser, code, startMs + 20 * hourMs);
      expect(refused).to.include({ result: 'too many' });
    });

    it('a wrong try counts once if its form is sent repeatedly', async () => {
      const [email, browser, formId] = [someone(), aBrowser(), randomBase62(22)];
      const code = await codeFor(email, browser);
      for (let sent = 0; sent < 7; sent++) {
        const made = await enter(email, browser, wrongCode(code), startMs, formId);
        expect(made).to.deep.equal({ result: 'wrong', triesLeft: 4, wrongToday: 1 });
      }
      expect(await enter(email, browser, wrongCode(code))).to.include({ triesLeft: 3, wrongToday: 2 });
    });

    it('after a new code is sent, submitting the same wrong digits in the same form counts as another try', async () => {
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

    it('a wrong try does not count if its code expires at the same time', async () => {
      const [email, browser] = [someone(), aBrowser()];
      const code = await codeFor(email, browser);
      onceInsteadOf(signIns, 'findOneAndUpdate', async () => null);
      expect(await outcome(email, browser, wrongCode(code))).to.equal('no code');
      expect(await enter(email, browser, wrongCode(code))).to.include({ wrongToday: 1, triesLeft: 4 });
    });

    it('of 100 concurrent wrong tries, 5 are compared with the code and the others are refused', async () => {
      const [email, browser] = [someone(), aBrowser()];
      const code = await codeFor(email, browser);
      const outcomes = await Promise.all(Array.from({ length: 100 }, () => outcome(email, browser, wrongCode(code))));
      expect(outcomes.filter((one) => one === 'wrong')).to.have.length(5);
    });

    it("a stranger's wrong tries do not lock out a browser in which the owner has signed in before", async () => {
      const [email, stranger] = [someone(), aBrowser()];
      await tryWrong(email, stranger, await codeFor(email, stranger), 5);
      for (let asked = 0; asked < 4; asked++) await codeFor(email, stranger);
      expect(await ask(email, stranger)).to.include({ tooMany: 'to the address' });
      const known = aBrowser('device of the owner');
      expect(await outcome(email, known, await codeFor(email, known))).to.equal('right');
    });

    it('a known browser has its own limit of wrong tries', async () => {
      const [email, device] = [someone(), randomBase62(22)];
      expect(await tryWrongAllDay(email, device)).to.have.length(20);
      const [known, other] = [aBrowser(device), aBrowser()];
      const atMs = startMs + 20 * hourMs;
      expect(await outcome(email, known, await codeFor(email, known, atMs), atMs)).to.equal('too many');
      expect(await outcome(email, other, await codeFor(email, other, atMs), atMs)).to.equal('right');
    });
  });

  describe('mails with codes', () => {
    it('an address gets at most 5 codes an hour, over all browsers', async () => {
      const email = someone();
      const askMany = await Promise.all(Array.from({ length: 30 }, () => ask(email, aBrowser())));
      expect(askMany.filter((made) => 'code' in made)).to.have.length(5);
      const refused = await ask(email, aBrowser(), startMs + 10 * minuteMs);
      expect(refused).to.deep.equal({ tooMany: 'to the address', freesMs: 50 * minuteMs });
      expect(await ask(email, aBrowser(), startMs + hourMs)).to.have.property('code');
    });

    it('new browsers share an hourly limit of codes; a browser that has signed in before is not counted', async () => {
      const atMs = startMs + 365 * 24 * hourMs;
      const few = { ...ctx.config, signInMailsPerHour: 3 };
      const askFew = (browser: Browser, nowMs = atMs, client = randomBase62(8), email = someone()) =>
        newCode(few, { email, browser, client, formId: randomBase62(22) }, nowMs);
      const emails = Array.from({ length: 20 }, someone);
      const made = await Promise.all(emails.map((email) => askFew(aBrowser(), atMs, email, email)));
      expect(made.filter((one) => 'code' in one)).to.have.length(3);
      // A refused code is charged neither to its address nor to its client.
      const rows = emails.flatMap((email) => [`code-mails-to:${sha256(email)}`, `code-mails-for:${email}`]);
      expect(await LimitModel.countDocuments({ _id: { $in: rows } })).to.equal(6);
      expect(await askFew(aBrowser(), atMs + 10 * minuteMs)).to.deep.equal({
        tooMany: 'in all',
        freesMs: 50 * minuteMs,
      });
      for (let asked = 0; asked < 5; asked++) {
        expect(await askFew(aBrowser(randomBase62(22)))).to.have.property('code');
      }
      expect(await askFew(aBrowser(), atMs + hourMs)).to.have.property('code');
    });

    it('concurrent copies of forms get no more codes than the hourly limit of the service', async () => {
      const few = { ...ctx.config, signInMailsPerHour: 3 };
      const client = randomBase62(8);
      const aForm = () => ({ email: someone(), browser: aBrowser(), client, formId: randomBase62(22) });
      const forms = Array.from({ length: 10 }, aForm);
      const made = await Promise.all(
        [...forms, ...forms].map((form) => newCode(few, form, startMs + 368 * 24 * hourMs)),
      );
      const codes = new Set(made.flatMap((one) => ('code' in one ? one.link : [])));
      expect(codes.size).to.be.within(1, 3);
    });

    it('two browsers that are concurrently the first of the hour both get a code', async () => {
      const atMs = startMs + 367 * 24 * hourMs;
      onceInsteadOf(LimitModel.collection, 'updateOne', async () => {
        await ask(someone(), aBrowser(), atMs);
        throw Object.assign(new Error('duplicate key'), { code: 11_000 });
      });
      expect(await ask(someone(), aBrowser(), atMs)).to.have.property('code');
    });

    it('a repeated form is charged once to the limit of the service', async () => {
      const atMs = startMs + 366 * 24 * hourMs;
      const [email, browser, client, formId] = [someone(), aBrowser(), randomBase62(8), randomBase62(22)];
      const ask30 = () => Promise.all(Array.from({ length: 30 }, () => ask(email, browser, atMs, client, formId)));
      for (let sent = 0; sent < 2; sent++) await ask30();
      const row = await LimitModel.findById(`code-mails:${Math.floor(atMs / hourMs)}`).lean();
      expect(row?.count).to.equal(1);
    });

    it('once the invitations of an hour are used up, each copy of a further one is refused, and a repeat of an earlier one is not', async () => {
      const one = { signInMailsPerHour: 1 };
      const invited = { accountId: randomBase62(24), email: someone() };
      const charge = (form: string) => chargeInvitation(one, { ...invited, form }, startMs);
      expect(await charge('first')).to.have.property('refund');
      const copies = await Promise.all(Array.from({ length: 5 }, () => charge('second')));
      expect(copies.map((copy) => 'tooMany' in copy && copy.tooMany)).to.deep.equal(Array(5).fill('in all'));
      expect(await charge('first')).to.have.property('refund');
    });

    it('a repeated form gets the same code and is charged once', async () => {
      const [email, browser, client, formId] = [someone(), aBrowser(), randomBase62(8), randomBase62(22)];
      const made = await Promise.all(Array.from({ length: 30 }, () => ask(email, browser, startMs, client, formId)));
      expect(new Set(made.map((one) => JSON.stringify(one))).size).to.equal(1);
      for (let asked = 0; asked < 4; asked++) expect(await ask(email, aBrowser())).to.have.property('code');
      expect(await ask(email, aBrowser())).to.include({ tooMany: 'to the address' });
    });

    it('a refused request for a code stores nothing', async () => {
      const [email, browser] = [someone(), aBrowser()];
      for (let asked = 0; asked < 5; asked++) await ask(email, aBrowser());
      const stored = async () => [await LimitModel.find({}).sort('_id').lean(), await SignInModel.countDocuments({})];
      const before = await stored();
      for (let asked = 0; asked < 10; asked++) {
        expect(await ask(email, browser)).to.include({ tooMany: 'to the address' });
      }
      expect(await stored()).to.deep.equal(before);
    });
  });
});
