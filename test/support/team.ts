import { type Account, accounts, founderIdOf, type Member, type Role } from '../../shared/accounts/account.ts';
import { invitationToken, invite } from '../../shared/accounts/invitations.ts';
import { type CurrentAccount, currentAccount } from '../../shared/accounts/members.ts';
import { startSession } from '../../shared/accounts/session.ts';
import { derivedMemberId, randomBase62 } from '../../shared/base/ids.ts';
import { type Visitor, visitorOf } from './dashboard.ts';
import { someone } from './mails.ts';
import type { TestApi } from './service.ts';

/** The stored account. */
export const storedAccount = async (accountId: string): Promise<Account> =>
  (await accounts.findOne({ _id: accountId })) as Account;

/** Adds a member to an account. */
export async function newMember(accountId: string, role: Role, email = someone()): Promise<Member> {
  const member: Member = { id: derivedMemberId(randomBase62(22)), email, role, joinedAt: new Date() };
  await accounts.updateOne({ _id: accountId }, { $push: { members: member }, $inc: { teamRev: 1 } });
  return member;
}

/** A visitor who has signed in as a new member of an account. */
export async function memberOf(api: TestApi, accountId: string, role: Role, email?: string): Promise<Visitor> {
  return visitorAs(api, accountId, (await newMember(accountId, role, email)).id);
}

/** A visitor who has signed in as this member. */
export async function visitorAs(api: TestApi, accountId: string, memberId = founderIdOf(accountId)): Promise<Visitor> {
  const account = currentAccount(await storedAccount(accountId), memberId, []) as CurrentAccount;
  return visitorOf(api, account, `session=${await startSession(accountId, api.ctx.now(), { memberId })}`);
}

/** An invitation of the founder, with the token in its link. */
export async function newInvitation(api: TestApi, { _id, email }: Account, role: Role, to = someone()) {
  const form = randomBase62(22);
  const actor = { accountId: _id, form, member: { id: founderIdOf(_id), email }, from: '203.0.113.7' };
  await invite(api.ctx.config, actor, { email: to, role });
  const { invitations = [] } = await storedAccount(_id);
  const invitation = invitations.find((one) => one.email === to);
  if (!invitation) throw new Error('not invited');
  return { ...invitation, token: invitationToken(api.ctx.config, invitation) ?? '' };
}
