import { type FoundInvitation, findInvitation, joinAccount } from '../../shared/accounts/invitations.ts';
import { accountName } from '../../shared/accounts/members.ts';
import { enterAccount } from '../../shared/accounts/session.ts';
import { sha256 } from '../../shared/base/ids.ts';
import { canSendMail } from '../../shared/mail/mail.ts';
import type { Answer, OfDashboard, Person, PublicRequest } from '../kit/answer.ts';
import { Submit } from '../kit/blocks.tsx';
import { outsidePage } from '../kit/document.tsx';
import { suspended } from '../kit/error-page.tsx';
import { formIdOf } from '../kit/form-fields.ts';
import { ChangeForm } from '../kit/forms.tsx';
import { invitationPath } from '../kit/paths.ts';
import type { PublicRoute } from '../kit/public-pages.ts';
import { goneInvitation, Joining } from './joining.tsx';
import { mailCode, noMail } from './sign-in-code.tsx';
import { signInCookies } from './sign-in-cookies.ts';

/**
 * The link of an invitation. Opening it changes nothing. Its button makes a signed-in person join; other people get a
 * code at the invited address, and join when they sign in with it. So nobody joins without access to the address.
 */
export const invitationRoutes: PublicRoute<OfDashboard>[] = [
  { method: 'GET', path: '/sign-in/invitation/:invitation', answer: show },
  { method: 'POST', path: '/sign-in/invitation/:invitation', answer: accept },
];

const hashOf = ({ param }: PublicRequest) => sha256(param('invitation'));

async function show(request: PublicRequest & OfDashboard): Promise<Answer> {
  const [found, person] = await Promise.all([findInvitation(hashOf(request), request.service.now()), request.person()]);
  if (!found) return goneInvitation();
  // The browser gets its cookie before it requests a code.
  if (!person) signInCookies(request).browserToken();
  const token = request.param('invitation');
  return { html: invitationPage({ ...found, token, signedInAs: person?.account.member.email }) };
}

async function accept(request: PublicRequest & OfDashboard): Promise<Answer> {
  const formId = formIdOf(await request.form());
  const person = await request.person();
  if (person) return join(request, person, formId);
  const found = await findInvitation(hashOf(request), request.service.now());
  return found ? sendCode(request, found, formId) : goneInvitation();
}

async function join(request: PublicRequest & OfDashboard, person: Person, formId: string): Promise<Answer> {
  const { service, from } = request;
  const { account } = person;
  const joined = await joinAccount(hashOf(request), { email: account.member.email, from }, service.now());
  if (!joined) return goneInvitation();
  if (joined === 'suspended') return suspended;
  if (joined.accountId !== account._id) await enterAccount({ ...person, formId, from }, joined, service.now());
  return { redirectTo: '/dashboard' };
}

async function sendCode(
  request: PublicRequest & OfDashboard,
  { invitation: { email, hash } }: FoundInvitation,
  formId: string,
): Promise<Answer> {
  if (!canSendMail(request.service.config)) return noMail();
  const cookies = signInCookies(request);
  const browser = { token: cookies.browserToken(), device: cookies.device(email) };
  const refused = await mailCode(request, { email, browser, formId, next: '/dashboard', invitation: hash });
  return refused ?? { redirectTo: '/dashboard?sent' };
}

interface InvitationPageProps extends FoundInvitation {
  token: string;
  /** The address of the signed-in person; undefined without a session. */
  signedInAs?: string;
}

/** The page behind the link of an invitation. Opening it changes nothing. */
function invitationPage({ token, signedInAs, ...found }: InvitationPageProps): string {
  const { email, invitedBy } = found.invitation;
  const address = <strong class="address">{email}</strong>;
  return outsidePage({
    title: `Join ${accountName(found.account)}`,
    children: (
      <>
        <p>
          <span class="breakable">{invitedBy}</span> invites you.
        </p>
        {signedInAs !== undefined && signedInAs !== email ? (
          <>
            <p>
              The invitation is for {address}, and you are signed in as <strong class="address">{signedInAs}</strong>.
              Sign out, then open the link again.
            </p>
            <form method="post" action="/dashboard/sign-out" class="form">
              <Submit>Sign out</Submit>
            </form>
          </>
        ) : (
          <>
            <Joining {...found} />
            {signedInAs === undefined && <p>To sign in, you get a code by mail to {address}.</p>}
            <ChangeForm action={invitationPath(token)} class="form">
              <Submit autofocus>{signedInAs === undefined ? 'Send code' : 'Join'}</Submit>
            </ChangeForm>
          </>
        )}
      </>
    ),
  });
}
