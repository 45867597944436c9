import type { Config } from '../../shared/base/config.ts';
import type { Context } from '../../shared/base/context.ts';
import { AppError } from '../../shared/base/errors.ts';
import { type ActiveDriver, batchedFindDriver, driverSessions, hashOfDriverKey } from '../../shared/drivers/driver.ts';
import type { Origin } from '../../shared/rides/ride-types.ts';
import { hostCookie, readApiKey } from '../http/credentials.ts';
import type { RequestContext } from '../part.ts';

/** Finds the driver who made a request and stores the driver in the request's state, or throws a 401. */
type Authenticate = (ctx: RequestContext) => Promise<ActiveDriver>;

export interface Authenticators {
  authenticate: Authenticate;
  /** Waits up to 250 ms, so that many requests share one read. For position reports, which are frequent. */
  authenticateInBatch: Authenticate;
}

const batchWindowMs = 250;

/** Authenticates by the request's secret key, in the same two headers as a partner's key. */
export function authenticateByKey(): Authenticators {
  const by =
    (find: ReturnType<typeof batchedFindDriver>): Authenticate =>
    async (ctx) => {
      const keyHash = hashOfDriverKey(readApiKey(ctx));
      const driver = keyHash && (await find(keyHash));
      if (!driver) throw new AppError('unauthorized');
      ctx.state.driver = { driverId: driver.driverId, keyHash };
      return driver;
    };
  return { authenticate: by(batchedFindDriver()), authenticateInBatch: by(batchedFindDriver(batchWindowMs)) };
}

/** The cookie that holds the token of a driver's session. */
export const driverCookie = (config: Pick<Config, 'environment'>) => hostCookie(config, 'driver_session');

/** Authenticates by the session cookie. The driver must be active, and still have the key of the sign-in. */
export function authenticateBySession(service: Pick<Context, 'config' | 'now'>): Authenticators {
  const cookie = driverCookie(service.config);
  const by = (windowMs: number): Authenticate => {
    const findOwner = driverSessions.finder(windowMs);
    const findDriver = batchedFindDriver(windowMs);
    return async (ctx) => {
      const token = cookie(ctx).read();
      const owner = token ? await findOwner(token, service.now()) : null;
      const driver = owner && (await findDriver(owner.keyHash));
      if (!driver) throw new AppError('unauthorized', { message: 'Nobody is signed in here' });
      ctx.state.driver = { driverId: driver.driverId, keyHash: owner.keyHash };
      return driver;
    };
  };
  return { authenticate: by(0), authenticateInBatch: by(batchWindowMs) };
}

/** Gives requests for the driver's page the driver who is signed in and the cookie of the session. */
export function signedInDrivers(service: Pick<Context, 'config' | 'now'>) {
  const { authenticate } = authenticateBySession(service);
  const cookie = driverCookie(service.config);
  return (ctx: RequestContext) => ({
    driver: (): Promise<ActiveDriver | null> =>
      authenticate(ctx).catch((error) => {
        if (error instanceof AppError && error.status === 401) return null;
        throw error;
      }),
    session: cookie(ctx),
  });
}

/** The origin to record with a change that this request makes. */
export const originOf = (ctx: RequestContext): Origin => ({ by: 'driver', requestId: ctx.state.requestId });
