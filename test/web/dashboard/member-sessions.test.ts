import { expect } from 'chai';
import { accountOf } from '../../../shared/accounts/account.ts';
import { SessionModel } from '../../../shared/accounts/session.ts';
import { signedIn, useVisitor } from '../../support/dashboard.ts';
import { endOf, openEventStream } from '../../support/event-stream.ts';
import { useSigningIn } from '../../support/signing-in.ts';
import { memberOf, newMember } from '../../support/team.ts';

describe('sessions of members', () => {
  const { api, signedIn: enter } = useSigningIn();
  const visitor = useVisitor(api);
  const accountId = () => visitor.account._id;

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
