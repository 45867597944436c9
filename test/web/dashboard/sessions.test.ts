import { expect } from 'chai';
import { accountOf } from '../../../shared/accounts/account.ts';
import { auditOf } from '../../../shared/accounts/audit.ts';
import { livingSessions, SessionModel } from '../../../shared/accounts/session.ts';
import { randomBase62 } from '../../../shared/base/ids.ts';
import { newFormId } from '../../support/dashboard.ts';
import { codeSentTo, someone } from '../../support/mails.ts';
import { plainBrowser } from '../../support/plain-browser.ts';
import { useSigningIn } from '../../support/signing-in.ts';

describe('a session of the dashboard', () => {
  const { api, asked, signedIn, isSignedIn } = useSigningIn();

  describe('end of a session', () => {
    it('a session ends at sign-out: its cookie stops working, and Back shows the sign-in page', async () => {
      const browser = await signedIn(someone());
      const session = browser.cookies.get('session') ?? '';
      const answer = await browser.press('Sign out');
      expect(answer.html).to.include('Send code');
      expect(browser.cookies.has('session')).to.equal(false);
      browser.cookies.set('session', session);
      expect(await isSignedIn(browser)).to.equal(false);
      expect(answer.headers.get('cache-control')).to.equal('no-store');
    });

    it('"Sign out everywhere" ends every session of the account, and of no other account', async () => {
      const [email, other] = [someone(), await signedIn(someone())];
      const browsers = [await signedIn(email), await signedIn(email)] as const;
      await browsers[0].post('/dashboard/sign-out-everywhere', { formId: randomBase62(22) });
      for (const browser of browsers) expect(await isSignedIn(browser)).to.equal(false);
      expect(await isSignedIn(other)).to.equal(true);
      const { _id } = await accountOf(email);
      expect((await auditOf(_id, 9)).map(({ action }) => action)).to.deep.equal([
        'signed_out_everywhere',
        'signed_in',
        'signed_in',
      ]);
    });

    it('a session ends 90 days after sign-in despite use', async () => {
      const email = someone();
      const browser = await signedIn(email);
      const [startMs, dayMs] = [Date.now(), 24 * 3_600_000];
      for (const day of [29, 58, 87, 89.9]) {
        api.ctx.now = () => startMs + day * dayMs;
        expect(await isSignedIn(browser)).to.equal(true);
      }
      api.ctx.now = () => startMs + 90 * dayMs;
      expect(await isSignedIn(browser)).to.equal(false);
      const token = browser.cookies.get('session') ?? '';
      expect(await livingSessions([token], api.ctx.now())).to.deep.equal(new Set());
    });

    it('a session ends 30 days after its last use', async () => {
      const browser = await signedIn(someone());
      const [startMs, dayMs] = [Date.now(), 24 * 3_600_000];
      for (const day of [29, 58]) {
        api.ctx.now = () => startMs + day * dayMs;
        expect(await isSignedIn(browser)).to.equal(true);
      }
      api.ctx.now = () => startMs + 89 * dayMs;
      expect(await isSignedIn(browser)).to.equal(false);
    });

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

  it('the session token is an HttpOnly cookie, and is not stored in MongoDB', async () => {
    const email = someone();
    const browser = await asked(email);
    const code = await codeSentTo(api.ctx, email);
    const answer = await fetch(`${api.url}/dashboard/sign-in`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie: `sign_in=${browser.cookies.get('sign_in')}`, 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams({ code, next: '', formId: randomBase62(22) }),
    });
    const line = answer.headers.getSetCookie().find((cookie) => cookie.startsWith('session=')) ?? '';
    expect(line).to.match(/; path=\/;.*samesite=lax; httponly/i);
    const token = /^session=([^;]+)/.exec(line)?.[1] ?? '';
    expect(Buffer.from(token, 'base64url')).to.have.length(32);
    expect(JSON.stringify(await SessionModel.find({}).lean())).not.to.include(token);
  });
});
