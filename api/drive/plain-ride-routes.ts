import type { Context } from '../../shared/base/context.ts';
import { AppError } from '../../shared/base/errors.ts';
import { applyDriverStep } from '../../shared/rides/driver/driver-actions.ts';
import { ridesOfDriver } from '../../shared/rides/driver/driver-rides.ts';
import { originOf } from '../drivers/authenticate.ts';
import { presentOwnRide } from '../drivers/show-own-ride.ts';
import { readForm } from '../http/body.ts';
import type { PageRoute } from '../http/route.ts';
import type { Middleware, RequestContext } from '../part.ts';
import type { Step } from './actions.ts';
import { confirmPage, plainRidePage } from './plain-ride-page.tsx';
import { redirectTo, signedInDriver } from './sign-in-routes.ts';
import { confirmWords } from './words.ts';

const path = '/ride';
const address = `/drive${path}`;
const steps: readonly string[] = ['arrive', 'start', 'complete', 'cancel'] satisfies Step[];

/** The driver's ride as a page that needs no scripts. */
export function plainRideRoutes(service: Context): PageRoute[] {
  const signedIn = signedInDriver(service);
  const ridesOf = ridesOfDriver(service.now);

  const show: Middleware = async (ctx) => {
    const driver = await signedIn(ctx);
    if (!driver) return redirectTo(ctx, '/drive');
    const { ride } = presentOwnRide(await ridesOf(driver.driverId));
    const { done, refused } = ctx.query;
    answer(ctx, plainRidePage(ride, { done, isRefused: refused !== undefined, userAgent: ctx.get('user-agent') }));
  };

  const makeStep: Middleware = async (ctx) => {
    const driver = await signedIn(ctx);
    if (!driver) return redirectTo(ctx, '/drive');
    const form = await readForm(ctx);
    const [step, rideId] = [form.text('step'), form.text('rideId')];
    if (!isStep(step)) throw new AppError('invalid_request');
    if (step in confirmWords && form.text('confirmed') !== 'yes') {
      return answer(ctx, confirmPage(step as keyof typeof confirmWords, rideId));
    }
    try {
      await applyDriverStep(service, rideId, step, { driverId: driver.driverId }, originOf(ctx));
    } catch (error) {
      // Somebody else has ended the ride, or it has another status: the page shows its present state.
      if (error instanceof AppError && error.status === 409) return redirectTo(ctx, `${address}?refused`);
      throw error;
    }
    redirectTo(ctx, step in confirmWords ? `${address}?done=${step}` : address);
  };

  return [
    { method: 'GET', path, handle: show },
    { method: 'POST', path, handle: makeStep },
  ];
}

const isStep = (text: string): text is Step => steps.includes(text);

function answer(ctx: RequestContext, html: string): void {
  ctx.type = 'html';
  ctx.body = html;
}
