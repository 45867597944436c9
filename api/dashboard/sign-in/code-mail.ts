import type { Config } from '../../../shared/config.ts';
import { exactText } from '../facts.tsx';

/** The mail that brings a code. The code comes first, where a notification shows it. */
export function codeMail({ publicBaseUrl }: Pick<Config, 'publicBaseUrl'>, code: string, askedAt: Date) {
  return {
    subject: 'Your code to sign in to Ride Partner',
    text: `${code} is your code to sign in to Ride Partner.

Type it into the page on which you asked for it, within 15 minutes.
It works once, and in that browser alone.

Somebody asked for it on ${exactText(askedAt)}, at
${publicBaseUrl}/dashboard
If it was not you, do nothing: nobody gets in without this code.
We never ask you to pass it on.
`,
  };
}
