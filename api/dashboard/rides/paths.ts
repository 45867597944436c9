/** The addresses of a ride's page, and of one entry of its timeline. */
export const ridesPath = '/dashboard/rides';
export const ridePath = (rideId: string): string => `${ridesPath}/${encodeURIComponent(rideId)}`;
/** The fragment brings the detail into view where it stands below the timeline. */
export const entryPath = (rideId: string, entryId: string): string => `${ridePath(rideId)}?entry=${entryId}#detail`;
