import type { FoundInvitation } from '../../shared/accounts/invitations.ts';
import { accountName } from '../../shared/accounts/members.ts';
import type { Answer } from '../kit/answer.ts';
import { ButtonLink } from '../kit/blocks.tsx';
import { outsidePage } from '../kit/document.tsx';
import { roleTexts } from '../kit/roles.ts';

/** What the pages of an invitation and of the sign-in say about it. */

/** Names the account and the role of an invitation that a person is about to accept. */
export function Joining({ account, invitation: { role } }: FoundInvitation) {
  return (
    <p class="notice">
      <span>
        You join <strong>{accountName(account)}</strong> as <strong>{roleTexts[role].name}</strong>:{' '}
        {roleTexts[role].text}.
      </span>
    </p>
  );
}

/** The answer for an invitation that was used or withdrawn, or has expired. */
export function goneInvitation(): Answer {
  const html = outsidePage({
    title: 'This invitation does not work',
    children: (
      <>
        <p>
          An invitation works once, for 72 hours, until it is withdrawn. If you have joined already, sign in. Otherwise,
          ask the person who invited you for a new one.
        </p>
        <p>
          <ButtonLink to="/dashboard">Go to the dashboard</ButtonLink>
        </p>
      </>
    ),
  });
  return { html, status: 404, code: 'link_not_found' };
}
