import { expect } from 'chai';
import { type Account, accountOf, accounts, founderIdOf } from '../../../shared/accounts/account.ts';
import { SessionModel } from '../../../shared/accounts/session.ts';
import { newAccountId, randomBase62, sha256 } from '../../../shared/base/ids.ts';
import { createKey } from '../../../shared/keys/manage-keys.ts';
import { signedIn, useVisitor, type Visitor, visitorOf } from '../../support/dashboard.ts';
import { openEventStream } from '../../support/event-stream.ts';
import { codeSentTo, someone } from '../../support/mails.ts';
import { plainBrowser } from '../../support/plain-browser.ts';
import { rideIn } from '../../support/rides.ts';
import { useTestApi } from '../../support/service.ts';
import { memberOf, newMember, storedAccount } from '../../support/team.ts';

describe('sessions of members', () => {
  const api = useTestApi();
  const visitor = useVisitor(api);
  const accountId = () => visitor.account._id;
  const tokenOf = ({ cookie }: Visitor) => cookie.replace('session=', '');

  describe('beside processes of the previous version', () => {
    /** The account that a process of the previous version finds for a session. */
    async function accountBefore(token: string): Promise<Account | undefined> {
      const lookup = { from: 'accounts', localField: 'accountId', foreignField: '_id', as: 'accounts' };
      const [found] = await SessionModel.aggregate([{ $match: { _id: sha256(token) } }, { $lookup: lookup }]);
      return found?.accounts[0];
    }
    /** Signs in as a process of the previous version does. */
    async function signInBefore(email: string): Promise<string> {
      const $setOnInsert = { _id: newAccountId(), createdAt: new Date() };
      const account = await accounts.findOneAndUpdate(
        { email },
        { $setOnInsert },
        { upsert: true, returnDocument: 'after' },
      );
      const token = randomBase62(43);
      const [now, expiresAt] = [new Date(), new Date(Date.now() + 3_600_000)];
      const session = { _id: sha256(token), accountId: account?._id, createdAt: now, lastUsedAt: now, expiresAt };
      await SessionModel.collection.insertOne({ ...session, verifiedAt: now } as never);
      return token;
    }

    it('a session of the previous version is the founder’s, also in an account that it has created', async () => {
      const email = someone();
      const token = await signInBefore(email);
      const account = (await accounts.findOne({ email })) as Account;
      expect(account.members).to.equal(undefined);
      const browser = visitorOf(api, { ...visitor.account, _id: account._id }, `session=${token}`);
      const { status, html } = await browser.get('/dashboard/team');
      expect(status).to.equal(200);
      expect(html).to.include(email).and.include('Send invitation');
      expect((await browser.post('/dashboard/team/invitations', { email: someone(), role: 'desk' })).status).to.equal(
        303,
      );
      expect((await storedAccount(account._id)).members?.map(({ id }) => id)).to.deep.equal([founderIdOf(account._id)]);
    });

    it('a session of the founder is found by both versions, and a form of the previous version is accepted', async () => {
      expect((await accountBefore(tokenOf(visitor)))?._id).to.equal(accountId());
      const { keyId } = await createKey(api.ctx.config, { accountId: accountId(), name: 'Desk', mode: 'test' });
      const form = { name: 'Night desk', account: '' };
      expect((await visitor.post(`/dashboard/keys/${keyId}/name`, form)).status).to.equal(303);
    });

    it('the previous version finds no account for the session of any other member, whatever the role', async () => {
      for (const role of ['owner', 'developer', 'desk', 'finance'] as const) {
        const member = await memberOf(api, accountId(), role);
        expect((await member.get('/dashboard/team')).status).to.equal(200);
        expect(await accountBefore(tokenOf(member)), role).to.equal(undefined);
      }
    });

    it('the previous version finds no account for a founder who was removed, has left or has another role', async () => {
      for (const end of ['remove', 'role', 'leave'] as const) {
        const founder = await signedIn(api);
        const owner = await memberOf(api, founder.account._id, 'owner');
        const at = `/dashboard/team/members/${founder.account.member.id}`;
        if (end === 'leave') await founder.post('/dashboard/team/leave');
        else await owner.post(`${at}/${end}`, { role: 'desk' });
        expect(await accountBefore(tokenOf(founder)), end).to.equal(undefined);
        const before = await signInBefore(founder.account.email);
        expect((await accountBefore(before))?._id, end).not.to.equal(founder.account._id);
        // The previous version may still store a session with only the account's id. It has the rights of the role.
        const late = { _id: sha256(`${end} ${before}`), accountId: founder.account._id };
        const times = { createdAt: new Date(), lastUsedAt: new Date(), expiresAt: new Date(Date.now() + 60_000) };
        await SessionModel.collection.insertOne({ ...late, ...times } as never);
        const lateVisitor = visitorOf(api, founder.account, `session=${end} ${before}`);
        expect((await lateVisitor.get('/dashboard/keys')).status, end).to.equal(end === 'role' ? 403 : 303);
      }
    });
  });

  describe('several accounts of one person', () => {
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
      const { keyId } = await createKey(api.ctx.config, { accountId: accountId(), name: 'Desk', mode: 'test' });
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

    it('every form of every page names the account for which it was rendered', async () => {
      const person = await personWithTwo();
      const { keyId } = await createKey(api.ctx.config, { accountId: person.account._id, name: 'Desk', mode: 'test' });
      const { rideId } = await rideIn(api.ctx, 'bidding', { keyId, accountId: person.account._id, offers: [{}] });
      const paths = ['', '/keys/new', `/keys/${keyId}`, `/rides/${rideId}`, `/rides/${rideId}/cancel`, '/console'];
      for (const path of [...paths, `/console/${rideId}`, '/deliveries', '/team', '/account']) {
        const { html } = await person.get(`/dashboard${path}`);
        const forms = [...html.matchAll(/<form [^>]*method="post"[^>]*>.*?<\/form>/gs)].map(([form]) => form);
        for (const form of forms.filter((one) => !one.includes('/sign-out"'))) {
          expect(form, path).to.include(`name="account" value="${person.account._id}"`);
        }
      }
    });

    it('sign-in continues in the account that the person used last', async () => {
      const person = await personWithTwo();
      const { email } = person.account;
      await person.post('/dashboard/switch', { to: accountId() });
      const browser = plainBrowser(api);
      await browser.get('/dashboard');
      await browser.press('Send code', { email });
      await browser.press('Sign in', { code: await codeSentTo(api.ctx, email) });
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
  });

  for (const [change, act] of [
    ['is removed', (path: string) => visitor.post(`${path}/remove`)],
    ['gets another role', (path: string) => visitor.post(`${path}/role`, { role: 'finance' })],
  ] as const) {
    it(`an open stream ends when its member ${change}`, async () => {
      const { keyId } = await createKey(api.ctx.config, { accountId: accountId(), name: 'Desk', mode: 'test' });
      const { rideId } = await rideIn(api.ctx, 'bidding', { keyId, accountId: accountId() });
      const desk = await memberOf(api, accountId(), 'desk');
      const stream = await openEventStream(`${api.url}/dashboard/rides/${rideId}/events`, { cookie: desk.cookie });
      await act(`/dashboard/team/members/${desk.account.member.id}`);
      let event: unknown;
      do event = await stream.next();
      while (event !== null);
    });
  }
});
