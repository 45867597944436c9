import type { FoundInvitation } from '../../../shared/accounts/invitations.ts';
import { accountName } from '../../../shared/accounts/members.ts';
import { ChangeForm } from '../../../web/kit/forms.tsx';
import { invitationPath } from '../../../web/kit/paths.ts';
import { roleTexts } from '../../../web/kit/roles.ts';
import { outsidePage } from '../frame.tsx';
import type { Answer } from '../page-routes.ts';

/** Names the account and the role of an invitation that a person is about to accept. */
export function Joining({ account, invitation: { role } }: FoundInvitation) {
  return (
    <p class="notice joining">
      <span>
        You join <strong>{accountName(account)}</strong> as <strong>{roleTexts[role].name}</strong>:{' '}
        {roleTexts[role].text}.
      </span>
    </p>
  );
}

interface InvitationPageProps extends FoundInvitation {
  token: string;
  /** The address of the signed-in person; undefined without a session. */
  signedInAs?: string;
}

/** The page behind the link of an invitation. Opening it changes nothing. */
export function invitationPage({ token, signedInAs, ...found }: InvitationPageProps): string {
  const { email, invitedBy } = found.invitation;
  const title = `Join ${accountName(found.account)}`;
  const address = <strong class="address">{email}</strong>;
  return outsidePage({
    title,
    children: (
      <>
        <h1>{title}</h1>
        <p class="lead">
          <span class="breakable">{invitedBy}</span> invites you.
        </p>
        {signedInAs !== undefined && signedInAs !== email ? (
          <>
            <p class="lead">
              The invitation is for {address}, and you are signed in as <strong class="address">{signedInAs}</strong>.
              Sign out, then open the link again.
            </p>
            <form method="post" action="/dashboard/sign-out" class="form">
              <button class="btn" type="submit">
                Sign out
              </button>
            </form>
          </>
        ) : (
          <>
            <Joining {...found} />
            {signedInAs === undefined && <p class="lead">To sign in, you get a code by mail to {address}.</p>}
            <ChangeForm action={invitationPath(token)} class="form">
              <button class="btn" type="submit" autofocus>
                {signedInAs === undefined ? 'Send code' : 'Join'}
              </button>
            </ChangeForm>
          </>
        )}
      </>
    ),
  });
}

/** The answer for an invitation that was used or withdrawn, or has expired. */
export function goneInvitation(): Answer {
  const title = 'This invitation does not work';
  const html = outsidePage({
    title,
    children: (
      <>
        <h1>{title}</h1>
        <p class="lead">
          An invitation works once, for 72 hours, until it is withdrawn. If you have joined already, sign in. Otherwise,
          ask the person who invited you for a new one.
        </p>
        <p>
          <a class="btn second" href="/dashboard">
            Go to the dashboard
          </a>
        </p>
      </>
    ),
  });
  return { html, status: 404, code: 'link_not_found' };
}
