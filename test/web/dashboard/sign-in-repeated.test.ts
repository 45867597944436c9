import { expect } from 'chai';
import { accountOf } from '../../../shared/accounts/account.ts';
import { auditOf } from '../../../shared/accounts/audit.ts';
import { SessionModel, startSession } from '../../../shared/accounts/session.ts';
import { newFormId, type PageAnswer } from '../../support/dashboard.ts';
import { failNthWrite } from '../../support/failing-mongo.ts';
import { codeMailsTo, codeSentTo, linkSentTo, mailsTo, someone } from '../../support/mails.ts';
import { type PlainBrowser, plainBrowser } from '../../support/plain-browser.ts';
import { useSigningIn } from '../../support/signing-in.ts';

/** `send` sends the same form with the same fields each time. `assertDone` checks its complete effect. */
interface Scenario {
  send(): Promise<PageAnswer>;
  assertDone(): Promise<void>;
}

describe('a sign-in form that is repeated after a 503', () => {
  const { api, asked, isSignedIn } = useSigningIn();

  async function sessionOf(email: string): Promise<PlainBrowser> {
    const browser = plainBrowser(api);
    const { _id } = await accountOf(email);
    browser.cookies.set('session', await startSession(_id, api.ctx.now()));
    return browser;
  }
  const actionsOf = async (email: string) =>
    (await auditOf((await accountOf(email))._id, 9)).map(({ action }) => action);
  async function assertSignedInOnce(browser: PlainBrowser, email: string): Promise<void> {
    expect(await isSignedIn(browser)).to.equal(true);
    const { _id: accountId } = await accountOf(email);
    expect(await SessionModel.countDocuments({ accountId })).to.equal(1);
    expect(await actionsOf(email)).to.deep.equal(['signed_in']);
    const reports = (await mailsTo(api.ctx, email)).filter(({ subject }) => subject.startsWith('A new browser'));
    expect(reports).to.have.length(1);
  }

  const scenarios: Record<string, () => Promise<Scenario>> = {
    'sends the requested code in one mail': async () => {
      const [email, browser, formId] = [someone(), plainBrowser(api), newFormId()];
      await browser.get('/dashboard');
      return {
        send: () => browser.post('/dashboard/sign-in/code', { email, next: '', formId }),
        async assertDone() {
          expect(await codeMailsTo(api.ctx, email)).to.have.length(1);
          await browser.press('Sign in', { code: await codeSentTo(api.ctx, email) });
          expect(await isSignedIn(browser)).to.equal(true);
          for (let more = 0; more < 4; more++) expect((await asked(email)).page.status).to.equal(200);
          expect((await asked(email)).page.status, 'charged once').to.equal(429);
        },
      };
    },
    'signs in with the code once, with one session, audit entry and mail': async () => {
      const [email, formId] = [someone(), newFormId()];
      const browser = await asked(email);
      const code = await codeSentTo(api.ctx, email);
      return {
        send: () => browser.post('/dashboard/sign-in', { code, next: '', formId }),
        assertDone: () => assertSignedInOnce(browser, email),
      };
    },
    'signs in with the link once, with one session, audit entry and mail': async () => {
      const [email, formId] = [someone(), newFormId()];
      const browser = await asked(email);
      const link = await linkSentTo(api.ctx, email);
      return {
        send: () => browser.post(link, { formId }),
        assertDone: () => assertSignedInOnce(browser, email),
      };
    },
    'confirms the session': async () => {
      const [email, formId] = [someone(), newFormId()];
      const browser = await sessionOf(email);
      const { _id: accountId } = await accountOf(email);
      await SessionModel.updateMany({ accountId }, { $unset: { verifiedAt: 1 } });
      await browser.get('/dashboard/confirm');
      await browser.press('Send code');
      const code = await codeSentTo(api.ctx, email);
      return {
        send: () => browser.post('/dashboard/confirm', { code, next: '/dashboard/keys', formId, account: accountId }),
        async assertDone() {
          expect(browser.page.path).to.equal('/dashboard/keys');
          expect(await SessionModel.countDocuments({ accountId, verifiedAt: { $exists: true } })).to.equal(1);
        },
      };
    },
  };

  for (const [title, start] of Object.entries(scenarios)) {
    for (const answerLost of [false, true]) {
      it(`${title}, even if any write ${answerLost ? 'loses its answer' : 'fails'}`, async () => {
        let failures = 0;
        for (let nth = 1; ; nth++) {
          const { send, assertDone } = await start();
          const failing = failNthWrite(nth, { answerLost });
          const first = await send().finally(failing.restore);
          if (!failing.hasFailed()) break;
          failures += 1;
          expect(first.status, `write ${nth}`).to.equal(503);
          await send();
          await assertDone();
        }
        expect(failures).to.be.greaterThan(0);
      });
    }
  }

  it('a repeated sign-in form does not restart a session that has ended', async () => {
    const [email, formId] = [someone(), newFormId()];
    const browser = await asked(email);
    const fields = { code: await codeSentTo(api.ctx, email), next: '', formId };
    const kept = new Map(browser.cookies);
    await browser.post('/dashboard/sign-in', fields);
    const again = plainBrowser(api);
    for (const [name, value] of kept) again.cookies.set(name, value);
    await again.post('/dashboard/sign-in', fields);
    expect(await isSignedIn(again), 'the answer may have been lost').to.equal(true);
    await browser.get('/dashboard');
    await browser.press('Sign out');
    for (const [name, value] of kept) browser.cookies.set(name, value);
    expect((await browser.post('/dashboard/sign-in', fields)).status).to.equal(422);
    expect(await isSignedIn(browser)).to.equal(false);
  });
});
