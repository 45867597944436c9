import type { Context } from '../../shared/base/context.ts';
import type { Wake } from '../../shared/base/wake.ts';
import { positionReports } from '../../shared/drivers/position-reports.ts';
import { ridesOfDriver } from '../../shared/rides/driver/driver-rides.ts';
import type { Route } from '../http/route.ts';
import type { RequestContext } from '../part.ts';
import { followDrivers } from '../streams/followed-drivers.ts';
import { createStreams, type Stream } from '../streams/streams.ts';
import type { Authenticators } from './authenticate.ts';
import { presentRequests } from './list-requests.ts';
import { driverRoutes } from './routes.ts';
import { presentOwnRide } from './show-own-ride.ts';

/** A phone that has lost its connection opens another one before the service notices. */
const streamsPerDriver = 5;

/** The drivers' operations in this process, for any way to authenticate. */
export interface Gateway {
  /** `opened` receives each stream that is opened, and can end it. */
  routes(by: Authenticators, opened?: (ctx: RequestContext, stream: Stream) => void): Route[];
  endStreams(): void;
  close(): void;
}

/** The one gateway of a process: the parts that let drivers in share its streams and its writing of positions. */
export function createGateway(service: Context, wake: Wake): Gateway {
  const streams = createStreams({ all: service.config.streams.all, perClient: streamsPerDriver, client: 'driver' });
  const followed = followDrivers(service, wake, (rides) => ({
    requests: presentRequests(rides),
    ride: presentOwnRide(rides),
  }));
  const reports = positionReports(service);
  return {
    routes: (by, opened) =>
      driverRoutes({
        ...by,
        service,
        reports,
        ridesOf: ridesOfDriver(service.now),
        openStream(ctx, driverId) {
          const stream = streams.open(ctx, driverId);
          opened?.(ctx, stream);
          followed.follow(driverId, ctx.state.driver?.keyHash ?? '', stream);
        },
      }),
    endStreams: streams.endAll,
    close() {
      streams.close();
      followed.close();
    },
  };
}
