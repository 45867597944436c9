import type { Context } from '../../shared/base/context.ts';
import { batch } from '../../shared/base/mongo/batch.ts';
import { type FeedPage, type Place, placeOf, readFeed } from '../../shared/rides/feed/event-feed.ts';
import type { FeedMark } from '../../shared/rides/feed/feed-mark.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import { list, type Route } from '../http/route.ts';
import { queryOf } from '../http/validate.ts';
import type { RequestContext } from '../types.ts';
import { authenticate, authenticateForRide } from './authenticate.ts';
import { cursorOf, now, placeIn } from './cursor.ts';
import * as operations from './operations.ts';
import { presentFeed, presentRideEvents } from './presenters.ts';
import { feedSchema, rideEventsSchema } from './schemas.ts';
import type { WaitingPolls } from './waiting-polls.ts';

const rideEventsFields = { keyId: 1, events: 1 } as const;
type RideWithEvents = Pick<Ride, '_id' | keyof typeof rideEventsFields>;

/** The event feed of a key and the events of a ride (contract, section 10.3). */
export function eventRoutes(service: Context, polls: WaitingPolls): Route[] {
  const { feed } = polls;
  const findCaller = authenticate(service);
  const findRide = authenticateForRide<RideWithEvents>(service, rideEventsFields);
  const read = sharedReads(feed);

  return [
    list(operations.listRideEvents, {
      authenticate: findRide,
      validate: (ctx, ride) => ({ ctx, ride, ...queryOf(rideEventsSchema, ctx) }),
      async act({ ctx, ride: { _id: rideId, keyId, events }, after, waitSeconds }) {
        const eventsAfter = (all: Ride['events']) => all.filter(({ seq }) => seq > after);
        const found = await waitFor(
          ctx,
          waitSeconds,
          eventsAfter(events),
          ({ length }) => length > 0,
          (ms) => polls.wait(ctx, { keyId, rideId, afterSeq: after }, ms),
          async () => eventsAfter((await findRide(ctx)).events),
        );
        return { rideId, events: found };
      },
      present: presentRideEvents,
    }),
    list(operations.listEvents, {
      authenticate: findCaller,
      validate: (ctx, { keyId }) => ({ ctx, keyId, ...queryOf(feedSchema, ctx) }),
      async act({ ctx, keyId, after: cursor, limit, waitSeconds }) {
        const after = cursor === now ? { at: await feed.shownUntil(), rideId: '' } : placeIn(cursor);
        const page = await waitFor(
          ctx,
          waitSeconds,
          await read({ keyId, after, limit }),
          ({ events }) => events.length > 0,
          (ms) => polls.wait(ctx, { keyId, after }, ms),
          async () => {
            await findCaller(ctx);
            return read({ keyId, after, limit });
          },
        );
        const last = page.events.at(-1);
        return { ...page, cursor: cursorOf(last ? placeOf(last) : after) };
      },
      present: presentFeed,
    }),
  ];
}

/**
 * Reads again each time that there may be something, until something is found or the time is over. `again` admits the caller anew,
 * because a key that was revoked meanwhile is shown nothing.
 */
async function waitFor<Found>(
  { method }: RequestContext,
  waitSeconds: number,
  first: Found,
  isEnough: (found: Found) => boolean,
  wait: (ms: number) => Promise<boolean>,
  again: () => Promise<Found>,
): Promise<Found> {
  let found = first;
  const until = performance.now() + (method === 'HEAD' ? 0 : waitSeconds * 1_000);
  while (!isEnough(found)) {
    const left = until - performance.now();
    if (left <= 0 || !(await wait(left))) break;
    found = await again();
  }
  return found;
}

interface Asked {
  keyId: string;
  after: Place | null;
  limit: number;
}

/** Requests that wait at one place are woken together and share one read. */
function sharedReads(feed: FeedMark): (asked: Asked) => Promise<FeedPage> {
  return batch<Asked, FeedPage>(async (asked) => {
    const shownUntil = await feed.shownUntil();
    const reads = new Map<string, Promise<FeedPage>>();
    for (const each of asked) {
      const { keyId, after, limit } = each;
      const id = JSON.stringify(each);
      if (!reads.has(id)) reads.set(id, readFeed(keyId, after, limit, shownUntil));
    }
    const results = await Promise.allSettled(asked.map((each) => reads.get(JSON.stringify(each))));
    for (const result of results) {
      if (result.status === 'fulfilled' && result.value?.unshown) feed.reach(result.value.unshown);
    }
    return results.map((result) =>
      result.status === 'fulfilled' ? (result.value as FeedPage) : (result.reason as Error),
    );
  });
}
