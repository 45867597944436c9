import { expect } from 'chai';
import { createApp } from '../../../api/app.ts';
import { serve } from '../../../api/http/serve.ts';
import { AccountModel, accountOf } from '../../../shared/accounts/account.ts';
import { auditOf } from '../../../shared/accounts/audit.ts';
import { randomBase62 } from '../../../shared/base/ids.ts';
import { type PoolName, poolNames } from '../../../shared/base/queues.ts';
import { mails } from '../../../shared/mail/mail-row.ts';
import { nextPage } from '../../../web/kit/paths.ts';
import { withLogLines } from '../../support/log-lines.ts';
import { codeSentTo, linkSentTo, mailsTo, someone, wrongCode } from '../../support/mails.ts';
import { formIn } from '../../support/pages.ts';
import { plainBrowser } from '../../support/plain-browser.ts';
import { startTestApi, type TestApi } from '../../support/service.ts';
import { useSigningIn } from '../../support/signing-in.ts';

describe('sign-in', () => {
  const { api, asked, signedIn, isSignedIn } = useSigningIn();

  it('sign-in asks for an address, then for the code from the mail, and then shows the dashboard', async () => {
    const [email, browser] = [someone(), plainBrowser(api)];
    const first = await browser.get('/dashboard');
    expect(first.html)
      .to.match(/<label for="email">E-mail<\/label>/)
      .and.not.to.include('>Code<');
    const second = await browser.press('Send code', { email });
    expect(second.status).to.equal(200);
    expect(second.html).to.include(`<strong class="address">${email}</strong>`);
    expect(second.html).to.match(/<input[^>]*id="code"[^>]*autocomplete="one-time-code"[^>]*inputmode="numeric"/i);
    const code = await codeSentTo(api.ctx, email);
    const third = await browser.press('Sign in', { code: `${code.slice(0, 3)} ${code.slice(3)}` });
    expect(third).to.include({ status: 200, path: '/dashboard' });
    expect(third.html).to.include(email);
    expect(await isSignedIn(browser)).to.equal(true);
  });

  it('the first sign-in creates the account, and later sign-ins use it', async () => {
    const email = someone();
    const browser = await asked(email.toUpperCase());
    expect(await AccountModel.countDocuments({ email })).to.equal(0);
    await browser.press('Sign in', { code: await codeSentTo(api.ctx, email) });
    expect(await AccountModel.countDocuments({ email })).to.equal(1);
    await signedIn(email);
    expect(await AccountModel.countDocuments({ email })).to.equal(1);
  });

  it('sign-in behaves the same for an address with and without an account', async () => {
    const [known, unknown] = [someone(), someone()];
    await accountOf(known);
    const answers = await Promise.all(
      [known, unknown].map(async (email) => {
        const { page } = await asked(email);
        const shown = page.html.replaceAll(email, 'EMAIL').replaceAll(/name="formId" value="[^"]+"/g, '');
        const headers = [...page.headers].filter(([name]) => !/^(x-request-id|set-cookie|date)$/.test(name));
        return { status: page.status, shown, headers };
      }),
    );
    expect(answers[0]).to.deep.equal(answers[1]);
    expect(await mailsTo(api.ctx, known)).to.have.length(1);
    expect(await mailsTo(api.ctx, unknown)).to.have.length(1);
  });

  it('a code works once, and only in the browser that asked for it', async () => {
    const email = someone();
    const [own, other] = [await asked(email), await asked(email)];
    const [, first] = await mailsTo(api.ctx, email);
    const code = first?.text.slice(0, 6) ?? '';
    const foreign = await other.press('Sign in', { code });
    expect(foreign).to.include({ status: 422 });
    expect(foreign.html)
      .to.include('<title>Error: Enter the code - Ride Partner</title>')
      .and.include('This code is wrong');
    await own.press('Sign in', { code });
    expect(await isSignedIn(own)).to.equal(true);
    const again = plainBrowser(api);
    for (const [name, value] of own.cookies) if (name !== 'session') again.cookies.set(name, value);
    await again.get('/dashboard');
    await again.post('/dashboard/sign-in', { code, next: '', formId: randomBase62(22) });
    expect(await isSignedIn(again)).to.equal(false);
  });

  it('a browser that did not ask for a code cannot enter one', async () => {
    const email = someone();
    await asked(email);
    const other = plainBrowser(api);
    const { status, html } = await other.post('/dashboard/sign-in', {
      ...{ code: await codeSentTo(api.ctx, email), email, next: '', formId: randomBase62(22) },
    });
    expect(status).to.equal(422);
    expect(html).to.include('This browser has not asked for a code');
    expect(await isSignedIn(other)).to.equal(false);
  });

  it('the page shows a wrong address in a summary and at the field, a wrong code once at the field, and keeps the typed text', async () => {
    const browser = plainBrowser(api);
    await browser.get('/dashboard');
    const bad = await browser.press('Send code', { email: 'dana"><b>' });
    expect(bad.status).to.equal(422);
    expect(bad.html).to.include('<title>Error: Sign in');
    expect(bad.html).to.match(
      /<a href="#email">(Enter an e-mail address[^<]+)<.*<p class="fault" id="email-fault">\1</s,
    );
    expect(bad.html).to.include('value="dana&quot;>&lt;b>"').and.not.to.include('<b>');
    await asked(someone(), browser);
    const noCode = await browser.press('Sign in', { code: '12 34' });
    expect(noCode.status).to.equal(422);
    expect(noCode.html.split('Enter the six digits')).to.have.lengthOf(2);
    expect(noCode.html).to.include('<p class="fault" id="code-fault">Enter the six digits');
    expect(formIn(noCode.html, '/dashboard/sign-in')).to.include({ code: '12 34' });
  });

  it('the page shows the number of tries left, and asks for a new code after the fifth wrong one', async () => {
    const email = someone();
    const browser = await asked(email);
    const code = await codeSentTo(api.ctx, email);
    for (const words of [
      '4 tries are left',
      '3 tries are left',
      '2 tries are left',
      'one try is left',
      'fifth wrong code',
    ]) {
      expect((await browser.press('Sign in', { code: wrongCode(code) })).html).to.include(words);
    }
    expect((await browser.press('Sign in', { code })).html).to.include('This code no longer works');
    expect(await isSignedIn(browser)).to.equal(false);
    await browser.press('Send code', { email });
    // The time after the pause that five wrong codes cause.
    const laterMs = Date.now() + 61_000;
    api.ctx.now = () => laterMs;
    await browser.press('Sign in', { code: await codeSentTo(api.ctx, email) });
    expect(await isSignedIn(browser)).to.equal(true);
  });

  it('the page shows the code field after a reload until the sign-in expires', async () => {
    const email = someone();
    const browser = await asked(email);
    expect((await browser.get('/dashboard')).html).to.include('id="code"');
    const startMs = Date.now();
    api.ctx.now = () => startMs + 16 * 60_000;
    expect((await browser.get('/dashboard')).html)
      .to.include('works any more')
      .and.include('id="code"');
    api.ctx.now = () => startMs + 61 * 60_000;
    expect((await browser.get('/dashboard')).html).not.to.include('id="code"');
  });

  it('the page reports a browser that does not keep cookies', async () => {
    const browser = plainBrowser(api);
    await browser.get('/dashboard');
    browser.cookies.clear();
    browser.cookies.set = () => browser.cookies;
    const { html } = await browser.press('Send code', { email: someone() });
    expect(html).to.include('Allow cookies').and.include('Send code');
  });

  it('a signed-in browser that repeats the code form gets the dashboard', async () => {
    const email = someone();
    const browser = await asked(email);
    const { html } = browser.page;
    await browser.press('Sign in', { code: await codeSentTo(api.ctx, email) });
    const formId = /name="formId" value="([^"]+)"/.exec(html)?.[1] ?? '';
    const again = await browser.post('/dashboard/sign-in', { code: '000000', next: '/dashboard', formId });
    expect(again.html).to.include('Sign out');
  });

  it('sign-in redirects to the requested page with its query', async () => {
    const browser = plainBrowser(api);
    const path = '/dashboard/sign-in-test?status=completed&x=%2F';
    await signedIn(someone(), browser, `/dashboard?next=${encodeURIComponent(path)}`);
    expect(browser.page.path).to.equal(path);
  });

  it('sign-in redirects to /dashboard for every `next` outside the dashboard', () => {
    const elsewhere = ['https://evil.example', '//evil.example', '/\\evil.example', '\\\\evil.example', 'http://['];
    const tricks = ['/\t/evil.example', '/dashboard/../../evil', '/dashboard/%2e%2e/v1', 'dashboard.evil.example'];
    const others = ['javascript:alert(1)', '/v1/rides', '', '/', '/dashboard', `/dashboard/${'x'.repeat(3_000)}`];
    for (const next of [...elsewhere, ...tricks, ...others]) {
      expect(nextPage(next), next).to.equal('/dashboard');
    }
    expect(nextPage('/dashboard/rides?status=bidding')).to.equal('/dashboard/rides?status=bidding');
    expect(nextPage('/dashboard//evil.example')).to.match(/^\/dashboard\//);
  });

  it('signing in from a new browser mails the owner; from a known browser it does not', async () => {
    const email = someone();
    const headers = {
      'user-agent': 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:135.0) Gecko/20100101 Firefox/135.0',
    };
    const browser = await signedIn(email, plainBrowser(api, { headers, address: '192.0.2.7' }));
    const reports = async () =>
      (await mailsTo(api.ctx, email)).filter(({ subject }) => subject.startsWith('A new browser'));
    expect((await reports()).map(({ text }) => text)).to.have.length(1);
    expect((await reports())[0]?.text)
      .to.include('Browser: Firefox on Windows')
      .and.include('Network: 192.0.2.7')
      .and.include('/dashboard/account');
    await browser.press('Sign out');
    await signedIn(email, browser);
    expect(await reports()).to.have.length(1);
    await signedIn(email);
    expect(await reports()).to.have.length(2);
  });

  it('sign-in adds an audit entry with the client address at sign-in', async () => {
    const email = someone();
    await signedIn(email, plainBrowser(api, { address: '192.0.2.7' }));
    const [entry] = await auditOf((await accountOf(email))._id, 9);
    expect(entry).to.include({ action: 'signed_in', from: '192.0.2.7' });
  });

  it('no code, link, e-mail address or token is written to a log or a queue', async () => {
    const logged = withLogLines(api.ctx);
    const server = await serve(logged.ctx, createApp(logged.ctx));
    try {
      const email = someone();
      const browser = plainBrowser({ url: `http://127.0.0.1:${server.port}` });
      await browser.get('/dashboard');
      await browser.press('Send code', { email });
      const code = await codeSentTo(api.ctx, email);
      await browser.press('Sign in', { code: wrongCode(code) });
      await browser.press('Sign in', { code });
      await browser.press('Sign out');
      await browser.press('Send code', { email });
      const link = await linkSentTo(api.ctx, email);
      await browser.get(link);
      await browser.press('Sign in');
      expect(await browser.get('/dashboard'))
        .to.have.property('html')
        .that.includes(email);
      const jobs = await Promise.all(poolNames.map((pool: PoolName) => api.ctx.queues[pool].getJobs()));
      const traces = JSON.stringify([logged.lines, jobs.flat().map((job) => job.toJSON())]);
      expect(logged.lines.length).to.be.greaterThan(4);
      for (const secret of [email, link.slice(-22), ...browser.cookies.values()]) expect(traces).not.to.include(secret);
      expect(traces).not.to.match(new RegExp(`\\b${code}\\b`));
    } finally {
      await server.close();
    }
  });
});

describe('sign-in in production', () => {
  const production = { SERVICE_ENV: 'production', PUBLIC_BASE_URL: 'https://rides.example', TRUSTED_PROXY_HOPS: '1' };
  const https = { 'x-forwarded-proto': 'https' };
  let api: TestApi;
  afterEach(() => api.close());

  it('without a mail server, the sign-in page says that mail is not set up, and no mail is created', async () => {
    api = await startTestApi(production);
    const browser = plainBrowser(api, { headers: https });
    const { html, status } = await browser.get('/dashboard');
    expect(status).to.equal(200);
    expect(html).to.include('Mail is not set up').and.not.to.include('Send code');
    const before = await mails.countDocuments({});
    const fields = { email: someone(), next: '', formId: randomBase62(22) };
    expect((await browser.post('/dashboard/sign-in/code', fields)).status).to.equal(503);
    expect(await mails.countDocuments({})).to.equal(before);
  });

  it('in production, the cookies are bound to this host and to HTTPS', async () => {
    api = await startTestApi({ ...production, SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'rides@rides.example' });
    const [email, browser] = [someone(), plainBrowser(api, { headers: https })];
    const first = await browser.get('/dashboard');
    expect(first.headers.getSetCookie()[0]).to.match(
      /^__Host-sign_in=[^;]+; path=\/;.*samesite=lax; secure; httponly$/i,
    );
    await browser.press('Send code', { email });
    await browser.press('Sign in', { code: await codeSentTo(api.ctx, email) });
    expect([...browser.cookies.keys()].sort().join()).to.match(/^__Host-device_[0-9a-f]{12},__Host-session$/);
    expect(browser.page.html).to.include('Sign out');
  });
});
