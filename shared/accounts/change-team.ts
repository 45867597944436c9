import { isDeepStrictEqual } from 'node:util';
import { AppError } from '../base/errors.ts';
import { derivedAuditId } from '../base/ids.ts';
import { mongoNow } from '../base/mongo/clock.ts';
import {
  type Account,
  accounts,
  founderIdOf,
  type Invitation,
  type Member,
  type Role,
  type TeamForm,
} from './account.ts';
import { audit } from './audit.ts';
import { keptForms, mayAddMissingRecords } from './sent-form.ts';
import { endSessionsOf } from './session.ts';

/** The part of an account that its owners change. A change without a name or number keeps it. */
interface Team {
  name?: string;
  supportPhone?: string;
  members: Member[];
  invitations: Invitation[];
}

/**
 * The reasons to refuse a change. `not_owner`: the person is no longer an owner. `last_owner`: the account would have
 * no owner. `full`: the account has as many members and invitations as it can. `suspended`: the operator has suspended
 * the account.
 */
export type TeamRefusal = 'suspended' | 'not_owner' | 'last_owner' | 'is_member' | 'is_invited' | 'full' | 'gone';

type Decision = TeamRefusal | ({ team: Team } & Pick<TeamForm, 'action' | 'about' | 'memberId'>);

/** Who makes a change, with which form, and from which client address. */
export interface TeamActor {
  accountId: string;
  /** The id of the SentForm. */
  form: string;
  member: Pick<Member, 'id' | 'email'>;
  from: string;
}

/** Each round of a change loses only to a change that succeeded, so many people can change a team at once. */
const maxRounds = 500;
/** Members and invitations are in the account's document, which every page reads. */
const maxPeople = 100;

/**
 * Changes the team of an account, once per form. One update, filtered on the number of changes, replaces exactly the
 * team that `decide` has seen; so concurrent changes can never remove or demote the last owner. The team of a suspended
 * account never changes. Then ends the sessions of a removed member, and adds an audit entry unless the form changed
 * nothing. Throws `not_found` for an unknown account, and rethrows the errors of `decide`.
 */
export async function changeTeam(
  { accountId, form, member, from }: TeamActor,
  decide: (team: Team, now: Date) => Decision,
): Promise<{ account: Account } | { refused: TeamRefusal }> {
  for (let round = 0; round < maxRounds; round += 1) {
    const [account, now] = await Promise.all([accounts.findOne({ _id: accountId }), mongoNow()]);
    if (!account) throw new AppError('not_found');
    const earlier = account.teamForms?.find(({ id }) => id === form);
    if (earlier) {
      await complete(accountId, earlier, now);
      return { account };
    }
    if (account.suspendedAt) return { refused: 'suspended' };
    const { members, invitations = [] } = account;
    const decided = decide({ members, invitations }, now);
    if (typeof decided === 'string') return { refused: decided };
    const { team, ...record } = decided;
    if (!team.members.some(({ role }) => role === 'owner')) return { refused: 'last_owner' };
    const before = { ...account, invitations };
    const isSame = (Object.keys(team) as (keyof Team)[]).every((field) =>
      isDeepStrictEqual(team[field], before[field]),
    );
    const done = isSame && ({ isDone: true } as const);
    const applied: TeamForm = { id: form, at: now, by: member.email, from, ...record, ...done };
    const isOwnedByFounder = team.members.some(({ id, role }) => id === founderIdOf(accountId) && role === 'owner');
    const set = { ...team, ...(!isOwnedByFounder && { email: accountId }) };
    const changed = await accounts.findOneAndUpdate(
      { _id: accountId, teamRev: account.teamRev ?? { $exists: false }, suspendedAt: { $exists: false } },
      { $set: set, $inc: { teamRev: 1 }, $push: { teamForms: { $each: [applied], $slice: -keptForms } } },
      { returnDocument: 'after' },
    );
    if (changed) {
      await complete(accountId, applied, now);
      return { account: changed };
    }
  }
  throw new AppError('unavailable');
}

/**
 * Completes the effects of the changes of a team whose form was not sent again after a fault, for example because its
 * person has left. Idempotent.
 */
export async function completeTeam({ _id, teamForms = [] }: Account): Promise<void> {
  const open = teamForms.filter(({ isDone }) => !isDone);
  if (open.length === 0) return;
  const now = await mongoNow();
  for (const form of open) await complete(_id, form, now);
}

async function complete(accountId: string, form: TeamForm, now: Date): Promise<void> {
  const { id, action, about, by: member, from, memberId, at, isDone } = form;
  if (isDone) return;
  if (memberId) await endSessionsOf(memberId);
  if (mayAddMissingRecords(at, now.getTime())) {
    const entry = { accountId, action, ...(about && { about }), member, from };
    await audit({ _id: derivedAuditId(action, id), ...entry }, at.getTime());
  }
  await accounts.updateOne({ _id: accountId, 'teamForms.id': id }, { $set: { 'teamForms.$.isDone': true } });
}

/** Changes the team if the person is an owner. */
export const changeByOwner = (actor: TeamActor, decide: (team: Team, now: Date) => Decision) =>
  changeTeam(actor, (team, now) =>
    team.members.some(({ id, role }) => id === actor.member.id && role === 'owner') ? decide(team, now) : 'not_owner',
  );

export const isFull = ({ members, invitations }: Team): boolean => members.length + invitations.length >= maxPeople;

/** The member with this id. Throws `not_found` for an unknown one. */
export function memberIn({ members }: Pick<Team, 'members'>, memberId: string): Member {
  const found = members.find(({ id }) => id === memberId);
  if (!found) throw new AppError('not_found');
  return found;
}

const without = (team: Team, memberId: string): Team => ({
  ...team,
  members: team.members.filter(({ id }) => id !== memberId),
});

const withRole = (team: Team, memberId: string, role: Role): Team => ({
  ...team,
  members: team.members.map((member) => (member.id === memberId ? { ...member, role } : member)),
});

export const renameAccount = (actor: TeamActor, name: string) =>
  changeByOwner(actor, (team) => ({ team: { ...team, name }, action: 'account_renamed', about: name }));

/** Sets the number behind "I need help" on the live maps; an empty text removes it. */
export const setSupportPhone = (actor: TeamActor, supportPhone: string) =>
  changeByOwner(actor, (team) => ({ team: { ...team, supportPhone }, action: 'support_phone_set' }));

/** Gives a member another role, from their next request on. Throws `not_found` for an unknown member. */
export const changeRole = (actor: TeamActor, memberId: string, role: Role) =>
  changeByOwner(actor, (team) => {
    const { email, role: before } = memberIn(team, memberId);
    return { team: withRole(team, memberId, role), action: 'role_changed', about: `${email}: ${before} to ${role}` };
  });

/** Removes a member, whose sessions end with their next request. Throws `not_found` for an unknown member. */
export const removeMember = (actor: TeamActor, memberId: string) =>
  changeByOwner(actor, (team) => {
    const { email } = memberIn(team, memberId);
    return { team: without(team, memberId), action: 'member_removed', about: email, memberId };
  });

/** Removes the person who asks for it. */
export const leaveAccount = (actor: TeamActor) =>
  changeTeam(actor, (team) => {
    const memberId = actor.member.id;
    memberIn(team, memberId);
    return { team: without(team, memberId), action: 'member_left', memberId };
  });

/** Makes another member an owner, and the person who asks for it a developer. Throws `not_found` for an unknown member. */
export const handOver = (actor: TeamActor, memberId: string) =>
  changeByOwner(actor, (team) => {
    const { email } = memberIn(team, memberId);
    if (memberId === actor.member.id) return 'last_owner';
    const given = withRole(team, memberId, 'owner');
    return { team: withRole(given, actor.member.id, 'developer'), action: 'account_handed_over', about: email };
  });
