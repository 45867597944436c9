import { expect } from 'chai';
import { accountOf, accounts } from '../../../shared/accounts/account.ts';
import { auditOf } from '../../../shared/accounts/audit.ts';
import { SessionModel } from '../../../shared/accounts/session.ts';
import { sha256 } from '../../../shared/base/ids.ts';
import { newFormId, useVisitor } from '../../support/dashboard.ts';
import { codeSentTo, linkSentTo, mailsTo, someone } from '../../support/mails.ts';
import { plainBrowser } from '../../support/plain-browser.ts';
import { useSigningIn } from '../../support/signing-in.ts';
import { memberOf, storedAccount, visitorAs } from '../../support/team.ts';

const hourMs = 3_600_000;

describe('the dashboard: team', () => {
  const { api, signedIn } = useSigningIn();
  const visitor = useVisitor(api);

  const accountId = () => visitor.account._id;
  const members = async () =>
    Object.fromEntries((await storedAccount(accountId())).members?.map(({ email, role }) => [email, role]) ?? []);
  const invite = (email: string, role = 'desk', more: Record<string, string> = {}) =>
    visitor.post('/dashboard/team/invitations', { email, role, ...more });
  const invitationMails = async (email: string) =>
    (await mailsTo(api.ctx, email)).filter(({ subject }) => subject === 'An invitation to Ride Partner');
  async function linkTo(email: string): Promise<string> {
    const path = (await invitationMails(email))[0]?.text.match(/\/dashboard\/sign-in\/invitation\/[\w-]{43}/)?.[0];
    if (!path) throw new Error('no invitation was sent');
    return path;
  }
  const invitationOf = async (email: string) =>
    (await storedAccount(accountId())).invitations?.find((one) => one.email === email);
  const audited = async () => (await auditOf(accountId(), 100)).map(({ action, member }) => [action, member]);

  it('a person joins with the code that the page of the invitation sends, and gets no account of their own', async () => {
    const email = someone();
    await visitor.post('/dashboard/team/name', { name: 'Grand Hotel' });
    expect((await invite(email)).status).to.equal(303);
    const browser = plainBrowser(api);
    const { html } = await browser.get(await linkTo(email));
    expect(html).to.include('Join Grand Hotel').and.include('Desk');
    await browser.press('Send code');
    expect(browser.page.html).to.include('You join').and.include('Grand Hotel');
    await browser.press('Sign in', { code: await codeSentTo(api.ctx, email) });
    expect(browser.page.path).to.equal('/dashboard/desk');
    expect(browser.page.html).to.include('Grand Hotel').and.include(email);
    expect(await members()).to.deep.equal({ [visitor.account.email]: 'owner', [email]: 'desk' });
    expect(await accounts.countDocuments({ email })).to.equal(0);
    expect((await audited()).slice(0, 2)).to.have.deep.members([
      ['signed_in', email],
      ['member_joined', email],
    ]);
    expect(await audited()).to.deep.include(['member_invited', visitor.account.email]);
  });

  it('a person joins with the link in the mail with the code', async () => {
    const email = someone();
    await invite(email, 'finance');
    const browser = plainBrowser(api);
    await browser.get(await linkTo(email));
    await browser.press('Send code');
    const { html } = await browser.get(await linkSentTo(api.ctx, email));
    expect(html).to.include('You join');
    await browser.press('Sign in');
    expect(browser.page.path).to.equal('/dashboard/usage');
    expect(await members()).to.include({ [email]: 'finance' });
  });

  it('a signed-in person joins with one press, and the account becomes the current one', async () => {
    const other = await memberOf(api, (await newAccount()).account._id, 'owner');
    const { email } = other.account.member;
    await invite(email, 'developer');
    const link = await linkTo(email);
    expect((await other.get(link)).html).to.match(/<button[^>]*>Join<\/button>/);
    const formId = newFormId();
    for (const _ of ['once', 'again']) {
      const { status, headers } = await other.post(link, { formId });
      expect([status, headers.get('location')]).to.deep.equal([303, '/dashboard']);
    }
    expect((await other.get('/dashboard/account')).html).to.include(
      `<a href="/dashboard/team">${visitor.account.email}`,
    );
    expect(await members()).to.include({ [email]: 'developer' });
    expect((await audited()).filter(([action]) => action === 'member_joined')).to.have.length(1);
  });

  it('opening a link changes nothing, and only the invited address can use it', async () => {
    const email = someone();
    await invite(email);
    const link = await linkTo(email);
    const before = await storedAccount(accountId());
    const stranger = await newAccount();
    expect((await stranger.get(link)).html).to.include('you are signed in as');
    expect((await stranger.post(link)).status).to.equal(404);
    const browser = plainBrowser(api);
    await browser.get(link);
    await browser.press('Send code');
    expect(await mailsTo(api.ctx, email)).to.have.length(2);
    expect(await storedAccount(accountId())).to.deep.equal(before);
  });

  it('a link works once, for 72 hours, and not after the invitation was withdrawn', async () => {
    const startMs = Date.now();
    const [used, expired, withdrawn] = [someone(), someone(), someone()];
    for (const email of [used, expired, withdrawn]) await invite(email);
    const person = await visitorWith(used);
    await person.post(await linkTo(used));
    const { id } = (await invitationOf(withdrawn)) as { id: string };
    await visitor.post(`/dashboard/team/invitations/${id}/withdraw`);
    for (const email of [used, withdrawn]) {
      expect((await plainBrowser(api).get(await linkTo(email))).status, email).to.equal(404);
    }
    api.ctx.now = () => startMs + 71 * hourMs;
    expect((await plainBrowser(api).get(await linkTo(expired))).status).to.equal(200);
    api.ctx.now = () => startMs + 73 * hourMs;
    expect((await plainBrowser(api).get(await linkTo(expired))).status).to.equal(404);
  });

  it('a code that was sent for an invitation does not sign in once the invitation is withdrawn', async () => {
    const email = someone();
    await invite(email);
    const browser = plainBrowser(api);
    await browser.get(await linkTo(email));
    await browser.press('Send code');
    const { id } = (await invitationOf(email)) as { id: string };
    await visitor.post(`/dashboard/team/invitations/${id}/withdraw`);
    await browser.press('Sign in', { code: await codeSentTo(api.ctx, email) });
    expect(browser.page.status).to.equal(404);
    expect(browser.page.html).to.include('This invitation does not work');
    expect(await accounts.countDocuments({ email })).to.equal(0);
  });

  it('the token of a link is stored only as a hash, and the mail once per form', async () => {
    const email = someone();
    const formId = newFormId();
    await Promise.all([invite(email, 'desk', { formId }), invite(email, 'desk', { formId })]);
    await invite(email, 'desk', { formId });
    expect(await invitationMails(email)).to.have.length(1);
    const token = (await linkTo(email)).split('/').at(-1) ?? '';
    const stored = await storedAccount(accountId());
    expect(stored.invitations?.map(({ hash }) => hash)).to.deep.equal([sha256(token)]);
    expect(JSON.stringify(stored)).not.to.include(token);
  });

  it('an invitation is sent again with the same link and new 72 hours', async () => {
    const startMs = Date.now();
    const email = someone();
    await invite(email);
    const link = await linkTo(email);
    const { id } = (await invitationOf(email)) as { id: string };
    api.ctx.now = () => startMs + 24 * hourMs;
    await visitor.post(`/dashboard/team/invitations/${id}/send-again`);
    expect(await invitationMails(email)).to.have.length(2);
    expect(await linkTo(email)).to.equal(link);
  });

  it('the form shows its faults: no address, no role, a member, or an address that is invited already', async () => {
    const email = someone();
    await invite(email);
    for (const [address, role, field, words] of [
      ['x', 'desk', 'email', /Enter an e-mail address/],
      [someone(), 'king', 'role', /Choose a role/],
      [visitor.account.email, 'desk', 'email', /already a member/],
      [email.toUpperCase(), 'desk', 'email', /already invited/],
    ] as const) {
      const { status, html } = await invite(address, role);
      expect(status, address).to.equal(422);
      expect(html).to.match(new RegExp(`<a href="#${field}">[^<]*${words.source}`));
    }
    expect(await invitationMails(email)).to.have.length(1);
  });

  it('an account sends at most 20 invitations a day, and at most 5 to one address', async () => {
    const popular = someone();
    await invite(popular);
    const again = `/dashboard/team/invitations/${(await invitationOf(popular))?.id}/send-again`;
    for (let sent = 1; sent < 5; sent += 1) expect((await visitor.post(again)).status).to.equal(303);
    const refused = await visitor.post(again);
    expect(refused.status).to.equal(429);
    expect(refused.headers.get('retry-after')).to.match(/^\d+$/);
    for (let sent = 5; sent < 20; sent += 1) expect((await invite(someone())).status).to.equal(303);
    const last = someone();
    expect((await invite(last)).status).to.equal(429);
    expect(await invitationMails(last)).to.deep.equal([]);
  });

  it('the mail has no text of the inviting person except the name of the account', async () => {
    const email = someone();
    expect((await visitor.post('/dashboard/team/name', { name: 'Win at evil.example' })).status).to.equal(422);
    await visitor.post('/dashboard/team/name', { name: 'Grand Hotel' });
    await invite(email);
    const [mail] = await invitationMails(email);
    expect(mail?.text).to.include(`${visitor.account.email} invites you to the account "Grand Hotel"`);
    expect(mail?.subject).to.equal('An invitation to Ride Partner');
  });

  const newAccount = async () => visitorWith(someone());
  async function visitorWith(email: string) {
    return visitorAs(api, (await accountOf(email))._id);
  }

  it('a new role applies from the next request', async () => {
    const desk = await memberOf(api, accountId(), 'desk');
    const path = `/dashboard/team/members/${desk.account.member.id}/role`;
    expect((await desk.get('/dashboard/keys')).status).to.equal(403);
    expect((await visitor.post(path, { role: 'developer' })).status).to.equal(303);
    expect((await desk.get('/dashboard/keys')).status).to.equal(200);
    expect((await visitor.post(path, { role: 'finance' })).status).to.equal(303);
    expect((await desk.get('/dashboard/keys')).status).to.equal(403);
    expect((await desk.get('/dashboard/usage')).status).to.equal(200);
    expect((await visitor.post(path, { role: 'king' })).status).to.equal(422);
  });

  it('a removed member is signed out with the next request, and cannot sign in to the account again', async () => {
    const desk = await memberOf(api, accountId(), 'desk');
    const { id, email } = desk.account.member;
    const { html } = await visitor.get('/dashboard/team');
    expect(html).to.include('Remove<').and.include('Send invitation').and.include('Save name');
    expect((await visitor.get(`/dashboard/team/members/${id}/remove`)).html).to.include('Remove this member?');
    expect((await desk.get('/dashboard/rides')).status).to.equal(200);
    expect((await visitor.post(`/dashboard/team/members/${id}/remove`)).status).to.equal(303);
    expect((await desk.get('/dashboard/rides')).status).to.equal(303);
    const browser = await signedIn(email);
    expect(browser.page.html).to.include('Steps to your first ride').and.not.include(visitor.account.email);
    expect((await audited())[0]).to.deep.equal(['member_removed', visitor.account.email]);
  });

  it('a member leaves, and an owner hands over and leaves', async () => {
    const heir = await memberOf(api, accountId(), 'desk');
    expect((await visitor.post('/dashboard/team/leave')).status).to.equal(409);
    const member = heir.account.member.id;
    expect((await visitor.get(`/dashboard/team/hand-over?member=${member}`)).html).to.include(
      'Hand over this account?',
    );
    const formId = newFormId();
    for (const _ of ['once', 'again']) {
      expect((await visitor.post('/dashboard/team/hand-over', { member, formId })).status).to.equal(303);
    }
    expect(await members()).to.deep.equal({
      [visitor.account.email]: 'developer',
      [heir.account.member.email]: 'owner',
    });
    // The session of the former owner continues, with the new role.
    expect((await visitor.get('/dashboard/keys')).status).to.equal(200);
    expect((await visitor.get('/dashboard/team/name')).status).to.equal(403);
    expect((await visitor.post('/dashboard/team/leave')).status).to.equal(303);
    expect((await visitor.get('/dashboard/team')).status).to.equal(303);
    expect(await members()).to.deep.equal({ [heir.account.member.email]: 'owner' });
    expect((await heir.post('/dashboard/team/leave')).status).to.equal(409);
  });

  it('every entry of the audit list names the member who did it, and only owners see the list', async () => {
    const developer = await memberOf(api, accountId(), 'developer');
    const { keyId } = await visitor.newKey();
    await developer.post(`/dashboard/keys/${keyId}/name`, { name: 'Night desk' });
    const { html } = await visitor.get('/dashboard/account');
    expect(html).to.match(new RegExp(`renamed a key.*?${developer.account.member.email}`, 's'));
    const own = await developer.get('/dashboard/account');
    expect(own.html).not.to.include('Activity in this account');
    expect(own.html).to.include('Signed-in browsers');
  });

  it('mails about keys go to owners and developers, one each, however often the form is sent', async () => {
    const developer = await memberOf(api, accountId(), 'developer');
    const others = [await memberOf(api, accountId(), 'desk'), await memberOf(api, accountId(), 'finance')];
    const formId = newFormId();
    for (const _ of [1, 2]) await visitor.post('/dashboard/keys', { name: 'Desk', mode: 'test', formId });
    for (const { member } of [developer.account, visitor.account]) {
      expect(await mailsTo(api.ctx, member.email)).to.have.length(1);
    }
    for (const { account } of others) expect(await mailsTo(api.ctx, account.member.email)).to.deep.equal([]);
  });

  it('giving rights needs a recent code, and taking them does not', async () => {
    const desk = await memberOf(api, accountId(), 'desk');
    const { id } = desk.account.member;
    await SessionModel.updateMany({ accountId: accountId() }, { $unset: { verifiedAt: 1 } });
    const email = someone();
    for (const { headers } of [
      await invite(email),
      await visitor.post(`/dashboard/team/members/${id}/role`, { role: 'owner' }),
      await visitor.post('/dashboard/team/hand-over', { member: id }),
    ]) {
      expect(headers.get('location')).to.match(/^\/dashboard\/confirm\?next=%2Fdashboard%2Fteam/);
    }
    expect(await invitationMails(email)).to.deep.equal([]);
    expect(await members()).to.include({ [desk.account.member.email]: 'desk' });
    await visitor.post(`/dashboard/team/members/${id}/remove`);
    expect(Object.keys(await members())).to.deep.equal([visitor.account.email]);
  });
});
