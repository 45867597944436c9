import type { Account, Invitation } from '../../shared/accounts/account.ts';
import type { changeTeam, TeamActor, TeamRefusal } from '../../shared/accounts/change-team.ts';
import {
  chargeInvitation,
  type InvitationLimit,
  invitationIn,
  invitationsOfAccount,
  invitationsToAddress,
  invitationToken,
  invitationToMail,
  invite,
  renewInvitation,
} from '../../shared/accounts/invitations.ts';
import { accountName } from '../../shared/accounts/members.ts';
import { AppError } from '../../shared/base/errors.ts';
import { derivedMailId } from '../../shared/base/ids.ts';
import { mongoNow } from '../../shared/base/mongo/clock.ts';
import { canSendMail, sendMail } from '../../shared/mail/mail.ts';
import { retryAfter, type SentRequest } from '../kit/answer.ts';
import { suspended } from '../kit/error-page.tsx';
import { exactText, waitText } from '../kit/facts.tsx';
import { invitationPath } from '../kit/paths.ts';
import { roleTexts } from '../kit/roles.ts';

type Changed = Awaited<ReturnType<typeof changeTeam>>;

/** The member who changes the team, and the form that was sent. */
export const actorOf = ({ account, sent, from }: SentRequest): TeamActor => ({
  accountId: account._id,
  form: sent.id,
  member: account.member,
  from,
});

const refusals: Partial<Record<TeamRefusal, string>> = {
  not_owner: `Only an ${roleTexts.owner.name.toLowerCase()} can do this, and you no longer are one. Nothing was changed.`,
  last_owner: 'An account needs an owner: make another member an owner first. Nothing was changed.',
  full: 'This account has 100 members and invitations, the most it can. Remove or withdraw one first.',
};
const takenTexts: Partial<Record<TeamRefusal, string>> = {
  is_member: 'This address is already a member',
  is_invited: 'This address is already invited: send the invitation again, or withdraw it',
};
const limitTexts: Readonly<Record<InvitationLimit, string>> = {
  'of the account': `This account has sent ${invitationsOfAccount.most} invitations in 24 hours, the most it can`,
  'to the address': `This account has sent ${invitationsToAddress.most} invitations to this address in 24 hours, the most it can`,
  'in all': 'This service has sent as many invitations in this hour as it can',
};
const noMail = { again: 503, refusal: 'This service has no mail server yet, so it cannot send invitations.' };

/** The answer to a refused change; undefined after a change that was made. */
export function refusalOf(changed: Changed) {
  if (!('refused' in changed)) return undefined;
  const { refused } = changed;
  if (refused === 'suspended') return suspended;
  const email = takenTexts[refused];
  if (email) return { again: 422, faults: { email } };
  return { again: refused === 'not_owner' ? 403 : 409, refusal: refusals[refused] };
}

export const sendInvitation = (request: SentRequest, invitation: Pick<Invitation, 'email' | 'role'>) =>
  changeAndMail(
    request,
    invitation.email,
    () => invite(request.service.config, actorOf(request), invitation),
    ({ email }) => email === invitation.email,
  );

export function sendAgain(request: SentRequest) {
  const invitationId = request.param('invitationId');
  return changeAndMail(
    request,
    invitationIn(request.account, invitationId).email,
    () => renewInvitation(request.service.config, actorOf(request), invitationId),
    ({ id }) => id === invitationId,
  );
}

/**
 * Changes an invitation and sends its mail, once per form. Charges the mail first, so that no order of requests sends more
 * mails than the limits allow, and refunds the charge if the change is refused. A form that is already applied is not
 * charged.
 */
async function changeAndMail(
  request: SentRequest,
  to: string,
  change: () => Promise<Changed>,
  isChanged: (invitation: Invitation) => boolean,
) {
  const { account, sent, service } = request;
  const { config } = service;
  if (!canSendMail(config)) return noMail;
  const isApplied = account.teamForms?.some(({ id }) => id === sent.id);
  const charged = isApplied
    ? { refund: async () => {} }
    : await chargeInvitation(config, { accountId: account._id, email: to, form: sent.id }, service.now());
  if ('tooMany' in charged) {
    const refusal = `${limitTexts[charged.tooMany]}. Try again in ${waitText(charged.freesMs)}.`;
    return { again: 429, refusal, headers: retryAfter(charged.freesMs) };
  }
  const changed = await change().catch(async (error) => {
    // After any other error, the change may have been made.
    if (error instanceof AppError && error.code === 'not_found') await charged.refund();
    throw error;
  });
  if ('refused' in changed) await charged.refund();
  else await mailInvitation(request, changed.account, changed.account.invitations?.find(isChanged)?.id);
  return refusalOf(changed);
}

/** Sends the mail of an invitation, once per form. Its only text from the account is the account's name (isAccountName). */
async function mailInvitation({ sent, service }: SentRequest, account: Account, id = ''): Promise<void> {
  const invitation = invitationToMail(account, sent.id, id, (await mongoNow()).getTime());
  if (!invitation) return;
  const link = invitationToken(service.config, invitation);
  // Only a process with a newer SECRETS_KEY knows the link.
  if (!link) throw new AppError('unavailable');
  const { email, invitedBy, role, expiresAt } = invitation;
  const mail = {
    to: email,
    subject: 'An invitation to Ride Partner',
    text: `${invitedBy} invites you to the account "${accountName(account)}" of Ride Partner.

Your role: ${roleTexts[role].name} (${roleTexts[role].text})

To join, open this link and sign in as ${email}:
${service.config.publicBaseUrl}${invitationPath(link)}

The link works once, until ${exactText(expiresAt)}.
If you do not know the sender, do nothing: without you, nothing happens.
`,
  };
  await sendMail(service, mail, derivedMailId('invitation', sent.id));
}
