import { livingSessions } from '../../../shared/accounts/session.ts';
import type { Context } from '../../../shared/base/context.ts';
import type { Wake } from '../../../shared/base/wake.ts';
import type { RequestContext } from '../../part.ts';
import { followRides } from '../../streams/followed-rides.ts';
import { endWithSessions } from '../../streams/session-streams.ts';
import { createStreams } from '../../streams/streams.ts';
import { sessionCookie } from '../page-routes.ts';
import { type ConsoleRide, consoleFields } from './console-ride.ts';
import type { ConsoleState } from './console-state.ts';
import { consoleState } from './live-ride.tsx';

/** The streams of the test console. Each ends with its ride, and with the session that opened it. */
export interface ConsoleStreams {
  /** Answers a request with the stream of a ride. Throws `too_many_streams` at the limit of the account. */
  open(ctx: RequestContext, ride: ConsoleRide, state: ConsoleState): void;
  endAll(): void;
  close(): void;
}

export function consoleStreams(service: Context, wake: Wake): ConsoleStreams {
  const streams = createStreams({ ...service.config.streams, client: 'account' });
  const followed = followRides<ConsoleRide, ConsoleState>(service, wake, {
    fields: consoleFields,
    stateOf: (ride) => consoleState(service.config, ride),
    isLast: ({ isOver }) => isOver,
    // The outcome of a delivery wakes no stream, so the ride is polled.
    pollMs: 1_000,
  });
  const cookie = sessionCookie(service.config);
  const sessions = endWithSessions(service, livingSessions);

  return {
    open(ctx, ride, state) {
      followed.follow(ride, state, () => {
        const stream = streams.open(ctx, ride.accountId);
        sessions.add(stream, cookie.read(ctx));
        return stream;
      });
    },
    endAll: streams.endAll,
    close() {
      sessions.close();
      followed.close();
      streams.close();
    },
  };
}
