import { charge, type Limit } from '../../shared/accounts/limit.ts';
import { sessionLifetimeMs } from '../../shared/accounts/session-store.ts';
import type { Context } from '../../shared/base/context.ts';
import { goOffline } from '../../shared/drivers/change-availability.ts';
import { batchedFindDriver, driverSessions, hashOfDriverKey } from '../../shared/drivers/driver.ts';
import { findDriverKey } from '../../shared/keys/key-format.ts';
import { type PublicRequest, retryAfter } from '../kit/answer.ts';
import { pageError } from '../kit/error-page.tsx';
import type { PublicPages, PublicRoute } from '../kit/public-pages.ts';
import { languageFor } from './drive-languages.ts';
import { signInPage, tooManyPage } from './driver-sign-in.tsx';
import { drivePage } from './driver-view.tsx';
import { type OfDriver, plainRideRoutes } from './plain-ride.ts';

/**
 * The limit of wrong keys from one client's address. It is high, because drivers of one mobile network can share an
 * address.
 */
const wrongDriverKeys: Limit = { name: 'wrong-driver-keys', most: 20, perMs: 15 * 60_000 };

/** The driver's page, its smaller page without scripts, and sign-in with the driver's key. */
export const drivePages = (service: Context): PublicPages<OfDriver> => ({
  name: 'drive',
  base: '/drive',
  security: { tiles: service.config.tiles, uses: ['geolocation', 'screen-wake-lock'] },
  headers: { 'Cache-Control': 'no-store' },
  routes: [...signInRoutes(service), ...plainRideRoutes(service)],
  renderError: (error, request) => pageError(error, request, languageFor(request).locale),
});

const toPage = { redirectTo: '/drive' };

function signInRoutes(service: Context): PublicRoute<OfDriver>[] {
  const { config } = service;
  const findDriver = batchedFindDriver();

  async function endOwnSession({ session }: OfDriver): Promise<void> {
    const token = session.read();
    if (token) await driverSessions.end(token);
  }

  return [
    {
      method: 'GET',
      path: '/',
      async answer(request) {
        const { driver: find, session, has } = request;
        const language = languageFor(request);
        const driver = await find();
        if (!driver) return { html: signInPage(language, { isWrong: has('wrong') }) };
        // The cookie expires with the session: 30 days after the last use.
        session.write(session.read(), sessionLifetimeMs);
        return { html: drivePage(driver, config, language) };
      },
    },
    {
      method: 'POST',
      path: '/sign-in',
      async answer(request: PublicRequest & OfDriver) {
        const key = findDriverKey((await request.form()).text('key'));
        const keyHash = key && hashOfDriverKey(key);
        const driver = keyHash && (await findDriver(keyHash));
        if (!driver) {
          // Only wrong keys are limited: a key is too long to be guessed, and many drivers share the address of their carrier.
          const tried = await charge(wrongDriverKeys, request.client(), service.now());
          // Redirects, because on a reload the browser would offer to send the key again.
          if (!tried.isFull) return { redirectTo: '/drive?wrong' };
          return {
            html: tooManyPage(languageFor(request), tried.freesMs),
            status: 429,
            headers: retryAfter(tried.freesMs),
          };
        }
        await endOwnSession(request);
        const token = await driverSessions.start({ driverId: driver.driverId, keyHash }, service.now());
        request.session.write(token, sessionLifetimeMs);
        return toPage;
      },
    },
    {
      method: 'POST',
      path: '/sign-out',
      async answer(request) {
        const driver = await request.driver();
        await endOwnSession(request);
        // The driver goes offline, because a signed-out driver cannot answer requests.
        if (driver) await goOffline(driver.driverId);
        request.session.clear();
        return toPage;
      },
    },
    // Redirects a browser that reloads the answer of a form as a page.
    { method: 'GET', path: '/sign-in', answer: () => toPage },
    { method: 'GET', path: '/sign-out', answer: () => toPage },
  ];
}
