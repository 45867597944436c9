import { AppError } from '../../shared/base/errors.ts';
import { type ActiveDriver, batchedFindDriver, hashOfDriverKey } from '../../shared/drivers/driver.ts';
import type { Origin } from '../../shared/rides/ride-types.ts';
import { readApiKey } from '../http/credentials.ts';
import type { RequestContext } from '../part.ts';

/** Finds the driver who made a request and stores the driver in the request's state, or throws a 401. */
export type Authenticate = (ctx: RequestContext) => Promise<ActiveDriver>;

export interface Authenticators {
  authenticate: Authenticate;
  /**
   * Like `authenticate`, but waits up to 250 ms, so that many requests share one read. It is for position reports,
   * which all drivers send every few seconds.
   */
  authenticateInBatch: Authenticate;
}

export const batchWindowMs = 250;

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

/** The origin to record with a change that this request makes. */
export const originOf = (ctx: RequestContext): Origin => ({ by: 'driver', requestId: ctx.state.requestId });
