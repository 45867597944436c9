/** The addresses of the dashboard. Pure. */

export const keysPath = '/dashboard/keys';
export const keyPath = (keyId: string): string => `${keysPath}/${keyId}`;

export const ridesPath = '/dashboard/rides';
export const ridesOfKeyPath = (keyId: string): string => `${ridesPath}?key=${keyId}`;
export const ridePath = (rideId: string): string => `${ridesPath}/${encodeURIComponent(rideId)}`;
/** One entry of a ride's timeline. The fragment scrolls to the detail where it is below the timeline. */
export const entryPath = (rideId: string, entryId: string): string => `${ridePath(rideId)}?entry=${entryId}#detail`;

export const deliveriesPath = '/dashboard/deliveries';
export const deliveriesOfKeyPath = (keyId: string): string => `${deliveriesPath}?key=${keyId}`;
export const failedDeliveriesPath = (keyId: string): string => `${deliveriesOfKeyPath(keyId)}&outcome=missed`;
export const attemptPath = (attemptId: string): string => `${deliveriesPath}/${encodeURIComponent(attemptId)}`;

export const usagePath = '/dashboard/usage';
/** The usage page with the rides of one month. */
export const monthPath = (month: string): string => `${usagePath}?month=${month}`;
export const statementPath = (month: string, page = 1): string =>
  `${usagePath}/${month}${page > 1 ? `?page=${page}` : ''}`;
export const csvPath = (month: string): string => `${usagePath}/${month}/statement.csv`;

export const consoleRidePath = (rideId: string): string => `/dashboard/console/${rideId}`;

/** The page that opens from the link in a mail. */
export const linkPath = (link: string): string => `/dashboard/sign-in/link/${link}`;

const own = 'http://own.invalid';
const longest = 2_000;

/** The page of the dashboard that a `next` leads back to: path, query and fragment. Anything else leads to the first page. */
export function nextPage(next: string): string {
  if (next.length > longest || !URL.canParse(next, own)) return '/dashboard';
  // Resolved as a browser does it: `//host`, `/\host` and `/dashboard/../path` lead elsewhere.
  const { origin, pathname, search, hash } = new URL(next, own);
  return origin === own && pathname.startsWith('/dashboard/') ? pathname + search + hash : '/dashboard';
}
