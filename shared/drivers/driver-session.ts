import { sessionStore } from '../accounts/session-store.ts';

/**
 * The browsers in which a driver has signed in to the driver's page. A session holds the hash of the key that it was
 * made with, so that it is dead when that key is; it does not hold the key.
 */
export const driverSessions = sessionStore<{ driverId: string; keyHash: string }>('DriverSession', 'driversessions', [
  'driverId',
  'keyHash',
]);
