import { expect } from 'chai';
import { accountOf } from '../../../shared/accounts/account.ts';
import { auditOf } from '../../../shared/accounts/audit.ts';
import { livingSessions, SessionModel } from '../../../shared/accounts/session.ts';
import { randomBase62 } from '../../../shared/base/ids.ts';
import { newFormId, signedIn, useVisitor } from '../../support/dashboard.ts';
import { endOf, openEventStream } from '../../support/event-stream.ts';
import { codeSentTo, someone } from '../../support/mails.ts';
import { plainBrowser } from '../../support/plain-browser.ts';
import { useSigningIn } from '../../support/signing-in.ts';
import { memberOf, newMember } from '../../support/team.ts';

describe('a session of the dashboard', () => {
  const { api, asked, signedIn, isSignedIn } = useSigningIn();

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

describe('sessions of members', () => {
  const { api, signedIn: enter } = useSigningIn();
  const visitor = useVisitor(api);
  const accountId = () => visitor.account._id;

  /** A person with an own account, who also is a member of the visitor's account. */
  async function personWithTwo(role: 'developer' | 'desk' = 'developer') {
    const own = await signedIn(api);
    await newMember(accountId(), role, own.account.email);
    await visitor.post('/dashboard/team/name', { name: 'Seaside Hotel' });
    return own;
  }

  it('the header has the switch only for a person with more than one account', async () => {
    expect((await visitor.get('/dashboard')).html).not.to.include('id="switcher"');
    const person = await personWithTwo();
    expect((await person.get('/dashboard')).html).to.match(/id="switcher".*Seaside Hotel/s);
    expect((await person.post('/dashboard/switch', { to: accountId() })).status).to.equal(303);
    const { html } = await person.get('/dashboard/team');
    expect(html).to.match(/<summary>.*?Seaside Hotel.*?<\/summary>/s);
  });

  it('a person cannot switch to an account of which they are no member', async () => {
    const person = await personWithTwo();
    const other = await signedIn(api);
    await person.post('/dashboard/switch', { to: other.account._id });
    expect((await person.get('/dashboard/team')).html).not.to.include(other.account.email);
    expect(await SessionModel.countDocuments({ accountId: person.account._id })).to.equal(1);
  });

  it('a form of another tab, rendered for another account, is refused and changes nothing', async () => {
    const person = await personWithTwo();
    const { keyId } = await visitor.newKey();
    await person.post('/dashboard/switch', { to: accountId() });
    const path = `/dashboard/keys/${keyId}/name`;
    for (const account of [person.account._id, '']) {
      const { status, html } = await person.post(path, { name: 'Stolen', account });
      expect(status).to.equal(409);
      expect(html).to.include('Nothing was changed').and.include('Seaside Hotel');
    }
    expect((await person.post('/dashboard/keys', { name: 'Desk', mode: 'test' })).status).to.equal(409);
    expect((await visitor.get(`/dashboard/keys/${keyId}`)).html).not.to.include('Stolen');
    expect((await person.post(path, { name: 'Night desk', account: accountId() })).status).to.equal(303);
  });

  it('sign-in continues in the account that the person used last', async () => {
    const person = await personWithTwo();
    const { email } = person.account;
    await person.post('/dashboard/switch', { to: accountId() });
    const browser = await enter(email);
    expect(browser.page.html).to.match(/<summary>.*?Seaside Hotel.*?<\/summary>/s);
    expect((await accountOf(email))._id).to.equal(person.account._id);
  });

  it('a person sees and ends only their own sessions, in all their accounts', async () => {
    const person = await personWithTwo();
    const other = await memberOf(api, accountId(), 'developer');
    await person.post('/dashboard/switch', { to: accountId() });
    const second = await signedIn(api, person.account.email);
    const { html } = await second.get('/dashboard/account');
    expect(html.match(/End session/g)).to.have.length(2);
    await second.post('/dashboard/sign-out-everywhere');
    for (const one of [person, second]) expect((await one.get('/dashboard/account')).status).to.equal(303);
    for (const one of [visitor, other]) expect((await one.get('/dashboard/account')).status).to.equal(200);
  });

  it('a person who leaves one account continues in the other', async () => {
    const person = await personWithTwo();
    await person.post('/dashboard/switch', { to: accountId() });
    for (const _ of ['once', 'again']) {
      expect((await person.post('/dashboard/team/leave', { account: accountId() })).status).to.equal(303);
    }
    const { html } = await person.get('/dashboard/team');
    expect(html).to.include(person.account.email).and.not.include('Seaside Hotel');
  });

  for (const [change, act] of [
    ['is removed', (path: string) => visitor.post(`${path}/remove`)],
    ['gets another role', (path: string) => visitor.post(`${path}/role`, { role: 'finance' })],
  ] as const) {
    it(`an open stream ends when its member ${change}`, async () => {
      const { path: ridePath } = await visitor.rideIn('bidding');
      const desk = await memberOf(api, accountId(), 'desk');
      const stream = await openEventStream(`${api.url}${ridePath}/events`, { cookie: desk.cookie });
      await act(`/dashboard/team/members/${desk.account.member.id}`);
      await endOf(stream);
    });
  }
});
