import { charge, type Limit } from '../../shared/accounts/limit.ts';
import { sessionLifetimeMs } from '../../shared/accounts/session-store.ts';
import type { Config } from '../../shared/base/config.ts';
import type { Context } from '../../shared/base/context.ts';
import { AppError } from '../../shared/base/errors.ts';
import { type ActiveDriver, batchedFindDriver, driverSessions, hashOfDriverKey } from '../../shared/drivers/driver.ts';
import { goOffline } from '../../shared/drivers/positions.ts';
import { findDriverKey } from '../../shared/keys/key-format.ts';
import { type Authenticate, type Authenticators, batchWindowMs } from '../drivers/authenticate.ts';
import { readForm } from '../http/body.ts';
import { type HostCookie, hostCookie } from '../http/credentials.ts';
import { clientAddress, clientNetwork } from '../http/forwarded.ts';
import type { PageRoute } from '../http/route.ts';
import type { Middleware, RequestContext } from '../part.ts';
import { drivePage } from './drive-page.tsx';
import { signInPage, tooManyPage } from './sign-in-page.tsx';

/**
 * The limit of wrong keys from one client's address. It is high, because drivers of one mobile network can share an
 * address.
 */
const wrongDriverKeys: Limit = { name: 'wrong-driver-keys', most: 20, perMs: 15 * 60_000 };

/** The driver's page, and sign-in with the driver's key. */
export function signInRoutes(service: Context): PageRoute[] {
  const { config } = service;
  const cookie = driverCookie(config);
  const signedIn = signedInDriver(service);
  const findDriver = batchedFindDriver();

  const show: Middleware = async (ctx) => {
    const driver = await signedIn(ctx);
    // The cookie expires with the session: 30 days after the last use.
    if (driver) cookie.write(ctx, cookie.read(ctx), sessionLifetimeMs);
    ctx.type = 'html';
    ctx.body = driver ? drivePage(driver, config) : signInPage({ isWrong: ctx.query.wrong !== undefined });
  };

  const signIn: Middleware = async (ctx) => {
    const key = findDriverKey((await readForm(ctx)).text('key'));
    const keyHash = key && hashOfDriverKey(key);
    const driver = keyHash && (await findDriver(keyHash));
    if (!driver) {
      // Only wrong keys are limited: a key is too long to be guessed, and many drivers share the address of their carrier.
      const client = clientNetwork(clientAddress(ctx, service));
      const tried = await charge(wrongDriverKeys, client, service.now());
      // Redirects, because on a reload the browser would offer to send the key again.
      return tried.isFull ? tooMany(ctx, tried.freesMs) : redirectTo(ctx, '/drive?wrong');
    }
    await endOwnSession(ctx);
    const token = await driverSessions.start({ driverId: driver.driverId, keyHash }, service.now());
    cookie.write(ctx, token, sessionLifetimeMs);
    redirectTo(ctx, '/drive');
  };

  const signOut: Middleware = async (ctx) => {
    const driver = await signedIn(ctx);
    await endOwnSession(ctx);
    // The driver goes offline, because a signed-out driver cannot answer requests.
    if (driver) await goOffline(driver.driverId);
    cookie.clear(ctx);
    redirectTo(ctx, '/drive');
  };

  async function endOwnSession(ctx: RequestContext): Promise<void> {
    const token = cookie.read(ctx);
    if (token) await driverSessions.end(token);
  }

  return [
    { method: 'GET', path: '/', handle: show },
    { method: 'POST', path: '/sign-in', handle: signIn },
    { method: 'POST', path: '/sign-out', handle: signOut },
    // Redirects a browser that reloads the answer of a form as a page.
    { method: 'GET', path: '/sign-in', handle: (ctx) => redirectTo(ctx, '/drive') },
    { method: 'GET', path: '/sign-out', handle: (ctx) => redirectTo(ctx, '/drive') },
  ];
}

export function redirectTo(ctx: RequestContext, address: string): void {
  ctx.redirect(address);
  ctx.status = 303;
  ctx.body = '';
}

function tooMany(ctx: RequestContext, waitMs: number): void {
  ctx.set('Retry-After', String(Math.ceil(waitMs / 1_000)));
  ctx.status = 429;
  ctx.type = 'html';
  ctx.body = tooManyPage(waitMs);
}

/** The cookie that holds the token of a driver's session. */
export const driverCookie = (config: Pick<Config, 'environment'>): HostCookie => hostCookie(config, 'driver_session');

/** Finds the driver who is signed in; null if nobody is. */
export function signedInDriver(service: Context): (ctx: RequestContext) => Promise<ActiveDriver | null> {
  const { authenticate } = authenticateBySession(service);
  return (ctx) =>
    authenticate(ctx).catch((error) => {
      if (error instanceof AppError && error.status === 401) return null;
      throw error;
    });
}

/**
 * Authenticates a driver by the session cookie. The session holds the hash of the key that created it. Each request
 * checks that this is still the key of the driver, and that the driver is active.
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
  return { authenticate: by(0), authenticateInBatch: by(batchWindowMs) };
}
