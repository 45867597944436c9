import type Joi from 'joi';
import type { Context } from '../../shared/base/context.ts';
import { AppError } from '../../shared/base/errors.ts';
import type { Point } from '../../shared/base/great-circle.ts';
import { durableRead } from '../../shared/base/mongo/durable-read.ts';
import type { ActiveDriver } from '../../shared/drivers/driver.ts';
import type { PositionReports } from '../../shared/drivers/position-reports.ts';
import { goOffline, goOnline, type Report, readPosition } from '../../shared/drivers/positions.ts';
import {
  type DriverStep,
  makeOffer,
  takeDriverStep,
  withdrawOwnOffer,
} from '../../shared/rides/driver/driver-actions.ts';
import { ridesOfDriver } from '../../shared/rides/driver/driver-rides.ts';
import { settleDriver } from '../../shared/rides/driver/settle-driver.ts';
import { readCommittedRide } from '../../shared/rides/read-ride.ts';
import type { Origin } from '../../shared/rides/ride-types.ts';
import { unauthorized } from '../http/given-key.ts';
import { readJsonBody } from '../http/json-body.ts';
import { get, paramOf, post, put, type Route, remove, rideIdOf } from '../http/route.ts';
import { validate } from '../http/validate.ts';
import type { RequestContext } from '../types.ts';
import type { Authenticators } from './authenticate.ts';
import * as operations from './operations.ts';
import { presentMe, presentOutcome, presentOwnRide, presentRequests, presentStep } from './presenters.ts';
import { offerSchema, placeSchema, reportSchema, stepSchema } from './schemas.ts';

/** Every route of the drivers' gateway but its stream. */
export function driverRoutes(
  service: Context,
  reports: PositionReports,
  { authenticate, authenticatePatiently }: Authenticators,
): Route[] {
  const ridesOf = ridesOfDriver(service.now);
  const findRides = async (ctx: RequestContext) => ridesOf((await authenticate(ctx)).driverId);

  const step = (name: DriverStep) =>
    post(operations.steps[name], {
      authenticate,
      validate: withBody(stepSchema, ({ rideId }, driver, ctx) => ({ rideId, driver, origin: originOf(ctx) })),
      act: async ({ rideId, driver: { driverId }, origin }) => ({
        rideId,
        status: await takeDriverStep(service, rideId, name, { driverId }, origin),
      }),
      present: presentStep,
    });

  return [
    get(operations.showProfile, {
      authenticate: async (ctx) => {
        const driver = await authenticate(ctx);
        const { driverId } = driver;
        const [position, rides] = await Promise.all([readPosition(driverId), ridesOf(driverId)]);
        return { driver, position, rides };
      },
      present: ({ driver, position, rides }) => presentMe(driver, position, rides, service.now()),
    }),
    post(operations.goOnline, {
      authenticate,
      validate: withBody(placeSchema, (place, driver) => ({ place, driver })),
      act: ({ place, driver }) => putOnline(service, driver, place),
      present: (available) => ({ available }),
    }),
    post(operations.goOffline, {
      authenticate,
      // A body is ignored.
      validate: (_ctx, driver) => driver,
      act: ({ driverId }) => goOffline(driverId),
      present: () => ({ available: false }),
    }),
    put(operations.reportPosition, {
      authenticate: authenticatePatiently,
      validate: withBody(reportSchema, ({ at, ...report }, { driverId }) => ({
        driverId,
        report: { ...report, ...(at !== undefined && { at: new Date(Math.min(at, latestMs)) }) } satisfies Report,
      })),
      act: ({ driverId, report }) => reports.add(driverId, report),
      present: () => null,
    }),
    get(operations.listRequests, { authenticate: findRides, present: presentRequests }),
    get(operations.showOutcome, {
      authenticate: async (ctx) => {
        const { driverId } = await authenticate(ctx);
        const ride = await readCommittedRide({ rideId: rideIdOf(ctx), owner: { driverId } });
        if (!ride) throw new AppError('ride_not_found');
        return { ride, driverId };
      },
      present: ({ ride, driverId }) => presentOutcome(ride, driverId),
    }),
    post(operations.makeOffer, {
      authenticate,
      validate: withBody(offerSchema, (terms, driver, ctx) => ({
        terms,
        driver,
        rideId: rideIdOf(ctx),
        origin: originOf(ctx),
      })),
      act: ({ rideId, terms, driver, origin }) => makeOffer(service, rideId, terms, driver, origin),
      present: ({ offerId }) => ({ offerId }),
    }),
    remove(operations.withdrawOffer, {
      authenticate,
      validate: (ctx, { driverId }) => ({ driverId, rideId: rideIdOf(ctx), offerId: paramOf(ctx, 'offerId') }),
      act: ({ driverId, rideId, offerId }) => withdrawOwnOffer(service, rideId, offerId, { driverId }),
      present: () => null,
    }),
    get(operations.showOwnRide, { authenticate: findRides, present: presentOwnRide }),
    step('arrive'),
    step('start'),
    step('complete'),
    step('cancel'),
  ];
}

/** The latest time that a Date can hold. */
const latestMs = 8.64e15;

const originOf = (ctx: RequestContext): Origin => ({ by: 'driver', requestId: ctx.state.requestId });

/** Resolves with whether rides are opened to the driver from now on: a driver who is on a ride goes online after it. */
async function putOnline(service: Context, driver: ActiveDriver, place: Point): Promise<boolean> {
  await goOnline(driver, place, new Date(service.now()));
  const { rideId, isActive } = await durableRead(
    () => settleDriver(service, driver.driverId),
    (settled) => settled.rideId === null && settled.isActive,
  );
  // Suspended since the request was authenticated, so offline again.
  if (!isActive) throw unauthorized();
  return rideId === null;
}

/** Reads and validates the body of a request, and makes the input of a route from it. */
function withBody<Body, Input>(
  schema: Joi.Schema<Body>,
  inputOf: (body: Body, driver: ActiveDriver, ctx: RequestContext) => Input,
): (ctx: RequestContext, driver: ActiveDriver) => Promise<Input> {
  return async (ctx, driver) => inputOf(validate(schema, await readJsonBody(ctx)), driver, ctx);
}
