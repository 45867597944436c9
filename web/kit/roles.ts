import type { Role } from '../../shared/accounts/account.ts';

/** The groups of roles that may use a page or a form, and what each role is for. */

export const owners = ['owner'] as const;
/** Who builds and watches the integration. */
export const builders = ['owner', 'developer'] as const;
/** Who books rides, and sees their passengers. */
export const bookers = ['owner', 'developer', 'desk'] as const;
/** Who sees usage and prices. */
export const accountants = ['owner', 'developer', 'finance'] as const;
export const everyone = ['owner', 'developer', 'desk', 'finance'] as const;

export const roleTexts: Readonly<Record<Role, { name: string; text: string }>> = {
  owner: { name: 'Owner', text: 'everything, including the team' },
  developer: { name: 'Developer', text: 'keys, webhooks, secrets, console, rides and usage' },
  desk: { name: 'Desk', text: 'books, follows, accepts and cancels rides' },
  finance: { name: 'Finance', text: 'usage and statements, without passengers' },
};

/** The first page that a role sees after it has signed in. */
export const firstPages: Readonly<Record<Role, string>> = {
  owner: '/dashboard',
  developer: '/dashboard',
  desk: '/dashboard/desk',
  finance: '/dashboard/usage',
};
