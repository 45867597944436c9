import type { Config } from '../base/config.ts';
import { AppError } from '../base/errors.ts';
import { derivedInvitationId, derivedMemberId, sha256 } from '../base/ids.ts';
import { type Account, accounts, accountsWith, type Invitation, type Role } from './account.ts';
import { macOf } from './derived-keys.ts';
import type { Limit } from './limit.ts';
import { byOwner, changeTeam, isFull, type TeamActor } from './team.ts';

const dayMs = 24 * 3_600_000;
/** An invitation can be accepted for this long after it was sent the last time. */
export const invitationLifetimeMs = 3 * dayMs;
/** An expired invitation is listed for this long, so that it can be sent again. */
const keptExpiredMs = 30 * dayMs;

/** The limits on invitations, which keep the service from being used to send unwanted mail (contract, section 8). */
export const invitationsOfAccount: Limit = { name: 'invitations-of', most: 20, perMs: dayMs };
export const invitationsToAddress: Limit = { name: 'invitations-to', most: 5, perMs: dayMs };

/**
 * The token in the link of an invitation. It is derived from the invitation and SECRETS_KEY, so a repeated mail contains
 * the same link, and it is stored only as a hash.
 */
export const invitationToken = ({ secrets }: Pick<Config, 'secrets'>, invitationId: string): string =>
  macOf(secrets, 'invitations', invitationId);

/** Invites an address. The invitation's id is derived from the form. */
export const invite = (
  config: Pick<Config, 'secrets'>,
  actor: TeamActor,
  { email, role }: { email: string; role: Role },
) =>
  changeTeam(
    actor,
    byOwner(actor, (team, at) => {
      const kept = team.invitations.filter(({ expiresAt }) => at.getTime() - expiresAt.getTime() < keptExpiredMs);
      if (team.members.some((member) => member.email === email)) return 'is_member';
      if (kept.some((invitation) => invitation.email === email)) return 'is_invited';
      if (isFull({ ...team, invitations: kept })) return 'full';
      const id = derivedInvitationId(actor.form);
      const invitedBy = actor.member.email;
      const invitation: Invitation = { id, email, role, invitedBy, at, ...validFrom(config, id, at) };
      return {
        team: { ...team, invitations: [...kept, invitation] },
        action: 'member_invited',
        about: `${email} as ${role}`,
      };
    }),
  );

const validFrom = (config: Pick<Config, 'secrets'>, id: string, at: Date) => ({
  expiresAt: new Date(at.getTime() + invitationLifetimeMs),
  hash: sha256(invitationToken(config, id)),
});

/** Makes an invitation valid for another 72 hours. Throws `not_found` for an unknown one. */
export const renewInvitation = (config: Pick<Config, 'secrets'>, actor: TeamActor, invitationId: string) =>
  changeTeam(
    actor,
    byOwner(actor, (team, at) => {
      const { email, role } = invitationIn(team, invitationId);
      const invitations = team.invitations.map((invitation) =>
        invitation.id === invitationId ? { ...invitation, ...validFrom(config, invitationId, at) } : invitation,
      );
      return { team: { ...team, invitations }, action: 'member_invited', about: `${email} as ${role}` };
    }),
  );

/** Withdraws an invitation: its link stops working. Throws `not_found` for an unknown one. */
export const withdrawInvitation = (actor: TeamActor, invitationId: string) =>
  changeTeam(
    actor,
    byOwner(actor, (team) => {
      const { email } = invitationIn(team, invitationId);
      const invitations = team.invitations.filter(({ id }) => id !== invitationId);
      return { team: { ...team, invitations }, action: 'invitation_withdrawn', about: email };
    }),
  );

/** The invitation with this id. Throws `not_found` for an unknown one. */
export function invitationIn({ invitations = [] }: Pick<Account, 'invitations'>, invitationId: string): Invitation {
  const found = invitations.find(({ id }) => id === invitationId);
  if (!found) throw new AppError('not_found');
  return found;
}

export interface FoundInvitation {
  account: Account;
  invitation: Invitation;
}

/** Finds an invitation by the hash of its token; null if it was used or withdrawn, has expired, or never existed. */
export async function findInvitation(hash: string, nowMs: number): Promise<FoundInvitation | null> {
  const account = await accounts.findOne({ 'invitations.hash': hash });
  const invitation = account?.invitations?.find((one) => one.hash === hash);
  return account && invitation && invitation.expiresAt.getTime() > nowMs ? { account, invitation } : null;
}

/**
 * Accepts an invitation for a person whose address was verified. Resolves with the account and the id of the new member;
 * with null if the invitation no longer works or is for another address. Accepting it again changes nothing.
 */
export async function joinAccount(
  hash: string,
  { email, from }: { email: string; from: string },
  nowMs: number,
): Promise<{ accountId: string; memberId: string } | null> {
  const memberId = derivedMemberId(hash);
  const found = await findInvitation(hash, nowMs);
  const isFound = found?.invitation.email === email;
  const joined = isFound ? found.account : await accountJoined(email, memberId);
  if (!joined) return null;
  const actor = { accountId: joined._id, form: sha256(`join ${hash}`), member: { id: memberId, email }, from };
  const changed = await changeTeam(actor, (team, joinedAt) => {
    const invitation = team.invitations.find((one) => one.hash === hash && one.expiresAt > joinedAt);
    if (!invitation) return 'gone';
    const { role } = invitation;
    const members = [...team.members, { id: memberId, email, role, joinedAt }];
    const invitations = team.invitations.filter((one) => one !== invitation);
    return { team: { members, invitations }, action: 'member_joined', about: role };
  });
  const members = 'account' in changed ? changed.account.members : undefined;
  return members?.some(({ id }) => id === memberId) ? { accountId: joined._id, memberId } : null;
}

/** The account that an address has joined as this member; undefined if there is none. */
const accountJoined = async (email: string, memberId: string): Promise<Account | undefined> =>
  (await accountsWith(email)).find(({ members }) => members?.some(({ id }) => id === memberId));
