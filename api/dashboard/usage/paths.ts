export const usagePath = '/dashboard/usage';
/** The usage page with the rides of one month. */
export const monthPath = (month: string): string => `${usagePath}?month=${month}`;
export const statementPath = (month: string, page = 1): string =>
  `${usagePath}/${month}${page > 1 ? `?page=${page}` : ''}`;
export const csvPath = (month: string): string => `${usagePath}/${month}/statement.csv`;
/** The address of a page of the rides' room. */
export const ridePath = (rideId: string): string => `/dashboard/rides/${rideId}`;
