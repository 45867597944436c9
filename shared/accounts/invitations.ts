import type { Config } from '../base/config.ts';
import { AppError } from '../base/errors.ts';
import { derivedInvitationId, derivedMemberId, sha256 } from '../base/ids.ts';
import { type Account, accounts, accountsWith, type Invitation, type Role } from './account.ts';
import { changeByOwner, changeTeam, isFull, type TeamActor } from './change-team.ts';
import { macOf, macsOf } from './derived-keys.ts';
import { charge, chargeWindow, type Limit, readLimit, refundWindow } from './limit.ts';
import { mayAddMissingRecords } from './sent-form.ts';
import type { MemberRef } from './session.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** An invitation can be accepted for this long after it was sent the last time. */
export const invitationLifetimeMs = 3 * dayMs;
/** An expired invitation is listed for this long, so that it can be sent again. */
const keptExpiredMs = 30 * dayMs;

/** The limits on invitations, which keep the service from being used to send unwanted mail (contract, section 8). */
export const invitationsOfAccount: Limit = { name: 'invitations-of', most: 20, perMs: dayMs };
export const invitationsToAddress: Limit = { name: 'invitations-to', most: 5, perMs: dayMs };

export type InvitationLimit = 'of the account' | 'to the address' | 'in all';

/**
 * Charges an invitation to its account, to its address in this account, and to the clock hour, once per form. Resolves
 * with the limit that is reached, and then nothing is charged; or with `refund`, for an invitation that is refused
 * afterwards. `refund` changes nothing if another request with this form was charged, because that one may have sent the
 * mail.
 */
export async function chargeInvitation(
  { signInMailsPerHour }: Pick<Config, 'signInMailsPerHour'>,
  { accountId, email, form }: { accountId: string; email: string; form: string },
  nowMs: number,
): Promise<{ tooMany: InvitationLimit; freesMs: number } | { refund(): Promise<void> }> {
  const { isCounted, waitMs } = await readLimit(invitationsOfAccount, accountId, nowMs, form);
  if (waitMs > 0) return { tooMany: 'of the account', freesMs: waitMs };
  const inAll = isCounted ? null : { name: 'invitation-mails', most: signInMailsPerHour, perMs: hourMs };
  const fullForMs = inAll ? await chargeWindow(inAll, nowMs) : 0;
  if (fullForMs > 0) return { tooMany: 'in all', freesMs: fullForMs };
  const refundInAll = async () => inAll && refundWindow(inAll, nowMs);
  const ofAccount = await charge(invitationsOfAccount, accountId, nowMs, form);
  if (ofAccount.isFull) {
    await refundInAll();
    return { tooMany: 'of the account', freesMs: ofAccount.freesMs };
  }
  const toAddress = await charge(invitationsToAddress, `${accountId}:${sha256(email)}`, nowMs, form);
  if (toAddress.isFull) {
    await Promise.all([ofAccount.refund(), refundInAll()]);
    return { tooMany: 'to the address', freesMs: toAddress.freesMs };
  }
  if (inAll && ofAccount.isNew) {
    return {
      async refund() {
        await Promise.all([ofAccount.refund(), toAddress.refund(), refundInAll()]);
      },
    };
  }
  // Another request with this form has charged the account, and so the clock hour before that.
  await refundInAll();
  return { refund: async () => {} };
}

/**
 * The token in the link of an invitation. It is derived from the invitation and the SECRETS_KEY with which the
 * invitation was stored, so a repeated mail contains the same link, and it is stored only as a hash. Undefined if that
 * key is no longer listed.
 */
export const invitationToken = (
  { secrets }: Pick<Config, 'secrets'>,
  { id, hash }: Pick<Invitation, 'id' | 'hash'>,
): string | undefined => macsOf(secrets, 'invitations', id).find((token) => sha256(token) === hash);

/** Invites an address. The invitation's id is derived from the form. */
export const invite = (
  config: Pick<Config, 'secrets'>,
  actor: TeamActor,
  { email, role }: { email: string; role: Role },
) =>
  changeByOwner(actor, (team, at) => {
    const kept = team.invitations.filter(({ expiresAt }) => at.getTime() - expiresAt.getTime() < keptExpiredMs);
    if (team.members.some((member) => member.email === email)) return 'is_member';
    if (kept.some((invitation) => invitation.email === email)) return 'is_invited';
    if (isFull({ ...team, invitations: kept })) return 'full';
    const id = derivedInvitationId(actor.form);
    const invitedBy = actor.member.email;
    const hash = sha256(macOf(config.secrets, 'invitations', id));
    const invitation: Invitation = { id, email, role, invitedBy, at, expiresAt: validUntil(at), hash };
    return {
      team: { ...team, invitations: [...kept, invitation] },
      action: 'member_invited',
      about: invitedAs({ email, role }),
    };
  });

const validUntil = (at: Date): Date => new Date(at.getTime() + invitationLifetimeMs);
const invitedAs = ({ email, role }: Pick<Invitation, 'email' | 'role'>): string => `${email} as ${role}`;

/** Makes an invitation valid for another 72 hours, if possible with the same link. Throws `not_found`. */
export const renewInvitation = (config: Pick<Config, 'secrets'>, actor: TeamActor, invitationId: string) =>
  changeByOwner(actor, (team, at) => {
    const found = invitationIn(team, invitationId);
    const token = invitationToken(config, found) ?? macOf(config.secrets, 'invitations', invitationId);
    const renewed = { ...found, expiresAt: validUntil(at), hash: sha256(token) };
    const invitations = team.invitations.map((invitation) => (invitation === found ? renewed : invitation));
    return { team: { ...team, invitations }, action: 'member_invited', about: invitedAs(found) };
  });

/**
 * The invitation that a form has sent or renewed, if its mail may still be sent: the form did just that, within the last
 * 24 hours. Any other form that is sent again to the same route causes no mail.
 */
export function invitationToMail(
  { invitations = [], teamForms = [] }: Account,
  form: string,
  invitationId: string,
  nowMs: number,
): Invitation | undefined {
  const invitation = invitations.find(({ id }) => id === invitationId);
  const applied = teamForms.find(({ id }) => id === form);
  const isOfForm = invitation && applied?.action === 'member_invited' && applied.about === invitedAs(invitation);
  return isOfForm && mayAddMissingRecords(applied.at, nowMs) ? invitation : undefined;
}

/** Withdraws an invitation: its link stops working. Throws `not_found` for an unknown one. */
export const withdrawInvitation = (actor: TeamActor, invitationId: string) =>
  changeByOwner(actor, (team) => {
    const { email } = invitationIn(team, invitationId);
    const invitations = team.invitations.filter(({ id }) => id !== invitationId);
    return { team: { ...team, invitations }, action: 'invitation_withdrawn', about: email };
  });

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
 * with `suspended` if the account is, and with null if the invitation no longer works or is for another address.
 * Accepting it again changes nothing.
 */
export async function joinAccount(
  hash: string,
  { email, from }: { email: string; from: string },
  nowMs: number,
): Promise<MemberRef | 'suspended' | null> {
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
  if ('refused' in changed) return changed.refused === 'suspended' ? 'suspended' : null;
  const { members } = changed.account;
  return members?.some(({ id }) => id === memberId) ? { accountId: joined._id, memberId } : null;
}

/** The account that an address has joined as this member; undefined if there is none. */
const accountJoined = async (email: string, memberId: string): Promise<Pick<Account, '_id'> | undefined> =>
  (await accountsWith(email)).find(({ members }) => members.some(({ id }) => id === memberId));
