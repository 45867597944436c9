import type { CurrentAccount } from '../../shared/accounts/members.ts';
import { membersOfSessions } from '../../shared/accounts/session.ts';
import type { Context } from '../../shared/base/context.ts';
import type { Wake } from '../../shared/base/wake.ts';
import { sessionCookie } from '../../web/kit/answer.ts';
import { hostCookie } from '../http/credentials.ts';
import type { RequestContext } from '../part.ts';
import { followRides, type RideView } from '../streams/followed-rides.ts';
import { endWithSessions } from '../streams/session-streams.ts';
import { createStreams, type Stream } from '../streams/streams.ts';

/**
 * The streams of one kind of page. Each ends with its ride, and with the session that opened it. It also ends when the
 * session is switched to another account, when its member leaves the account or gets another role, and when the desk
 * gets another key.
 */
export interface RideStreams<Read, State> {
  /** Answers a request with the stream of a ride. Throws `too_many_streams` at the limit of the account. */
  open(ctx: RequestContext, of: { account: CurrentAccount; ride: Read; state: State }): void;
}

export type DashboardStreams = ReturnType<typeof dashboardStreams>;

/** The streams of the dashboard. All kinds of pages share the limits. */
export function dashboardStreams(service: Context, wake: Wake) {
  const streams = createStreams({ ...service.config.streams, client: 'account' });
  const sessions = endWithSessions(service, unchangedVisits);
  const cookie = hostCookie(service.config, sessionCookie);
  const closings = [sessions.close];

  /** Answers a request with a stream of this account, which ends with the session of the request. */
  function open(ctx: RequestContext, { _id, member, deskKeyId }: CurrentAccount): Stream {
    const stream = streams.open(ctx, _id);
    sessions.add(
      stream,
      visitOf(cookie(ctx).read(), { accountId: _id, memberId: member.id, role: member.role, deskKeyId }),
    );
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
        open(ctx, { account, ride, state }) {
          followed.follow(ride, state, () => open(ctx, account));
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

/** A visit is a session with the member, the role and the desk's key that it had when the stream was opened. */
const visitOf = (token: string, { accountId, memberId, role, deskKeyId }: VisitOf): string =>
  [token, accountId, memberId, role, deskKeyId].join(' ');

type VisitOf = { accountId: string; memberId: string; role: string; deskKeyId?: string };

/** Of the given visits, those whose session has not ended, and for which nothing else has changed. */
async function unchangedVisits(visits: readonly string[], nowMs: number): Promise<Set<string>> {
  const tokens = new Set(visits.map((visit) => visit.split(' ')[0] ?? ''));
  const members = await membersOfSessions([...tokens], nowMs);
  return new Set([...members].map(([token, of]) => visitOf(token, of)));
}
