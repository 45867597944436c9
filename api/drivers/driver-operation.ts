import type { Context } from '../../shared/base/context.ts';
import type { Operation } from '../../shared/base/operation.ts';
import type { PositionReports } from '../../shared/drivers/position-reports.ts';
import type { DriverRides } from '../../shared/rides/driver/driver-rides.ts';
import type { Middleware, RequestContext } from '../part.ts';
import type { Authenticators } from './authenticate-driver.ts';

/** The dependencies of the gateway's routes. */
export interface DriverApi extends Authenticators {
  service: Context;
  reports: PositionReports;
  /** The rides of a driver; concurrent requests share one read. */
  ridesOf(driverId: string): Promise<DriverRides>;
  /** Answers with a stream of the driver's requests and ride, or throws `too_many_streams`. */
  openStream(ctx: RequestContext, driverId: string): void;
}

/** An operation of the drivers' gateway: its documentation, and a function that creates its route. */
export interface DriverOperation extends Operation {
  route(api: DriverApi): Middleware;
}
