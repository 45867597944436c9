import type { Role } from '../../shared/accounts/account.ts';

/** The groups of roles that may use a page or a form, and what each role is for. */

export const owners: readonly Role[] = ['owner'];
/** Who builds and watches the integration. */
export const builders: readonly Role[] = ['owner', 'developer'];
/** Who books rides, and sees their passengers. */
export const bookers: readonly Role[] = ['owner', 'developer', 'desk'];
/** Who sees usage and prices. */
export const accountants: readonly Role[] = ['owner', 'developer', 'finance'];
export const everyone: readonly Role[] = ['owner', 'developer', 'desk', 'finance'];

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
