import { expect } from 'chai';
import { createApp } from '../../../api/app.ts';
import { nextPage } from '../../../api/dashboard/sign-in/next-page.ts';
import { serve } from '../../../api/http/serve.ts';
import { AccountModel, accountOf } from '../../../shared/accounts/account.ts';
import { auditOf } from '../../../shared/accounts/audit.ts';
import { livingSessions, SessionModel } from '../../../shared/accounts/session.ts';
import { randomBase62 } from '../../../shared/base/ids.ts';
import type { PoolName } from '../../../shared/base/queues.ts';
import { poolNames } from '../../../shared/base/queues.ts';
import { mails } from '../../../shared/mail/mail-row.ts';
import { database } from '../../support/failing-mongo.ts';
import { withLogLines } from '../../support/log-lines.ts';
import { codeSentTo, linkSentTo, mailsTo, wrongCode } from '../../support/mails.ts';
import { type PlainBrowser, plainBrowser } from '../../support/plain-browser.ts';
import { startTestApi, type TestApi, useTestApi } from '../../support/service.ts';

const someone = () => `${randomBase62(10).toLowerCase()}@partner.example`;

/** The number of documents in each collection. */
async function everythingStored(): Promise<Record<string, number>> {
  const collections = await database().collections();
  const counts = collections.map(async (one) => [one.collectionName, await one.countDocuments({})] as const);
  return Object.fromEntries(await Promise.all(counts));
}

describe('signing in', () => {
  const api = useTestApi({ TRUSTED_PROXY_HOPS: '1' });
  const realNow = () => Date.now();
  afterEach(() => {
    api.ctx.now = realNow;
  });

  /** A browser that has asked for a code for this address. */
  async function asked(email: string, browser = plainBrowser(api), path = '/dashboard'): Promise<PlainBrowser> {
    await browser.get(path);
    await browser.press('Send code', { email });
    return browser;
  }
  async function signedIn(email: string, browser = plainBrowser(api), path = '/dashboard'): Promise<PlainBrowser> {
    await asked(email, browser, path);
    await browser.press('Sign in', { code: await codeSentTo(api.ctx, email) });
    return browser;
  }
  const isSignedIn = async (browser: PlainBrowser) => (await browser.get('/dashboard')).html.includes('Sign out');

  it('asks for an address, then for the code that was sent there, and shows the dashboard', async () => {
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

  it('makes the account at the first sign-in, not before, and the same one serves after that', async () => {
    const email = someone();
    const browser = await asked(email.toUpperCase());
    expect(await AccountModel.countDocuments({ email })).to.equal(0);
    await browser.press('Sign in', { code: await codeSentTo(api.ctx, email) });
    expect(await AccountModel.countDocuments({ email })).to.equal(1);
    await signedIn(email);
    expect(await AccountModel.countDocuments({ email })).to.equal(1);
  });

  it('answers and does the same for an address with an account and for one without', async () => {
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

  it('takes a code once, and only from the browser that asked for it', async () => {
    const email = someone();
    const [own, other] = [await asked(email), await asked(email)];
    const [, first] = await mailsTo(api.ctx, email);
    const code = first?.text.slice(0, 6) ?? '';
    const foreign = await other.press('Sign in', { code });
    expect(foreign).to.include({ status: 422 });
    expect(foreign.html)
      .to.include('<title>Error: Enter the code - Ride Partner</title>')
      .and.include('This is not the code');
    await own.press('Sign in', { code });
    expect(await isSignedIn(own)).to.equal(true);
    const again = plainBrowser(api);
    for (const [name, value] of own.cookies) if (name !== 'session') again.cookies.set(name, value);
    await again.get('/dashboard');
    await again.post('/dashboard/sign-in', { code, next: '', formId: randomBase62(22) });
    expect(await isSignedIn(again)).to.equal(false);
  });

  it('refuses a code in a browser that has asked for none', async () => {
    const email = someone();
    await asked(email);
    const other = plainBrowser(api);
    const { status, html } = await other.post('/dashboard/sign-in', {
      ...{ code: await codeSentTo(api.ctx, email), email, next: '', formId: randomBase62(22) },
    });
    expect(status).to.equal(422);
    expect(html).to.include('This browser has asked for no code');
    expect(await isSignedIn(other)).to.equal(false);
  });

  it('brings a form with faults back with a summary, the same words at the field, and what was typed', async () => {
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
    expect(noCode.html).to.match(/<a href="#code">(Enter the six digits[^<]+)<.*<p class="fault" id="code-fault">\1</s);
  });

  it('says how many tries are left, and after the fifth wrong code that a new one is needed', async () => {
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
    expect((await browser.press('Sign in', { code })).html).to.include('This code has ended');
    expect(await isSignedIn(browser)).to.equal(false);
    await browser.press('Send code', { email });
    // The pause after five wrong codes.
    const laterMs = Date.now() + 61_000;
    api.ctx.now = () => laterMs;
    await browser.press('Sign in', { code: await codeSentTo(api.ctx, email) });
    expect(await isSignedIn(browser)).to.equal(true);
  });

  it('sends one mail for one form, however often it is sent', async () => {
    const [email, browser] = [someone(), plainBrowser(api)];
    await browser.get('/dashboard');
    const formId = randomBase62(22);
    await Promise.all([1, 2, 3].map(() => browser.post('/dashboard/sign-in/code', { email, next: '', formId })));
    expect(await mailsTo(api.ctx, email)).to.have.length(1);
    await browser.get('/dashboard');
    await browser.press('Sign in', { code: await codeSentTo(api.ctx, email) });
    expect(await isSignedIn(browser)).to.equal(true);
  });

  it('shows the code’s field again when the page is loaded again, for as long as a code may come', async () => {
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

  it('says so where the browser does not keep cookies', async () => {
    const browser = plainBrowser(api);
    await browser.get('/dashboard');
    browser.cookies.clear();
    browser.cookies.set = () => browser.cookies;
    const { html } = await browser.press('Send code', { email: someone() });
    expect(html).to.include('Allow cookies').and.include('Send code');
  });

  it('leads whoever is signed in on, also when the code’s form is sent again', async () => {
    const email = someone();
    const browser = await asked(email);
    const { html } = browser.page;
    await browser.press('Sign in', { code: await codeSentTo(api.ctx, email) });
    const formId = /name="formId" value="([^"]+)"/.exec(html)?.[1] ?? '';
    const again = await browser.post('/dashboard/sign-in', { code: '000000', next: '/dashboard', formId });
    expect(again.html).to.include('Sign out');
  });

  describe('is limited, with a clear page (429) and Retry-After', () => {
    const minutes = (page: { headers: Headers }) => Math.ceil(Number(page.headers.get('retry-after')) / 60);

    it('to 5 mails an hour for an address', async () => {
      const email = someone();
      for (let sent = 0; sent < 5; sent++) expect((await asked(email)).page.status).to.equal(200);
      const { page } = await asked(email);
      expect(page.status).to.equal(429);
      expect(page.html)
        .to.include('Too many codes')
        .and.match(/Try again in \d+ minutes/);
      expect(minutes(page)).to.be.within(59, 60);
      expect(await mailsTo(api.ctx, email)).to.have.length(5);
    });

    it('to 20 mails an hour for a client’s address, or its IPv6 network', async () => {
      const network = `2001:db8:0:${(Date.now() % 0xffff).toString(16)}`;
      for (let sent = 0; sent < 20; sent++) {
        const browser = plainBrowser(api, { address: `${network}::${sent}` });
        expect((await asked(someone(), browser)).page.status).to.equal(200);
      }
      const refused = await asked(someone(), plainBrowser(api, { address: `${network}:1::9` }));
      expect(refused.page.status).to.equal(429);
      expect(refused.page.html).to.include('from your network address');
      expect((await asked(someone())).page.status).to.equal(200);
    });

    it('after 5 wrong codes, with growing pauses; a browser of the owner is let in all the same, and so is a link', async () => {
      const email = someone();
      const owner = await signedIn(email);
      await owner.press('Sign out');
      const first = await asked(email);
      const wrong = wrongCode(await codeSentTo(api.ctx, email));
      for (let tried = 0; tried < 5; tried++) await first.press('Sign in', { code: wrong });
      const stranger = await asked(email);
      const refused = await stranger.press('Sign in', { code: await codeSentTo(api.ctx, email) });
      expect(refused.status).to.equal(429);
      expect(refused.html)
        .to.include('Too many wrong codes')
        .and.include('with the link in the mail')
        .and.include('Try again in 1 minute.');
      expect(minutes(refused)).to.equal(1);
      expect(await isSignedIn(stranger)).to.equal(false);

      await stranger.get(await linkSentTo(api.ctx, email));
      await stranger.press('Sign in');
      expect(await isSignedIn(stranger)).to.equal(true);
      await signedIn(email, owner);
      expect(await isSignedIn(owner)).to.equal(true);
    });

    it('and stores nothing of a request that it refuses', async () => {
      const email = someone();
      for (let sent = 0; sent < 5; sent++) await asked(email);
      const stranger = plainBrowser(api);
      await stranger.get('/dashboard');
      const before = await everythingStored();
      for (let sent = 0; sent < 5; sent++) {
        const fields = { email, next: '', formId: randomBase62(22) };
        expect((await stranger.post('/dashboard/sign-in/code', fields)).status).to.equal(429);
      }
      expect(await everythingStored()).to.deep.equal(before);
    });

    it('to 10 wrong codes a day until the owner gets a mail, one a day', async () => {
      const email = someone();
      let atMs = Date.parse('2027-03-01T00:30:00Z');
      api.ctx.now = () => atMs;
      const reports = async () =>
        (await mailsTo(api.ctx, email)).filter(({ subject }) => subject.startsWith('Wrong codes'));
      for (let wrong = 0; wrong < 12; ) {
        const browser = await asked(email);
        const code = wrongCode(await codeSentTo(api.ctx, email));
        for (let tried = 0; tried < 5 && wrong < 12; tried++) {
          const { status } = await browser.press('Sign in', { code });
          if (status === 429) break;
          wrong += 1;
          expect(await reports(), `after ${wrong}`).to.have.length(wrong < 10 ? 0 : 1);
        }
        atMs += 61 * 60_000;
      }
      const [report] = await reports();
      expect(report?.text).to.include('10 wrong codes').and.include('Nobody got in');
    });
  });

  describe('leads back to the page that was asked for', () => {
    it('with its query', async () => {
      const browser = plainBrowser(api);
      const path = '/dashboard/sign-in-test?status=completed&x=%2F';
      await signedIn(someone(), browser, `/dashboard?next=${encodeURIComponent(path)}`);
      expect(browser.page.path).to.equal(path);
    });

    it('and to no page of anybody else', () => {
      const elsewhere = [
        'https://evil.example',
        '//evil.example',
        '/\\evil.example',
        '\\\\evil.example',
        'javascript:alert(1)',
      ];
      const tricks = [
        '/\t/evil.example',
        '/dashboard/../../evil',
        '/dashboard/%2e%2e/v1',
        '/v1/rides',
        'dashboard.evil.example',
      ];
      for (const next of [
        ...elsewhere,
        ...tricks,
        '',
        '/',
        '/dashboard',
        `/dashboard/${'x'.repeat(3_000)}`,
        'http://[',
      ]) {
        expect(nextPage(next), next).to.equal('/dashboard');
      }
      expect(nextPage('/dashboard/rides?status=bidding')).to.equal('/dashboard/rides?status=bidding');
      expect(nextPage('/dashboard//evil.example')).to.match(/^\/dashboard\//);
    });
  });

  describe('ends', () => {
    it('on the server at sign-out: the cookie of before is worth nothing, and Back shows the sign-in page', async () => {
      const browser = await signedIn(someone());
      const session = browser.cookies.get('session') ?? '';
      const answer = await browser.press('Sign out');
      expect(answer.html).to.include('Send code');
      expect(browser.cookies.has('session')).to.equal(false);
      browser.cookies.set('session', session);
      expect(await isSignedIn(browser)).to.equal(false);
      expect(answer.headers.get('cache-control')).to.equal('no-store');
    });

    it('in every browser of the account at "sign out everywhere", and in no other account’s', async () => {
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

    it('90 days after sign-in, however often it is used, also where an earlier version wrote a later end', async () => {
      const email = someone();
      const browser = await signedIn(email);
      const [startMs, dayMs] = [Date.now(), 24 * 3_600_000];
      for (const day of [29, 58, 87, 89.9]) {
        api.ctx.now = () => startMs + day * dayMs;
        expect(await isSignedIn(browser)).to.equal(true);
      }
      const { _id: accountId } = await accountOf(email);
      await SessionModel.updateMany({ accountId }, { $set: { expiresAt: new Date(startMs + 119 * dayMs) } });
      api.ctx.now = () => startMs + 90 * dayMs;
      expect(await isSignedIn(browser)).to.equal(false);
      const token = browser.cookies.get('session') ?? '';
      expect(await livingSessions([token], api.ctx.now())).to.deep.equal(new Set());
    });

    it('30 days after its last use', async () => {
      const browser = await signedIn(someone());
      const [startMs, dayMs] = [Date.now(), 24 * 3_600_000];
      for (const day of [29, 58]) {
        api.ctx.now = () => startMs + day * dayMs;
        expect(await isSignedIn(browser)).to.equal(true);
      }
      api.ctx.now = () => startMs + 89 * dayMs;
      expect(await isSignedIn(browser)).to.equal(false);
    });

    it('not by a form of another site', async () => {
      const browser = await signedIn(someone());
      for (const path of ['/dashboard/sign-out', '/dashboard/sign-out-everywhere', '/dashboard/sign-in/code']) {
        const { status } = await browser.post(path, {}, { 'sec-fetch-site': 'cross-site' });
        expect(status).to.equal(403);
      }
      expect(await isSignedIn(browser)).to.equal(true);
    });
  });

  it('reports a new browser to the owner by mail, and a known one not', async () => {
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

  it('is noted for the account with the client’s address', async () => {
    const email = someone();
    await signedIn(email, plainBrowser(api, { address: '192.0.2.7' }));
    const [entry] = await auditOf((await accountOf(email))._id, 9);
    expect(entry).to.include({ action: 'signed_in', from: '192.0.2.7' });
  });

  it('keeps a session’s token out of MongoDB, and gives it as a cookie that no script can read', async () => {
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

  it('leaves no code, address or token in a log or a queue', async () => {
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
      expect(await browser.get('/dashboard'))
        .to.have.property('html')
        .that.includes(email);
      const jobs = await Promise.all(poolNames.map((pool: PoolName) => api.ctx.queues[pool].getJobs()));
      const traces = JSON.stringify([logged.lines, jobs.flat().map((job) => job.toJSON())]);
      expect(logged.lines.length).to.be.greaterThan(4);
      for (const secret of [email, ...browser.cookies.values()]) expect(traces).not.to.include(secret);
      expect(traces).not.to.match(new RegExp(`\\b${code}\\b`));
    } finally {
      await server.close();
    }
  });
});

describe('signing in, in production', () => {
  const production = { SERVICE_ENV: 'production', PUBLIC_BASE_URL: 'https://rides.example', TRUSTED_PROXY_HOPS: '1' };
  const https = { 'x-forwarded-proto': 'https' };
  let api: TestApi;
  afterEach(() => api.close());

  it('says that mail is not set up where there is no mail server, and makes no mail', async () => {
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

  it('binds its cookies to this host and to HTTPS', async () => {
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
