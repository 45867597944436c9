/** The URLs of the dashboard. Pure. */

export const keysPath = '/dashboard/keys';
export const keyPath = (keyId: string): string => `${keysPath}/${keyId}`;

export const endpointPath = (keyId: string, endpointId: string): string =>
  `${keyPath(keyId)}/endpoints/${encodeURIComponent(endpointId)}`;

export const ridesPath = '/dashboard/rides';
export const ridesOfKeyPath = (keyId: string): string => `${ridesPath}?key=${keyId}`;
export const ridePath = (rideId: string): string => `${ridesPath}/${encodeURIComponent(rideId)}`;
/** One entry of a ride's timeline. The fragment scrolls to its details. */
export const entryPath = (rideId: string, entryId: string): string => `${ridePath(rideId)}?entry=${entryId}#detail`;

/** The desk, or one of its forms of a ride. */
export const deskPath = (rideId?: string, form?: 'accept' | 'cancel' | 'change' | 'tell' | 'start'): string =>
  rideId ? `/dashboard/desk/rides/${encodeURIComponent(rideId)}/${form}` : '/dashboard/desk';
export const receiptPath = (rideId: string): string => `${ridePath(rideId)}/receipt`;
export const deskPlacesPath = '/dashboard/desk/places';
export const deskSettingsPath = '/dashboard/desk/settings';

export const deliveriesPath = '/dashboard/deliveries';
export const deliveriesOfKeyPath = (keyId: string): string => `${deliveriesPath}?key=${keyId}`;
export const failedDeliveriesPath = (keyId: string): string => `${deliveriesOfKeyPath(keyId)}&outcome=missed`;
export const attemptPath = (attemptId: string): string => `${deliveriesPath}/${encodeURIComponent(attemptId)}`;

export const signaturePath = '/dashboard/signature';
/** The signature check, filled in with the request of an attempt. */
export const signatureOfAttemptPath = (attemptId: string): string => `${signaturePath}?attempt=${attemptId}`;

export const usagePath = '/dashboard/usage';
/** The usage page with the rides of one month. */
export const monthPath = (month: string): string => `${usagePath}?month=${month}`;
export const statementPath = (month: string, page = 1): string =>
  `${usagePath}/${month}${page > 1 ? `?page=${page}` : ''}`;
export const csvPath = (month: string): string => `${usagePath}/${month}/statement.csv`;

export const consolePath = '/dashboard/console';
export const consoleRidePath = (rideId: string): string => `${consolePath}/${rideId}`;

/** The page behind the link in an invitation. */
export const invitationPath = (token: string): string => `/dashboard/sign-in/invitation/${token}`;

/** The page behind the link in a sign-in mail. */
export const linkPath = (link: string): string => `/dashboard/sign-in/link/${link}`;

const ownOrigin = 'http://own.invalid';
const maxNextLength = 2_000;

/**
 * The path, query and fragment of the dashboard page in `next`; those of the overview if `next` is not a page of the
 * dashboard.
 */
export function nextPage(next: string): string {
  if (next.length > maxNextLength || !URL.canParse(next, ownOrigin)) return '/dashboard';
  // Resolves `next` as browsers do, because `//host`, `/\host` and `/dashboard/../path` lead elsewhere.
  const { origin, pathname, search, hash } = new URL(next, ownOrigin);
  return origin === ownOrigin && pathname.startsWith('/dashboard/') ? pathname + search + hash : '/dashboard';
}
