import { type Member, parseEmail, roles } from '../../shared/accounts/account.ts';
import {
  changeRole,
  completeTeam,
  handOver,
  leaveAccount,
  memberIn,
  removeMember,
  renameAccount,
  setSupportPhone,
} from '../../shared/accounts/change-team.ts';
import { withdrawInvitation } from '../../shared/accounts/invitations.ts';
import { isAccountName } from '../../shared/accounts/members.ts';
import { sentForm } from '../../shared/accounts/sent-form.ts';
import { enterAccount, lastSeen, switchSession } from '../../shared/accounts/session.ts';
import { canBeTexted } from '../../shared/base/e164.ts';
import { characterFault } from '../../shared/base/shown-text.ts';
import { canSendMail } from '../../shared/mail/mail.ts';
import type { SentRequest } from '../kit/answer.ts';
import { choice, fault, text } from '../kit/declared-fields.tsx';
import { type Confirmation, form } from '../kit/form.ts';
import { accountField } from '../kit/form-fields.ts';
import { page } from '../kit/page.tsx';
import { everyone, owners, roleTexts } from '../kit/roles.ts';
import { actorOf, refusalOf, sendAgain, sendInvitation } from './team-invitations.ts';
import { roleOptions, teamView } from './team-view.tsx';

const roleOf = (typed: string) => roles.find((role) => role === typed);

function nameIn(typed: string): string {
  const [name, ofCharacters] = [typed.trim(), characterFault(typed.trim())];
  if (isAccountName(name)) return name;
  if (ofCharacters) fault(`The name ${ofCharacters}`);
  return fault(
    'Enter a name of up to 60 letters, digits, spaces and plain punctuation, without web addresses, mail addresses or long numbers',
  );
}

/** The number in E.164 form; empty for none. */
function supportPhoneIn(typed: string): string {
  const phone = typed.replaceAll(/[\s().-]/g, '');
  if (phone && !canBeTexted(phone)) fault('Enter a phone number with + and its country code, such as +1 202 555 0143');
  return phone;
}

const staysAsItIs = 'Rides and keys stay as they are.';
const confirmation = (member: Member, more: Omit<Confirmation, 'about'>, name?: string): Confirmation => ({
  about: (
    <>
      {name ?? <span class="breakable">{member.email}</span>}
      <span class="quiet">
        , {name && 'your role: '}
        {roleTexts[member.role].name}
      </span>
    </>
  ),
  ...more,
});

const invited = { invited: 'The invitation is sent. It can be accepted for 72 hours.' };

/**
 * The team of an account: its members, its invitations, and its name. Giving rights needs a recent code: otherwise, a
 * thief of a session could invite their own address, and see the secrets with its code.
 */
export const team = page('/team', {
  section: 'team',
  entry: 'Team',
  roles: everyone,
  async read({ account, service }) {
    if (account.member.role === 'owner') await completeTeam(account);
    const seen = await lastSeen(account.members.map(({ id }) => ({ accountId: account._id, memberId: id })));
    return { account, seen, now: service.now() };
  },
  view: teamView,
  forms: {
    name: form({
      roles: owners,
      fields: {
        name: text('Name', nameIn, {
          hint: 'Shown on every page and in invitations, for example “Grand Hotel”.',
          maxLength: 254,
        }),
      },
      act: async (request, { name }) => refusalOf(await renameAccount(actorOf(request), name)),
      done: { renamed: 'The name is saved.' },
    }),
    'support-phone': form({
      roles: owners,
      fields: {
        phone: text('Phone number for help', supportPhoneIn, {
          hint: 'Passengers call it with “I need help” on the live map. If it is empty, the operator’s number is used.',
          type: 'tel',
          maxLength: 40,
        }),
      },
      act: async (request, { phone }) => refusalOf(await setSupportPhone(actorOf(request), phone)),
      done: { 'support-phone': 'The phone number is saved.' },
    }),
    invitations: form({
      roles: owners,
      fields: {
        email: text(
          'E-mail',
          (typed) => parseEmail(typed) ?? fault('Enter an e-mail address, such as name@company.com'),
          { type: 'email', inputmode: 'email', maxLength: 254 },
        ),
        role: choice('Role', roleOptions, 'Choose a role'),
      },
      recentCode: ({ service }) => canSendMail(service.config) && ['email', 'role'],
      act: sendInvitation,
      done: invited,
    }),
    'send-again': form({
      path: '/team/invitations/:invitationId/send-again',
      roles: owners,
      act: sendAgain,
      done: invited,
    }),
    withdraw: form({
      path: '/team/invitations/:invitationId/withdraw',
      roles: owners,
      act: async (request) => refusalOf(await withdrawInvitation(actorOf(request), request.param('invitationId'))),
      done: { withdrawn: 'The invitation is withdrawn.' },
    }),
    role: form({
      path: '/team/members/:memberId/role',
      roles: owners,
      recentCode: ({ account, param, text }) => memberIn(account, param('memberId')) && roleOf(text('role')) && [],
      async act(request) {
        const role = roleOf(request.text('role'));
        if (!role) return { again: 422, refusal: 'Choose a role.' };
        return refusalOf(await changeRole(actorOf(request), request.param('memberId'), role));
      },
      done: { role: 'The role is saved. It applies from the next request.' },
    }),
    remove: form({
      path: '/team/members/:memberId/remove',
      roles: owners,
      confirm: ({ account, param }) =>
        confirmation(memberIn(account, param('memberId')), {
          title: 'Remove this member?',
          effects: [
            'The person is signed out of this account with the next request.',
            `${staysAsItIs} If the person knows a key or a signing secret, replace it.`,
          ],
          button: 'Remove',
          keep: 'Keep the member',
        }),
      act: async (request) => refusalOf(await removeMember(actorOf(request), request.param('memberId'))),
      done: { removed: 'The member is removed.' },
    }),
    leave: form({
      ofPerson: true,
      confirm: ({ account }) =>
        confirmation(
          account.member,
          {
            title: 'Leave this account?',
            effects: ['You no longer see this account. Only an owner can invite you again.', staysAsItIs],
            button: 'Leave account',
            keep: 'Stay',
          },
          account.name,
        ),
      act: leave,
    }),
    'hand-over': form({
      roles: owners,
      confirm: ({ account, query }) =>
        query('member')
          ? confirmation(memberIn(account, query('member')), {
              title: 'Hand over this account?',
              effects: ['This member becomes an owner.', 'You become a developer, and can no longer change the team.'],
              button: 'Hand over',
              keep: 'Stay owner',
              hidden: { member: query('member') },
            })
          : null,
      recentCode: () => ['member'],
      act: async (request) =>
        refusalOf(await handOver(actorOf(request), memberIn(request.account, request.text('member')).id)),
      done: { 'handed-over': 'The account is handed over. You are a developer now.' },
    }),
  },
});

/**
 * Leaves the account of the form, which may not be the current one any more. The session continues in another account of
 * the person, if there is one.
 */
async function leave(request: SentRequest) {
  const { service, account, session, formId, sent } = request;
  const here = { accountId: account._id, memberId: account.member.id };
  const others = account.others.map(({ _id: accountId, memberId }) => ({ accountId, memberId }));
  const leftId = request.text(accountField) || account._id;
  const left = [here, ...others].find(({ accountId }) => accountId === leftId);
  if (!left) return { redirectTo: '/dashboard' };
  const [next] = left === here ? others : [];
  if (next) await enterAccount(request, next, service.now());
  const { email } = account.member;
  // The form belongs to the account that it leaves. Another request with this form may have switched the session already.
  const { id } = sentForm(left.accountId, formId, sent.session);
  const actor = { ...actorOf(request), form: id, accountId: left.accountId, member: { id: left.memberId, email } };
  const changed = await leaveAccount(actor);
  if ('refused' in changed && next) await switchSession(session, here);
  return refusalOf(changed) ?? { redirectTo: '/dashboard' };
}
