import type { Context } from '../../shared/base/context.ts';
import type { Wake } from '../../shared/base/wake.ts';
import { positionReports } from '../../shared/drivers/position-reports.ts';
import { ridesOfDriver } from '../../shared/rides/driver/driver-rides.ts';
import { presentOwnRide } from '../../shared/rides/driver/own-ride.ts';
import type { Route } from '../http/route.ts';
import type { RequestContext } from '../part.ts';
import { followDrivers } from '../streams/followed-drivers.ts';
import { createStreams, type Stream } from '../streams/streams.ts';
import type { Authenticators } from './authenticate-driver.ts';
import { presentRequests } from './request-operations.ts';
import { driverRoutes } from './routes.ts';

/** More than one, because a phone opens a new stream before the service notices that the old one is lost. */
const streamsPerDriver = 5;

/** The drivers' operations in this process, which work with any kind of authentication. */
export interface Gateway {
  /** `onStreamOpen` receives each new stream, and can end it. */
  routes(by: Authenticators, onStreamOpen?: (ctx: RequestContext, stream: Stream) => void): Route[];
  endStreams(): void;
  close(): void;
}

/** Creates the gateway of a process. All parts that serve drivers share its streams and its position writer. */
export function createGateway(service: Context, wake: Wake): Gateway {
  const streams = createStreams({ all: service.config.streams.all, perClient: streamsPerDriver, client: 'driver' });
  const followed = followDrivers(service, wake, (rides) => ({
    requests: presentRequests(rides),
    ride: presentOwnRide(rides),
  }));
  const reports = positionReports(service);
  return {
    routes: (by, onStreamOpen) =>
      driverRoutes({
        ...by,
        service,
        reports,
        ridesOf: ridesOfDriver(service.now),
        openStream(ctx, driverId) {
          const stream = streams.open(ctx, driverId);
          onStreamOpen?.(ctx, stream);
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
