import type { Config } from '../../shared/base/config.ts';
import { exactText } from '../kit/facts.tsx';
import { linkPath } from '../kit/paths.ts';

type Settings = Pick<Config, 'publicBaseUrl'>;

/** The mail with a code and a link. The code comes first, so that a notification shows it. */
export function codeMail({ publicBaseUrl }: Settings, { code, link }: { code: string; link: string }, askedAt: Date) {
  return {
    subject: 'Your code to sign in to Ride Partner',
    text: `${code} is your code to sign in to Ride Partner.

Enter it within 15 minutes on the page where you asked for it.
Or open this link in the same browser, within an hour:
${publicBaseUrl}${linkPath(link)}

The code and the link work only once, and only in that browser.

Somebody asked for this mail on ${exactText(askedAt)}, at
${publicBaseUrl}/dashboard
If it was not you, do nothing: nobody can sign in without this mail.
Do not forward this mail or share the code. We never ask for it.
`,
  };
}

/** Reports the first sign-in with this address from a browser. */
export function newBrowserMail(
  { publicBaseUrl }: Settings,
  { browser, network }: { browser: string; network: string },
  at: Date,
) {
  return {
    subject: 'A new browser has signed in to Ride Partner',
    text: `A new browser has signed in with your address.

Browser: ${browser}
Network: ${network}
Time: ${exactText(at)}

If it was you, you need not do anything.
If it was not you, end this session now, and rotate your keys:
${publicBaseUrl}/dashboard/account
Then change the password of your mailbox: somebody can read your mail.
`,
  };
}

/** Reports wrong codes that were entered for an address. */
export function wrongCodesMail({ publicBaseUrl }: Settings, count: number, at: Date) {
  return {
    subject: 'Wrong codes were entered for your Ride Partner account',
    text: `Somebody has entered ${count} wrong codes for your address within a day.
The last one: ${exactText(at)}

Nobody got in. After 20 wrong codes within a day, no code is accepted,
except in a browser in which you have signed in before. You can always
sign in with the link in a code mail: this limit does not apply to it.
${publicBaseUrl}/dashboard

We send this mail once a day at most.
`,
  };
}
