import http from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { dashboardRoutes, type PageParts } from '../../../api/dashboard/web-pages.ts';
import type { RequestContext } from '../../../api/part.ts';
import { accountOf, accounts } from '../../../shared/accounts/account.ts';
import { auditOf } from '../../../shared/accounts/audit.ts';
import { invite } from '../../../shared/accounts/invitations.ts';
import { sentForm } from '../../../shared/accounts/sent-form.ts';
import { SessionModel } from '../../../shared/accounts/session.ts';
import { listActiveKeys } from '../../../shared/keys/list-keys.ts';
import { resumeAccount, suspendAccount } from '../../../shared/keys/suspend-account.ts';
import { newFormId, signedIn, useVisitor, type Visitor } from '../../support/dashboard.ts';
import { onceInsteadOf } from '../../support/failing-mongo.ts';
import { codeSentTo, mailsTo, someone } from '../../support/mails.ts';
import { plainBrowser } from '../../support/plain-browser.ts';
import { testConfig, useTestApi } from '../../support/service.ts';
import { memberOf, newInvitation, newMember, storedAccount, visitorAs } from '../../support/team.ts';
import { tripsAt } from '../../support/usage.ts';

const hourMs = 3_600_000;
const secretsKey = (byte: number) => Buffer.alloc(32, byte).toString('base64');
const [olderKey, newerKey] = [secretsKey(7), secretsKey(8)];

describe('the team of an account refuses what its members may not do', () => {
  const mostMails = 12;
  const api = useTestApi({
    TRUSTED_PROXY_HOPS: '1',
    SECRETS_KEY: `${olderKey},${newerKey}`,
    SIGN_IN_MAILS_PER_HOUR: String(mostMails),
  });
  beforeEach(() => {
    // The limit of a clock hour counts the invitations of all test files. No other test sends any in these hours.
    api.ctx.now = () => Date.now() + 12 * hourMs;
  });
  const visitor = useVisitor(api);

  const accountId = () => visitor.account._id;
  const invitationMails = async (email: string) =>
    (await mailsTo(api.ctx, email)).filter(({ subject }) => subject === 'An invitation to Ride Partner');
  const inviteBy = (person: Visitor, email: string, formId = newFormId()) =>
    person.post('/dashboard/team/invitations', { email, role: 'desk', formId });
  /** Makes the founder a developer, and the new member an owner. */
  async function handOver(formId = newFormId()) {
    const heir = await memberOf(api, accountId(), 'desk');
    await visitor.post('/dashboard/team/hand-over', { member: heir.account.member.id, formId });
    return heir;
  }

  it('nobody leaves a suspended account, and the session stays in the account', async () => {
    const person = await signedIn(api);
    const { id: memberId } = await newMember(accountId(), 'desk', person.account.email);
    const member = await visitorAs(api, accountId(), memberId);
    await suspendAccount(accountId());
    const before = await storedAccount(accountId());
    const { status, html } = await member.post('/dashboard/team/leave');
    expect(status).to.equal(403);
    expect(html).to.include('This account is suspended');
    expect(await storedAccount(accountId())).to.deep.equal(before);
    expect(await SessionModel.countDocuments({ memberId })).to.equal(1);
    await resumeAccount(accountId());
    expect((await member.post('/dashboard/team/leave')).headers.get('location')).to.equal('/dashboard');
  });

  it('nobody joins a suspended account: neither a signed-in person nor a person who signs in with a code', async () => {
    // No other test sends mails with codes in this clock hour.
    const laterMs = Date.now() + 4 * hourMs;
    api.ctx.now = () => laterMs;
    const person = await signedIn(api);
    const [own, other] = [
      await newInvitation(api, visitor.account, 'desk', person.account.email),
      await newInvitation(api, visitor.account, 'desk'),
    ];
    const browser = plainBrowser(api);
    await browser.get(`/dashboard/sign-in/invitation/${other.token}`);
    await browser.press('Send code');
    await suspendAccount(accountId());
    const before = await storedAccount(accountId());
    const { status, html } = await person.post(`/dashboard/sign-in/invitation/${own.token}`);
    expect(status).to.equal(403);
    expect(html).to.include('This account is suspended');
    await browser.press('Sign in', { code: await codeSentTo(api.ctx, other.email) });
    expect(browser.page.status).to.equal(403);
    expect(browser.page.html).to.include('This account is suspended');
    expect(await storedAccount(accountId())).to.deep.equal(before);
  });

  it('the service sends at most its hourly number of invitations, and the next hour has room again', async () => {
    const startMs = Date.now();
    // No other test sends invitations in these clock hours.
    api.ctx.now = () => startMs + 8 * hourMs;
    for (let sent = 0; sent < mostMails; sent += 1) {
      expect((await inviteBy(await signedIn(api), someone())).status).to.equal(303);
    }
    const last = someone();
    const { status, html, headers } = await inviteBy(visitor, last);
    expect(status).to.equal(429);
    expect(html).to.include('This service has sent as many invitations in this hour as it can');
    expect(Number(headers.get('retry-after'))).to.be.within(1, 3_600);
    expect(await invitationMails(last)).to.deep.equal([]);
    api.ctx.now = () => startMs + 9 * hourMs;
    expect((await inviteBy(visitor, last)).status).to.equal(303);
  });

  it('a form that is sent again is charged once', async () => {
    const startMs = Date.now();
    api.ctx.now = () => startMs + 6 * hourMs;
    const [formId, email] = [newFormId(), someone()];
    for (let sent = 0; sent < mostMails + 1; sent += 1) {
      expect((await inviteBy(visitor, email, formId)).status).to.equal(303);
    }
    expect((await inviteBy(visitor, someone())).status).to.equal(303);
  });

  it('invitations that are sent while an earlier one is withdrawn send no more mails than the limit of the address allows', async () => {
    const startMs = Date.now();
    api.ctx.now = () => startMs + 2 * hourMs;
    const email = someone();
    await inviteBy(visitor, email);
    const statuses: number[] = [];
    for (let sent = 1; sent < 9; sent += 1) {
      // The request has read the account with the earlier invitation, which is withdrawn before it is changed.
      onceInsteadOf(accounts, 'findOne', async () => {
        await accounts.updateOne({ _id: accountId() }, { $set: { invitations: [] }, $inc: { teamRev: 1 } });
        return storedAccount(accountId());
      });
      statuses.push((await inviteBy(visitor, email)).status);
    }
    await storedAccount(accountId());
    expect(statuses).to.deep.equal([303, 303, 303, 303, 429, 429, 429, 429]);
    expect(await invitationMails(email)).to.have.length(5);
  });

  it('a refused invitation is not charged, however often it is sent', async () => {
    const startMs = Date.now();
    api.ctx.now = () => startMs + 10 * hourMs;
    const members = Array.from({ length: 99 }, (_, index) => newMember(accountId(), 'desk', `${index}-${someone()}`));
    await Promise.all(members);
    for (let sent = 0; sent < 21; sent += 1) expect((await inviteBy(visitor, someone())).status).to.equal(409);
    await accounts.updateOne({ _id: accountId() }, { $pop: { members: 1 } });
    expect((await inviteBy(visitor, someone())).status).to.equal(303);
  });

  it('the invitations of one account to an address do not count for another account', async () => {
    const email = someone();
    const stranger = await signedIn(api);
    await inviteBy(stranger, email);
    const [invitation] = (await storedAccount(stranger.account._id)).invitations ?? [];
    const again = () => stranger.post(`/dashboard/team/invitations/${invitation?.id}/send-again`);
    const startMs = api.ctx.now();
    for (let sent = 1; sent < 5; sent += 1) {
      api.ctx.now = () => startMs + sent * hourMs;
      expect((await again()).status).to.equal(303);
    }
    expect((await again()).status).to.equal(429);
    expect((await inviteBy(visitor, email)).status).to.equal(303);
  });

  it('a former owner who sends an old form to another route causes no mail', async () => {
    const formId = newFormId();
    const { id, email } = await newInvitation(api, visitor.account, 'desk');
    const other = await newInvitation(api, visitor.account, 'desk');
    await visitor.post('/dashboard/team/name', { name: 'Grand Hotel', formId });
    await visitor.post(`/dashboard/team/invitations/${other.id}/withdraw`);
    await handOver();
    const { status } = await visitor.post(`/dashboard/team/invitations/${id}/send-again`, { formId });
    expect(status).to.equal(303);
    expect(await invitationMails(email)).to.deep.equal([]);
  });

  it('a mail that another process with a newer SECRETS_KEY repeats contains the link that works', async () => {
    const newer = testConfig({ SECRETS_KEY: `${newerKey},${olderKey}` });
    const [formId, email] = [newFormId(), someone()];
    const { id: form } = sentForm(accountId(), formId, '');
    const member = visitor.account.member;
    await invite(newer, { accountId: accountId(), form, member, from: '203.0.113.7' }, { email, role: 'desk' });
    expect((await inviteBy(visitor, email, formId)).status).to.equal(303);
    const [mail] = await invitationMails(email);
    const path = mail?.text.match(/\/dashboard\/sign-in\/invitation\/[\w-]{43}/)?.[0] ?? '';
    expect((await plainBrowser(api).get(path)).html).to.include('Join ');
    // Sending it again does not change the link either.
    const [invitation] = (await storedAccount(accountId())).invitations ?? [];
    await visitor.post(`/dashboard/team/invitations/${invitation?.id}/send-again`);
    expect((await storedAccount(accountId())).invitations?.map(({ hash }) => hash)).to.deep.equal([invitation?.hash]);
  });

  it('a former owner cannot use an applied form on any other route', async () => {
    const formId = newFormId();
    const heir = await memberOf(api, accountId(), 'owner');
    await visitor.post('/dashboard/team/name', { name: 'Grand Hotel', formId });
    const role = `/dashboard/team/members/${visitor.account.member.id}/role`;
    await heir.post(role, { role: 'finance' });
    for (const path of ['/keys', '/desk/settings', '/desk/places', '/console', '/confirm', '/deliveries/send-again']) {
      const { status } = await visitor.post(`/dashboard${path}`, { formId, name: 'Stolen', mode: 'test' });
      expect(status, path).to.equal(403);
    }
    expect(await listActiveKeys({ accountId: accountId() })).to.deep.equal([]);
    const before = await storedAccount(accountId());
    await visitor.post(role, { formId, role: 'owner' });
    const after = await storedAccount(accountId());
    expect([after.members, after.teamRev]).to.deep.equal([before.members, before.teamRev]);
  });

  it('a form whose body arrives after its member was removed changes nothing', async () => {
    const member = await memberOf(api, accountId(), 'developer');
    const body = String(new URLSearchParams({ formId: newFormId(), account: accountId(), name: 'Late', mode: 'test' }));
    const request = http.request(`${api.url}/dashboard/keys`, {
      method: 'POST',
      headers: {
        cookie: member.cookie,
        'sec-fetch-site': 'same-origin',
        'content-type': 'application/x-www-form-urlencoded',
        'content-length': body.length,
      },
    });
    const answered = new Promise<http.IncomingMessage>((resolve, reject) => {
      request.on('response', resolve).on('error', reject);
    });
    request.write(body.slice(0, 5));
    for (let seen = 0; seen < 5; seen += 1) expect((await member.get('/dashboard/team')).status).to.equal(200);
    await visitor.post(`/dashboard/team/members/${member.account.member.id}/remove`);
    request.end(body.slice(5));
    const answer = await answered;
    answer.resume();
    expect([answer.statusCode, answer.headers.location]).to.deep.equal([303, '/dashboard']);
    expect(await listActiveKeys({ accountId: accountId() })).to.deep.equal([]);
  });

  it('a download of a statement breaks off when its member gets another role', async () => {
    const { keyId } = await visitor.newKey('live');
    const times = Array.from({ length: 1_001 }, (_, index) => new Date(Date.UTC(2026, 9, 5) + index));
    await tripsAt({ accountId: accountId(), keyId, mode: 'live' }, 2, ...times);
    const member = await memberOf(api, accountId(), 'developer');
    const route = dashboardRoutes(api.ctx, { streams: {} } as PageParts).find(({ path }) => path.endsWith('.csv'));
    const download = async () => {
      const cookies = { get: () => member.cookie.replace('session=', '') };
      const asked = { params: { month: '2026-10' }, query: {}, state: {}, get: () => '192.0.2.1', set: () => {} };
      const ctx = { ...asked, cookies, body: Readable.from([]) };
      await route?.handle(ctx as unknown as RequestContext, async () => {});
      return ctx.body;
    };
    expect((await text(await download())).split('\r\n')).to.have.length(1_001 + 2);
    // The first rows are read, and the others are not.
    const body = await download();
    await visitor.post(`/dashboard/team/members/${member.account.member.id}/role`, { role: 'finance' });
    const error = await text(body).then(() => null, String);
    expect(error).to.include('This is not allowed');
  });

  const entered = async () =>
    (await auditOf(accountId(), 100)).filter(({ action }) => action === 'switched_in').map(({ member }) => member);

  it('entering an account is in its audit list, once per form', async () => {
    const person = await signedIn(api);
    const { email } = person.account;
    await newMember(accountId(), 'desk', email);
    const form = { to: accountId(), formId: newFormId() };
    for (const _ of ['once', 'again']) expect((await person.post('/dashboard/switch', form)).status).to.equal(303);
    expect(await entered()).to.deep.equal([email]);
    await person.post('/dashboard/switch', { to: person.account._id });
    await person.post('/dashboard/switch', { to: accountId() });
    expect(await entered()).to.deep.equal([email, email]);
    expect((await visitor.get('/dashboard/account')).html).to.include('switched to this account');
  });

  it('leaving an account and using an old invitation are in the audit list of the account that the session enters', async () => {
    const person = await signedIn(api);
    const { email } = person.account;
    const { token } = await newInvitation(api, visitor.account, 'desk', email);
    await person.post(`/dashboard/sign-in/invitation/${token}`);
    await person.post('/dashboard/switch', { to: person.account._id });
    await person.post(`/dashboard/sign-in/invitation/${token}`);
    expect(await entered()).to.deep.equal([email, email]);
    await newMember(person.account._id, 'owner');
    await person.post('/dashboard/switch', { to: person.account._id });
    await person.post('/dashboard/team/leave');
    expect(await entered()).to.deep.equal([email, email, email]);
  });

  it('a page lists at most 100 accounts, by name, and reads only their names', async () => {
    const person = await signedIn(api);
    const { email, _id } = person.account;
    const member = { id: 'member_of_many', email, role: 'desk' as const, joinedAt: new Date() };
    const long = 'x'.repeat(200_000);
    const many = Array.from({ length: 120 }, (_, index) => ({
      _id: `${_id}_${index}`,
      email: `${_id}_${index}`,
      createdAt: new Date(),
      name: `Hotel ${String(index).padStart(3, '0')}`,
      members: [{ ...member, id: 'other', email: long }, member],
    }));
    for (let first = 0; first < many.length; first += 20) await accounts.insertMany(many.slice(first, first + 20));
    const { status, html } = await person.get('/dashboard/team');
    expect(status).to.equal(200);
    expect(html).to.include('Hotel 000').and.include('Hotel 098').and.not.include('Hotel 110');
    // Signing out everywhere ends the sessions in all accounts, also in those that are not listed.
    const hidden = await visitorAs(api, `${_id}_119`, 'member_of_many');
    expect((await hidden.get('/dashboard/account')).status).to.equal(200);
    await person.post('/dashboard/sign-out-everywhere');
    expect((await hidden.get('/dashboard/account')).status).to.equal(303);
    await accounts.deleteMany({ _id: { $in: many.map((one) => one._id) } });
  });

  it('an account without a name is listed with the address of its first owner', async () => {
    const person = await signedIn(api);
    const other = await accountOf(someone());
    await newMember(other._id, 'desk', person.account.email);
    expect((await person.get('/dashboard/team')).html).to.match(new RegExp(`id="switcher".*${other.email}`, 's'));
  });
});
