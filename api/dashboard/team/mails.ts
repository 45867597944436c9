import type { Invitation } from '../../../shared/accounts/account.ts';
import type { Config } from '../../../shared/base/config.ts';
import { exactText } from '../facts.tsx';
import { invitationPath } from '../paths.ts';
import { roleTexts } from '../rights.ts';

/** An invitation to an account. Its only text from the inviting account is the account's name (isAccountName). */
export function invitationMail(
  { publicBaseUrl }: Pick<Config, 'publicBaseUrl'>,
  { name, invitation, link }: { name: string; invitation: Invitation; link: string },
) {
  const { email, invitedBy, role, expiresAt } = invitation;
  return {
    subject: 'An invitation to Ride Partner',
    text: `${invitedBy} invites you to the account "${name}" of Ride Partner.

Your role: ${roleTexts[role].name} (${roleTexts[role].text})

To join, open this link and sign in as ${email}:
${publicBaseUrl}${invitationPath(link)}

The link works once, until ${exactText(expiresAt)}.
If you do not know the sender, do nothing: without you, nothing happens.
`,
  };
}
