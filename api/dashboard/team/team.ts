import { parseEmail, roles } from '../../../shared/accounts/account.ts';
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
  withdrawInvitation,
} from '../../../shared/accounts/invitations.ts';
import { accountName, isAccountName } from '../../../shared/accounts/members.ts';
import { sentForm } from '../../../shared/accounts/sent-form.ts';
import { lastSeen, switchSession } from '../../../shared/accounts/session.ts';
import {
  changeRole,
  type changeTeam,
  completeTeam,
  handOver,
  leaveAccount,
  memberIn,
  removeMember,
  renameAccount,
  type TeamActor,
  type TeamRefusal,
} from '../../../shared/accounts/team.ts';
import type { Context } from '../../../shared/base/context.ts';
import { AppError } from '../../../shared/base/errors.ts';
import { derivedMailId } from '../../../shared/base/ids.ts';
import { mongoNow } from '../../../shared/base/mongo/clock.ts';
import { characterFault } from '../../../shared/base/shown-text.ts';
import { canSendMail, sendMail } from '../../../shared/mail/mail.ts';
import { clientAddress } from '../../http/forwarded.ts';
import { waitText } from '../facts.tsx';
import { accountField } from '../form-fields.ts';
import type { Faults } from '../forms.tsx';
import {
  type Answer,
  askForCode,
  type DashboardRoute,
  type FormRequest,
  formIdOf,
  type PageRequest,
  signedInRoutes,
  suspended,
} from '../page-routes.ts';
import { teamPath } from '../paths.ts';
import { roleTexts } from '../rights.ts';
import { confirmTeamPage } from './confirm-team.tsx';
import { invitationMail } from './mails.ts';
import { enterAccount } from './switch.ts';
import { teamPage } from './team-page.tsx';

type Changed = Awaited<ReturnType<typeof changeTeam>>;

/**
 * The team of an account: its members, its invitations, and its name. Giving rights needs a recent code: otherwise, a
 * thief of a session could invite their own address, and see the secrets with its code.
 */
export function teamRoutes(service: Context): DashboardRoute[] {
  const { config } = service;
  const { page, action } = signedInRoutes(service);

  const actorOf = ({ ctx, account, sent }: FormRequest): TeamActor => ({
    accountId: account._id,
    form: sent.id,
    member: account.member,
    from: clientAddress(ctx, service),
  });

  interface Shown {
    typed?: Record<string, string>;
    faults?: Faults;
    refusal?: string;
    status?: number;
  }
  async function showTeam({ account, query }: PageRequest, { status = 200, ...shown }: Shown = {}): Promise<Answer> {
    if (account.member.role === 'owner') await completeTeam(account);
    const refs = account.members.map(({ id }) => ({ accountId: account._id, memberId: id }));
    const seen = await lastSeen(refs);
    return { html: teamPage({ account, seen, now: service.now(), done: query('done'), ...shown }), status };
  }

  const refused = async (request: FormRequest, why: TeamRefusal): Promise<Answer> => {
    if (why === 'suspended') return suspended;
    return showTeam(request, { refusal: refusals[why], status: why === 'not_owner' ? 403 : 409 });
  };

  /** Answers a form: with the team's page, or with that page and the refusal. */
  const answerOf = (request: FormRequest, changed: Changed, done: string): Promise<Answer> | Answer =>
    'refused' in changed ? refused(request, changed.refused) : { redirectTo: `${teamPath}?done=${done}` };

  /** Sends the mail of an invitation, once per form. */
  async function mailInvitation(request: FormRequest, changed: Changed, invitationId: string): Promise<void> {
    if ('refused' in changed) return;
    const nowMs = (await mongoNow()).getTime();
    const invitation = invitationToMail(changed.account, request.sent.id, invitationId, nowMs);
    if (!invitation) return;
    const link = invitationToken(config, invitation);
    // Only a process with a newer SECRETS_KEY knows the link.
    if (!link) throw new AppError('unavailable');
    const mail = invitationMail(config, { name: accountName(changed.account), invitation, link });
    await sendMail(service, { to: invitation.email, ...mail }, derivedMailId('invitation', request.sent.id));
  }

  /**
   * Changes an invitation, and charges its mail first, so that no order of requests sends more mails than the limits allow.
   * Refunds the charge if the change is refused. A form that is already applied is not charged. Resolves with the answer
   * at a limit, or with the result of the change.
   */
  async function changeCharged(
    request: FormRequest,
    email: string,
    shown: Shown,
    change: () => Promise<Changed>,
  ): Promise<{ limited: Answer } | { changed: Changed }> {
    const { account, ctx, sent } = request;
    if (account.teamForms?.some(({ id }) => id === sent.id)) return { changed: await change() };
    const charged = await chargeInvitation(config, { accountId: account._id, email, form: sent.id }, service.now());
    if ('tooMany' in charged) {
      ctx.set('Retry-After', String(Math.ceil(charged.freesMs / 1_000)));
      const refusal = `${limitTexts[charged.tooMany]}. Try again in ${waitText(charged.freesMs)}.`;
      return { limited: await showTeam(request, { ...shown, refusal, status: 429 }) };
    }
    try {
      const changed = await change();
      if ('refused' in changed) await charged.refund();
      return { changed };
    } catch (error) {
      // After any other error, the change may have been made.
      if (error instanceof AppError && error.code === 'not_found') await charged.refund();
      throw error;
    }
  }

  async function sendInvitation(request: FormRequest): Promise<Answer> {
    const { form } = request;
    const typed = { email: form.text('email'), role: form.text('role') };
    const [email, role] = [parseEmail(typed.email), roles.find((known) => known === typed.role)];
    if (!email || !role) {
      const faults: Faults = {
        ...(!email && { email: 'Enter an e-mail address, such as name@company.com' }),
        ...(!role && { role: 'Choose a role' }),
      };
      return showTeam(request, { typed, faults, status: 422 });
    }
    if (!canSendMail(config)) return showTeam(request, { typed, refusal: noMail, status: 503 });
    const again = new URLSearchParams({ email, role });
    const unconfirmed = askForCode(request, `${teamPath}?${again}`, service.now());
    if (unconfirmed) return unconfirmed;
    const made = await changeCharged(request, email, { typed }, () =>
      invite(config, actorOf(request), { email, role }),
    );
    if ('limited' in made) return made.limited;
    const { changed } = made;
    const taken = 'refused' in changed && takenTexts[changed.refused];
    if (taken) return showTeam(request, { typed, faults: { email: taken }, status: 422 });
    const sent = 'account' in changed && changed.account.invitations?.find((one) => one.email === email);
    if (sent) await mailInvitation(request, changed, sent.id);
    return answerOf(request, changed, 'invited');
  }

  async function sendAgain(request: FormRequest): Promise<Answer> {
    const invitationId = request.param('invitationId');
    const { email } = invitationIn(request.account, invitationId);
    if (!canSendMail(config)) return showTeam(request, { refusal: noMail, status: 503 });
    const made = await changeCharged(request, email, {}, () => renewInvitation(config, actorOf(request), invitationId));
    if ('limited' in made) return made.limited;
    const { changed } = made;
    await mailInvitation(request, changed, invitationId);
    return answerOf(request, changed, 'invited');
  }

  async function rename(request: FormRequest): Promise<Answer> {
    const name = request.form.text('name').trim();
    if (!isAccountName(name))
      return showTeam(request, { typed: { name }, faults: { name: faultOfName(name) }, status: 422 });
    return answerOf(request, await renameAccount(actorOf(request), name), 'renamed');
  }

  /**
   * Leaves the account of the form, which may not be the current one any more. The session continues in another account
   * of the person, if there is one.
   */
  async function leave(request: FormRequest): Promise<Answer> {
    const { account, form, session } = request;
    const here = { accountId: account._id, memberId: account.member.id };
    const others = account.others.map(({ _id: accountId, memberId }) => ({ accountId, memberId }));
    const left = [here, ...others].find(({ accountId }) => accountId === (form.text(accountField) || account._id));
    if (!left) return { redirectTo: '/dashboard' };
    const [next] = left === here ? others : [];
    if (next) await enterAccount(service, request, next);
    const { email } = account.member;
    // The form belongs to the account that it leaves. Another request with this form may have switched the session already.
    const { id } = sentForm(left.accountId, formIdOf(form), request.sent.session);
    const actor = { ...actorOf(request), form: id, accountId: left.accountId, member: { id: left.memberId, email } };
    const changed = await leaveAccount(actor);
    if (!('refused' in changed)) return { redirectTo: '/dashboard' };
    if (next) await switchSession(session, here);
    return refused(request, changed.refused);
  }

  const back = (path: string) => page(path, () => ({ redirectTo: teamPath }));
  return [
    page('/team', (request) =>
      showTeam(request, { typed: { email: request.query('email'), role: request.query('role') } }),
    ),
    action('/team/name', rename),
    back('/team/name'),
    action('/team/invitations', sendInvitation),
    back('/team/invitations'),
    action('/team/invitations/:invitationId/send-again', sendAgain),
    action('/team/invitations/:invitationId/withdraw', async (request) =>
      answerOf(request, await withdrawInvitation(actorOf(request), request.param('invitationId')), 'withdrawn'),
    ),
    action('/team/members/:memberId/role', async (request) => {
      const { id } = memberIn(request.account, request.param('memberId'));
      const role = roles.find((known) => known === request.form.text('role'));
      if (!role) return showTeam(request, { refusal: 'Choose a role.', status: 422 });
      const unconfirmed = askForCode(request, teamPath, service.now());
      if (unconfirmed) return unconfirmed;
      return answerOf(request, await changeRole(actorOf(request), id, role), 'role');
    }),
    page('/team/members/:memberId/remove', ({ account, param }) =>
      confirmTeamPage({ account, question: 'remove', member: memberIn(account, param('memberId')) }),
    ),
    action('/team/members/:memberId/remove', async (request) =>
      answerOf(request, await removeMember(actorOf(request), request.param('memberId')), 'removed'),
    ),
    page('/team/leave', ({ account }) => confirmTeamPage({ account, question: 'leave', member: account.member })),
    action('/team/leave', leave, { ofPerson: true }),
    page('/team/hand-over', ({ account, query }) => {
      if (!query('member')) return { redirectTo: teamPath };
      return confirmTeamPage({ account, question: 'hand-over', member: memberIn(account, query('member')) });
    }),
    action('/team/hand-over', async (request) => {
      const member = request.form.text('member');
      const unconfirmed = askForCode(
        request,
        `${teamPath}/hand-over?member=${encodeURIComponent(member)}`,
        service.now(),
      );
      return (
        unconfirmed ??
        answerOf(request, await handOver(actorOf(request), memberIn(request.account, member).id), 'handed-over')
      );
    }),
  ];
}

const noMail = 'This service has no mail server yet, so it cannot send invitations.';
const faultOfName = (name: string): string => {
  const fault = characterFault(name);
  return fault ? `The name ${fault}` : nameFault;
};
const nameFault =
  'Enter a name of up to 60 letters, digits, spaces and plain punctuation, without web addresses, mail addresses or long numbers';

const limitTexts: Readonly<Record<InvitationLimit, string>> = {
  'of the account': `This account has sent ${invitationsOfAccount.most} invitations in 24 hours, the most it can`,
  'to the address': `This account has sent ${invitationsToAddress.most} invitations to this address in 24 hours, the most it can`,
  'in all': 'This service has sent as many invitations in this hour as it can',
};

const takenTexts: Partial<Record<TeamRefusal, string>> = {
  is_member: 'This address is already a member',
  is_invited: 'This address is already invited: send the invitation again, or withdraw it',
};

const refusals: Readonly<Record<TeamRefusal, string>> = {
  not_owner: `Only an ${roleTexts.owner.name.toLowerCase()} can do this, and you no longer are one. Nothing was changed.`,
  last_owner: 'An account needs an owner: make another member an owner first. Nothing was changed.',
  full: 'This account has 100 members and invitations, the most it can. Remove or withdraw one first.',
  is_member: '',
  is_invited: '',
  gone: '',
  suspended: '',
};
