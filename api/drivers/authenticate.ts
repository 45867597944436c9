import { type ActiveDriver, batchedFindDriver } from '../../shared/drivers/driver.ts';
import { givenKey, unauthorized } from '../http/given-key.ts';
import type { RequestContext } from '../types.ts';

export type Authenticate = (ctx: RequestContext) => Promise<ActiveDriver>;

/**
 * Finds the driver by the request's secret key, or throws a 401, also for a driver who is suspended or revoked. With
 * `windowMs` it waits for other requests first: see `batchedFindDriver`.
 */
export function authenticateDriver(windowMs?: number): Authenticate {
  const find = batchedFindDriver(windowMs);
  return async (ctx) => {
    const key = givenKey(ctx);
    const driver = key ? await find(key) : null;
    if (!driver) throw unauthorized();
    ctx.state.driverId = driver.driverId;
    return driver;
  };
}
