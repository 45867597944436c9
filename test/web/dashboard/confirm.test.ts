import { expect } from 'chai';
import { type CurrentSession, confirmSession, SessionModel } from '../../../shared/accounts/session.ts';
import { newFormId, signedIn, useVisitor } from '../../support/dashboard.ts';
import { codeMailsTo, codeSentTo, linkSentTo, wrongCode } from '../../support/mails.ts';
import { type PlainBrowser, plainBrowser } from '../../support/plain-browser.ts';
import { useSigningIn } from '../../support/signing-in.ts';

const hourMs = 3_600_000;

describe('confirmation with a code that is at most 12 hours old', () => {
  const { api, asked } = useSigningIn();
  const visitor = useVisitor(api);
  let browser: PlainBrowser;
  let key: { keyId: string };

  beforeEach(async () => {
    key = await visitor.newKey();
    browser = plainBrowser(api);
    browser.cookies.set('session', visitor.cookie.replace('session=', ''));
  });

  const verified = (agoMs: number) =>
    SessionModel.updateMany(
      { accountId: visitor.account._id },
      { $set: { verifiedAt: new Date(api.ctx.now() - agoMs) } },
    );
  const at = () => `/dashboard/keys/${key.keyId}`;
  const asksForCode = (next: string) => `/dashboard/confirm?next=${encodeURIComponent(next)}`;

  for (const [act, back] of [
    ['signing-secret', '#secret'],
    ['roll-secret', '/roll-secret'],
    ['rotate', '/rotate'],
  ] as const) {
    it(`a recent code is required to ${act}`, async () => {
      await verified(12 * hourMs);
      const refused = await visitor.post(`${at()}/${act}`);
      expect(refused.status).to.equal(303);
      expect(refused.headers.get('location')).to.equal(asksForCode(at() + back));
      await verified(12 * hourMs - 60_000);
      const { status, html } = await visitor.post(`${at()}/${act}`);
      expect(status).to.equal(200);
      expect(html).to.match(/whsec_|svc_test_/);
    });
  }

  it('creating a live key requires a recent code and keeps the typed values; a test key needs no code', async () => {
    await verified(12 * hourMs);
    const typed = { name: 'Night & day', mode: 'live' };
    const { headers } = await visitor.post('/dashboard/keys', typed);
    const back = '/dashboard/keys/new?mode=live&name=Night%20%26%20day';
    expect(headers.get('location')).to.equal(asksForCode(back));
    const { html } = await visitor.get(back);
    expect(html)
      .to.include('value="Night &amp; day"')
      .and.match(/<option value="live" selected/);
    expect((await visitor.post('/dashboard/keys', { name: 'Test', mode: 'test' })).html).to.include('svc_test_');
  });

  it('no recent code is required to revoke or rename a key or to end sessions', async () => {
    await verified(12 * hourMs);
    expect((await visitor.post(`${at()}/name`, { name: 'Other' })).headers.get('location')).to.include('done=renamed');
    expect((await visitor.post(`${at()}/revoke`)).headers.get('location')).to.equal(at());
    expect((await visitor.post('/dashboard/sign-out-everywhere')).headers.get('location')).to.equal('/dashboard');
  });

  it('the code is sent by mail, and entering it returns to the page that asked for it', async () => {
    await verified(12 * hourMs);
    await browser.get(`${at()}/rotate`);
    const asking = await browser.press('Rotate');
    expect(asking.html).to.include('Confirm that it is you').and.include('at most 12 hours old');
    await browser.press('Send code');
    const code = await codeSentTo(api.ctx, visitor.account.email);
    const wrong = await browser.press('Confirm', { code: wrongCode(code) });
    expect(wrong.status).to.equal(422);
    expect(wrong.html).to.include('4 tries are left');
    await browser.press('Confirm', { code });
    expect(browser.page).to.include({ status: 200, path: `${at()}/rotate` });
    expect((await browser.press('Rotate')).html).to.include('svc_test_');
    expect(await codeMailsTo(api.ctx, visitor.account.email)).to.have.length(1);
  });

  it('the link of the mail works instead of the code', async () => {
    await verified(12 * hourMs);
    await browser.get(`/dashboard/confirm?next=${encodeURIComponent('/dashboard/keys/new?mode=live')}`);
    await browser.press('Send code');
    const link = await linkSentTo(api.ctx, visitor.account.email);
    expect((await plainBrowser(api).get(link)).status).to.equal(404);
    expect((await browser.get(link)).html).to.include('Confirm that it is you');
    expect((await visitor.post(`${at()}/rotate`)).status, 'opening it is not enough').to.equal(303);
    await browser.press('Confirm');
    expect(browser.page.path).to.equal('/dashboard/keys/new?mode=live');
    expect((await visitor.post(`${at()}/rotate`)).status).to.equal(200);
  });

  it('a link that was sent to another address, such as that of a session thief, is refused', async () => {
    await verified(12 * hourMs);
    const thief = plainBrowser(api);
    thief.cookies.set('sign_in', browser.cookies.get('session') ?? '');
    const email = `thief-${visitor.account._id.toLowerCase().replace(/_/g, '')}@partner.example`;
    await asked(email, thief);
    const link = await linkSentTo(api.ctx, email);
    expect((await browser.get(link)).html).not.to.include('Confirm that it is you');
    const pressed = await visitor.post(link);
    expect(pressed.headers.get('location')).to.equal('/dashboard');
    expect((await visitor.post(`${at()}/rotate`)).headers.get('location')).to.equal(asksForCode(`${at()}/rotate`));
  });

  it('a repeated form for a live key shows it only after a recent code, even if the mode is now test', async () => {
    const formId = newFormId();
    const typed = { name: 'Night', formId };
    expect((await visitor.post('/dashboard/keys', { ...typed, mode: 'live' })).html).to.include('svc_live_');
    await verified(12 * hourMs);
    expect((await visitor.post('/dashboard/keys', { ...typed, mode: 'live' })).status).to.equal(303);
    const { html } = await visitor.post('/dashboard/keys', { ...typed, mode: 'test' });
    expect(html)
      .to.include('This key exists already')
      .and.not.match(/svc_live_\w{10}|whsec_/);
  });

  it('a code that another session asked for is refused', async () => {
    const other = plainBrowser(api);
    other.cookies.set('session', (await signedIn(api, visitor.account.email)).cookie.replace('session=', ''));
    await verified(12 * hourMs);
    for (const one of [browser, other]) {
      await one.get('/dashboard/confirm');
      await one.press('Send code');
    }
    const [second, first] = await codeMailsTo(api.ctx, visitor.account.email);
    expect((await browser.press('Confirm', { code: second?.text.slice(0, 6) ?? '' })).status).to.equal(422);
    await browser.press('Confirm', { code: first?.text.slice(0, 6) ?? '' });
    expect((await visitor.post(`${at()}/signing-secret`)).status).to.equal(200);
    const secretOf = await other.post(`${at()}/signing-secret`, { formId: 'A'.repeat(22) });
    expect(secretOf.html).not.to.include('whsec_');
  });

  it('a repeated form with an older code keeps the time of the newest code', async () => {
    const { _id } = (await SessionModel.findOne({ accountId: visitor.account._id }).lean()) as CurrentSession;
    const newest = api.ctx.now() + 1_000;
    for (const atMs of [newest, newest - 500]) await confirmSession({ _id }, atMs);
    expect((await SessionModel.findById(_id).lean())?.verifiedAt?.getTime()).to.equal(newest);
  });

  it('a session can be confirmed even after strangers entered wrong codes for its address', async () => {
    await verified(12 * hourMs);
    const { email } = visitor.account;
    const stranger = await asked(email);
    const code = wrongCode(await codeSentTo(api.ctx, email));
    for (let tried = 0; tried < 6; tried++) await stranger.press('Sign in', { code });
    await browser.get('/dashboard/confirm');
    await browser.press('Send code');
    await browser.press('Confirm', { code: await codeSentTo(api.ctx, email) });
    expect((await visitor.post(`${at()}/rotate`)).status).to.equal(200);
  });
});
