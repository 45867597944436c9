import type { CurrentAccount } from '../../shared/accounts/members.ts';
import { membersOfSessions } from '../../shared/accounts/session.ts';
import type { Context } from '../../shared/base/context.ts';
import type { Wake } from '../../shared/base/wake.ts';
import { type PageRequest, type RideView, sessionCookie } from '../../web/kit/answer.ts';
import { hostCookie } from '../http/credentials.ts';
import type { RequestContext } from '../part.ts';
import { followKeys } from '../streams/followed-keys.ts';
import { type FollowedRides, followRides } from '../streams/followed-rides.ts';
import { endWithSessions } from '../streams/session-streams.ts';
import { createStreams, type Stream } from '../streams/streams.ts';

/** The streams of the dashboard, and how pages answer with them. */
export interface DashboardStreams extends Pick<PageRequest, 'latest' | 'followKey' | 'followRide'> {
  /**
   * Opens a stream of an account, which ends with the session of the request. It also ends when the session is switched
   * to another account, when its member leaves the account or gets another role, and when the desk gets another key.
   * Throws `too_many_streams` at the limit of the account.
   */
  open(ctx: RequestContext, account: CurrentAccount): Stream;
  endAll(): void;
  close(): void;
}

/** All kinds of pages share the limits. */
export function dashboardStreams(service: Context, wake: Wake): DashboardStreams {
  const streams = createStreams({ ...service.config.streams, client: 'account' });
  const sessions = endWithSessions(service, unchangedVisits);
  const cookie = hostCookie(service.config, sessionCookie);
  const keys = followKeys(service, wake);
  const rides = new Map<object, FollowedRides<never, never>>();

  function ridesOf<Read extends { _id: string }, State extends { now: number }>(view: RideView<Read, State>) {
    const followed = (rides.get(view) as FollowedRides<Read, State> | undefined) ?? followRides(service, wake, view);
    rides.set(view, followed);
    return followed;
  }

  return {
    open(ctx, { _id, member, deskKeyId }) {
      const stream = streams.open(ctx, _id);
      const of = { accountId: _id, memberId: member.id, role: member.role, deskKeyId };
      sessions.add(stream, visitOf(cookie(ctx).read(), of));
      return stream;
    },
    latest: keys.latest,
    followKey: (view, keyId, first) => ({ stream: (open) => keys.follow(view, keyId, first, open()) }),
    followRide: (view, ride, state) => ({ stream: (open) => ridesOf(view).follow(ride, state, open) }),
    endAll: streams.endAll,
    close() {
      for (const each of [sessions, keys, ...rides.values(), streams]) each.close();
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
