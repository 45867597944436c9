import { expect } from 'chai';
import { type Account, accountOf, accounts, accountsWith, founderIdOf } from '../../../shared/accounts/account.ts';
import { auditOf } from '../../../shared/accounts/audit.ts';
import {
  changeRole,
  changeTeam,
  handOver,
  leaveAccount,
  removeMember,
  renameAccount,
  setSupportPhone,
  type TeamActor,
} from '../../../shared/accounts/change-team.ts';
import { isAccountName } from '../../../shared/accounts/members.ts';
import { randomBase62 } from '../../../shared/base/ids.ts';
import { someone } from '../../support/mails.ts';
import { useTestContext } from '../../support/service.ts';
import { newMember, storedAccount } from '../../support/team.ts';

describe('the team of an account', () => {
  const _ctx = useTestContext();
  let account: Account;
  beforeEach(async () => {
    account = await accountOf(someone());
  });

  const actor = (id: string, email = someone()): TeamActor => ({
    accountId: account._id,
    form: randomBase62(22),
    member: { id, email },
    from: '203.0.113.7',
  });
  const founder = () => actor(founderIdOf(account._id), account.email);
  const owners = async () => (await storedAccount(account._id)).members.filter(({ role }) => role === 'owner');

  it('always keeps an owner, whichever of many owners leave, remove, demote or hand over to each other at once', async () => {
    for (let round = 0; round < 3; round += 1) {
      account = await accountOf(someone());
      const ids = [founderIdOf(account._id)];
      for (let count = 0; count < 7; count += 1) ids.push((await newMember(account._id, 'owner')).id);
      const changes = ids.flatMap((id, index) => {
        const next = ids[(index + 1) % ids.length] as string;
        return [
          () => leaveAccount(actor(id)),
          () => removeMember(actor(id), next),
          () => changeRole(actor(id), next, 'desk'),
          () => changeRole(actor(id), id, 'finance'),
          () => handOver(actor(id), next),
        ];
      });
      await Promise.allSettled(changes.map((change) => change()));
      expect(await owners()).to.have.lengthOf.at.least(1);
    }
  });

  it('refuses that the only owner leaves, is removed, takes another role or hands over to themselves', async () => {
    await newMember(account._id, 'developer');
    const id = founderIdOf(account._id);
    for (const change of [
      () => leaveAccount(founder()),
      () => removeMember(founder(), id),
      () => changeRole(founder(), id, 'developer'),
      () => handOver(founder(), id),
    ]) {
      expect(await change()).to.deep.equal({ refused: 'last_owner' });
    }
    expect((await owners()).map((owner) => owner.id)).to.deep.equal([id]);
  });

  it('refuses a change of a person who is not an owner any more, also when two owners remove each other', async () => {
    const other = await newMember(account._id, 'owner');
    const results = await Promise.all([
      removeMember(founder(), other.id),
      removeMember(actor(other.id), founderIdOf(account._id)),
    ]);
    expect(results.filter((result) => 'refused' in result)).to.deep.equal([{ refused: 'not_owner' }]);
    expect(await owners()).to.have.length(1);
  });

  it('never changes the team of a suspended account, also if the suspension arrives during a change', async () => {
    for (let round = 0; round < 20; round += 1) {
      account = await accountOf(someone());
      let suspending: Promise<Account | null> | undefined;
      await changeTeam(founder(), (team) => {
        const change = { $set: { suspendedAt: new Date() } };
        suspending ??= accounts.findOneAndUpdate({ _id: account._id }, change, { returnDocument: 'after' });
        return { team: { ...team, name: 'Late' }, action: 'account_renamed' };
      });
      const suspended = await suspending;
      expect((await storedAccount(account._id)).name).to.equal(suspended?.name);
      expect(await leaveAccount(founder())).to.deep.equal({ refused: 'suspended' });
    }
  });

  it('makes each change once, however often its form is sent', async () => {
    const { id, email } = await newMember(account._id, 'desk');
    const given = founder();
    await Promise.all(Array.from({ length: 8 }, () => changeRole(given, id, 'finance')));
    await changeRole(founder(), id, 'developer');
    await changeRole(given, id, 'finance');
    const { members } = await storedAccount(account._id);
    expect(members?.find((member) => member.id === id)?.role).to.equal('developer');
    expect((await auditOf(account._id, 9)).map(({ about, member }) => [about, member])).to.deep.equal([
      [`${email}: finance to developer`, account.email],
      [`${email}: desk to finance`, account.email],
    ]);
  });

  it('a form that saves the same role, name or phone number again adds no audit entry', async () => {
    const { id } = await newMember(account._id, 'desk');
    for (const change of [
      () => changeRole(founder(), id, 'desk'),
      () => renameAccount(founder(), 'Grand Hotel'),
      () => setSupportPhone(founder(), '+12025550143'),
    ]) {
      await change();
      await change();
    }
    const actions = (await auditOf(account._id, 9)).map(({ action }) => action);
    expect(actions.sort()).to.deep.equal(['account_renamed', 'support_phone_set']);
  });

  it('the address of a founder who is no longer an owner can found another account', async () => {
    const other = await newMember(account._id, 'owner');
    await handOver(founder(), other.id);
    const after = await storedAccount(account._id);
    expect(after.email).to.equal(account._id);
    expect((await accountsWith(account.email)).map(({ _id }) => _id)).to.deep.equal([account._id]);
    expect((await accountOf(account.email))._id).not.to.equal(account._id);
  });

  it('the name of an account is plain text that mail programs do not turn into a link, and has no phone number', () => {
    for (const name of [
      'Grand Hotel',
      'Hôtel d’Orsay',
      'A1 (North), S.A.',
      'Hotel 1900 (12)',
      'Müller & Söhne',
      '東京ホテル',
    ]) {
      expect(isAccountName(name), name).to.equal(true);
    }
    for (const name of [
      ...['Call 12345', 'Call 1-800-555-01', '+1 (555) 01 99', '١٢٣٤٥', '', 'evil.com', 'http://x', 'a@b.example'],
      ...['a\nb', '<b>', 'x'.repeat(61), 'www.evil.example'],
    ]) {
      expect(isAccountName(name), name).to.equal(false);
    }
  });
});
