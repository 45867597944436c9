import type { Config } from '../../shared/base/config.ts';
import type { Context } from '../../shared/base/context.ts';
import { AppError } from '../../shared/base/errors.ts';
import { batchedFindDriver } from '../../shared/drivers/driver.ts';
import { driverSessions } from '../../shared/drivers/driver-session.ts';
import { type Authenticate, type Authenticators, patienceMs } from '../drivers/authenticate.ts';
import { type OwnCookie, ownCookie } from '../http/credentials.ts';

/** The cookie that holds the token of a driver's session. */
export const driverCookie = (config: Pick<Config, 'environment'>): OwnCookie => ownCookie(config, 'driver_session');

/**
 * Lets a driver in by the session's cookie. The session names the hash of the key that it was made with, and that key is
 * looked up anew each time: it must still be the driver's own, and the driver active.
 */
export function authenticateBySession(service: Pick<Context, 'config' | 'now'>): Authenticators {
  const cookie = driverCookie(service.config);
  const by = (windowMs: number): Authenticate => {
    const findOwner = driverSessions.finder(windowMs);
    const findDriver = batchedFindDriver(windowMs);
    return async (ctx) => {
      const token = cookie.read(ctx);
      const owner = token ? await findOwner(token, service.now()) : null;
      const driver = owner && (await findDriver(owner.keyHash));
      if (!driver) throw new AppError('unauthorized', { message: 'Nobody is signed in here' });
      ctx.state.driver = { driverId: driver.driverId, keyHash: owner.keyHash };
      return driver;
    };
  };
  return { authenticate: by(0), authenticatePatiently: by(patienceMs) };
}
