import type { Context } from '../../shared/base/context.ts';
import { AppError } from '../../shared/base/errors.ts';
import type { ActiveDriver } from '../../shared/drivers/driver.ts';
import { applyDriverStep, markNotesSeen } from '../../shared/rides/driver/driver-actions.ts';
import { ridesOfDriver } from '../../shared/rides/driver/driver-rides.ts';
import { presentOwnRide } from '../../shared/rides/driver/own-ride.ts';
import type { PageCookie } from '../kit/answer.ts';
import type { PublicRoute } from '../kit/public-pages.ts';
import { isFinal, steps } from './actions.ts';
import { languageFor } from './drive-languages.ts';
import { confirmPage, plainRidePage } from './plain-ride-view.tsx';

/** The fields that requests for the driver's page have besides those of `PublicRequest`. */
export interface OfDriver {
  /** Finds the driver who is signed in; null if nobody is. */
  driver(): Promise<ActiveDriver | null>;
  /** The cookie that holds the token of the driver's session. */
  session: PageCookie;
}

const path = '/ride';
const address = `/drive${path}`;

/** The driver's ride as a page that needs no scripts. */
export function plainRideRoutes(service: Context): PublicRoute<OfDriver>[] {
  const ridesOf = ridesOfDriver(service.now);
  return [
    {
      method: 'GET',
      path,
      async answer(request) {
        const { driver: find, query, has, header } = request;
        const driver = await find();
        if (!driver) return { redirectTo: '/drive' };
        const { driverId } = driver;
        const { ride } = presentOwnRide(await ridesOf(driverId));
        const last = ride?.messages?.at(-1);
        if (ride && last && !last.seenAt) {
          // The ride may have ended since it was read. Without this mark, the page still shows its messages.
          await markNotesSeen(service, ride.rideId, last.number, { driverId }).catch(() => {});
        }
        return {
          html: plainRidePage(languageFor(request), ride, {
            done: query('done'),
            isRefused: has('refused'),
            userAgent: header('user-agent'),
          }),
        };
      },
    },
    {
      method: 'POST',
      path,
      async answer(request) {
        const { driver: find, form: readForm, requestId } = request;
        const driver = await find();
        if (!driver) return { redirectTo: '/drive' };
        const form = await readForm();
        const step = steps.find((name) => name === form.text('step'));
        const rideId = form.text('rideId');
        if (!step) throw new AppError('invalid_request');
        if (isFinal(step) && form.text('confirmed') !== 'yes') {
          return { html: confirmPage(languageFor(request), step, rideId) };
        }
        try {
          const origin = { by: 'driver' as const, requestId };
          await applyDriverStep(service, rideId, step, { driverId: driver.driverId }, origin, form.text('pin'));
        } catch (error) {
          // Somebody else has ended the ride, or it has another status: the page shows its present state.
          if (error instanceof AppError && error.status === 409) return { redirectTo: `${address}?refused` };
          throw error;
        }
        return { redirectTo: isFinal(step) ? `${address}?done=${step}` : address };
      },
    },
  ];
}
