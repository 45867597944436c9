import type { Context } from '../../shared/context.ts';
import { describeError, limitReached } from '../../shared/errors.ts';
import { pollsWaiting } from '../../shared/metrics/metrics.ts';
import { committedReads } from '../../shared/mongo/durability.ts';
import { isAfter, latestPlaces, type Place } from '../../shared/rides/event-feed.ts';
import { type FeedMark, followFeedMark } from '../../shared/rides/feed-mark.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import type { Wake } from '../../shared/wake.ts';
import { assertInTime } from '../http/answer-in-time.ts';
import { type HeldRequest, HeldRequests } from '../http/held-requests.ts';
import type { RequestContext } from '../types.ts';

/** All that waits is looked at this often: a wake-up can be lost. */
const lookMs = 2_000;
/** Wake-ups within this time lead to one look. */
const batchMs = 100;
/** A request may have read before the last looks and joined after them: look back to what was shown 3 looks ago. */
const looksBack = 3;
const firstLookBackMs = 10_000;
const mostPolls = { perKey: 200, perAccount: 1_000 };

/** What a request waits for: events of a key after a place, or of a ride after a number. */
export type Awaited = { keyId: string } & ({ after: Place | null } | { rideId: string; afterSeq: number });

interface Waiting<After> {
  after: After;
  held: HeldRequest;
}

/** The waiting requests of one key or ride. */
type Waiters<After> = Map<string, Set<Waiting<After>>>;

export interface WaitingPolls {
  /** Up to where events are shown. */
  feed: FeedMark;
  /**
   * Resolves with true when there may be events to read, and with false after `ms`, at a stop, or when the client has
   * gone. Throws `too_many_waiting`.
   */
  wait(ctx: RequestContext, awaited: Awaited, ms: number): Promise<boolean>;
  endAll(): void;
  close(): void;
}

/** The requests of this process that wait for events. However many wait, each look is one query for keys and one for rides. */
export function waitingPolls(service: Context, wake: Wake, most = mostPolls): WaitingPolls {
  const feed = followFeedMark();
  const held = new HeldRequests();
  /** The number of waiting requests by key id and by account id. */
  const counts = new Map<string, number>();
  const ofKeys: Waiters<Place | null> = new Map();
  const ofRides: Waiters<number> = new Map();

  /** The positions up to which events were shown at the last looks at all keys, the oldest first. */
  const shownAt: number[] = [];
  async function lookAtKeys(keyIds: string[], shownUntil: number): Promise<void> {
    if (keyIds.length === 0) return;
    const latest = await latestPlaces(keyIds, shownAt[0] ?? shownUntil - firstLookBackMs, shownUntil);
    for (const [keyId, place] of latest) release(ofKeys, keyId, (after) => isAfter(place, after));
  }

  async function lookAtRides(rideIds: string[]): Promise<void> {
    if (rideIds.length === 0) return;
    const found = await rides
      .find<Pick<Ride, '_id' | 'seq'>>(
        { _id: { $in: rideIds } },
        { ...committedReads(), projection: { seq: 1 }, batchSize: rideIds.length + 1 },
      )
      .toArray();
    for (const { _id, seq } of found) release(ofRides, _id, (after) => seq > after);
  }

  const keysSoon = lookSoon(async (keyIds) => {
    await feed.written();
    await lookAtKeys(
      keyIds.filter((keyId) => ofKeys.has(keyId)),
      feed.shown(),
    );
  });
  const ridesSoon = lookSoon(async (rideIds) => lookAtRides(rideIds.filter((rideId) => ofRides.has(rideId))));
  const stopListening = wake.onRideChange((rideId, _driverIds, keyId) => {
    if (ofRides.has(rideId)) ridesSoon.note(rideId);
    if (ofKeys.has(keyId)) keysSoon.note(keyId);
  });

  let isLooking = false;
  async function lookAtAll(): Promise<void> {
    if (isLooking) return;
    isLooking = true;
    try {
      const shownUntil = feed.shown();
      await Promise.all([lookAtKeys([...ofKeys.keys()], shownUntil), lookAtRides([...ofRides.keys()])]);
      shownAt.push(shownUntil);
      if (shownAt.length > looksBack) shownAt.shift();
    } catch (error) {
      report(error);
    }
    isLooking = false;
  }
  const timer = setInterval(lookAtAll, lookMs).unref();

  function report(error: unknown): void {
    service.log.warn({ error: describeError(error) }, 'awaited events could not be looked for');
  }

  /** Looks once for all that is noted within `batchMs`. */
  function lookSoon(look: (ids: string[]) => Promise<void>) {
    let noted: Set<string> | undefined;
    let timer: NodeJS.Timeout | undefined;
    return {
      note(id: string) {
        if (!noted) {
          const batch = new Set<string>();
          noted = batch;
          timer = setTimeout(() => {
            noted = undefined;
            look([...batch]).catch(report);
          }, batchMs).unref();
        }
        noted.add(id);
      },
      stop() {
        clearTimeout(timer);
      },
    };
  }

  function reachedLimit(keyId: string, accountId: string): string | null {
    const { all } = service.config.streams;
    if ((counts.get(keyId) ?? 0) >= most.perKey) return `at most ${most.perKey} for each key`;
    if ((counts.get(accountId) ?? 0) >= most.perAccount) return `at most ${most.perAccount} for each account`;
    return held.size >= all ? `at most ${all} in each process of the service` : null;
  }

  return {
    feed,
    async wait(ctx, awaited, ms) {
      assertInTime(ctx);
      const { keyId } = awaited;
      const accountId = ctx.state.caller?.accountId ?? '';
      const limit = reachedLimit(keyId, accountId);
      if (limit) throw limitReached('too_many_waiting', limit, { 'Retry-After': '5' });
      for (const id of [keyId, accountId]) counts.set(id, (counts.get(id) ?? 0) + 1);
      const request = held.hold(ctx, ms);
      pollsWaiting.inc();
      const leave =
        'rideId' in awaited
          ? join(ofRides, awaited.rideId, { after: awaited.afterSeq, held: request })
          : join(ofKeys, keyId, { after: awaited.after, held: request });
      const mayHaveEvents = await request.over;
      leave();
      pollsWaiting.dec();
      for (const id of [keyId, accountId]) {
        const left = (counts.get(id) ?? 1) - 1;
        if (left > 0) counts.set(id, left);
        else counts.delete(id);
      }
      return mayHaveEvents;
    },
    endAll: () => held.endAll(),
    close() {
      stopListening();
      clearInterval(timer);
      keysSoon.stop();
      ridesSoon.stop();
      feed.close();
    },
  };
}

function join<After>(all: Waiters<After>, id: string, waiting: Waiting<After>): () => void {
  const waiters = all.get(id) ?? new Set();
  all.set(id, waiters.add(waiting));
  return () => {
    waiters.delete(waiting);
    if (waiters.size === 0 && all.get(id) === waiters) all.delete(id);
  };
}

function release<After>(all: Waiters<After>, id: string, hasNews: (after: After) => boolean): void {
  for (const { after, held } of all.get(id) ?? []) if (hasNews(after)) held.release();
}
