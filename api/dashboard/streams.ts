import { livingSessions } from '../../shared/accounts/session.ts';
import type { Context } from '../../shared/base/context.ts';
import type { Wake } from '../../shared/base/wake.ts';
import type { RequestContext } from '../part.ts';
import { followRides, type RideView } from '../streams/followed-rides.ts';
import { endWithSessions } from '../streams/session-streams.ts';
import { createStreams, type Stream } from '../streams/streams.ts';
import { sessionCookie } from './page-routes.ts';

/** The streams of one kind of page. Each ends with its ride, and with the session that opened it. */
export interface RideStreams<Read, State> {
  /** Answers a request with the stream of a ride. Throws `too_many_streams` at the limit of the account. */
  open(ctx: RequestContext, ride: Read, state: State): void;
}

export type DashboardStreams = ReturnType<typeof dashboardStreams>;

/** The streams of the dashboard. All kinds of pages share the limits. */
export function dashboardStreams(service: Context, wake: Wake) {
  const streams = createStreams({ ...service.config.streams, client: 'account' });
  const sessions = endWithSessions(service, livingSessions);
  const cookie = sessionCookie(service.config);
  const closings = [sessions.close];

  /** Answers a request with a stream of this account, which ends with the session of the request. */
  function open(ctx: RequestContext, accountId: string): Stream {
    const stream = streams.open(ctx, accountId);
    sessions.add(stream, cookie.read(ctx));
    return stream;
  }

  return {
    open,
    /** The streams that show rides in this way. */
    of<Read extends { _id: string; accountId: string }, State extends { now: number }>(
      view: RideView<Read, State>,
    ): RideStreams<Read, State> {
      const followed = followRides(service, wake, view);
      closings.push(followed.close);
      return {
        open(ctx, ride, state) {
          followed.follow(ride, state, () => open(ctx, ride.accountId));
        },
      };
    },
    endAll: streams.endAll,
    close() {
      for (const close of closings) close();
      streams.close();
    },
  };
}
