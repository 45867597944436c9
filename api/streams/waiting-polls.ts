import type { Context } from '../../shared/base/context.ts';
import { pollsWaiting } from '../../shared/base/metrics.ts';
import type { Wake } from '../../shared/base/wake.ts';
import { type FeedCursor, isAfter, latestCursors } from '../../shared/rides/feed/event-feed.ts';
import { type FeedMark, followFeedMark } from '../../shared/rides/feed/raise-feed-mark.ts';
import { readCommittedRides } from '../../shared/rides/read-ride.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import { assertInTime } from '../http/answer-in-time.ts';
import type { RequestContext } from '../part.ts';
import { type HeldRequest, HeldRequests } from './held-requests.ts';
import { openLimits } from './open-limits.ts';
import { type Watch, watch } from './watch.ts';

const pollMs = 2_000;
const failure = 'events for long polls could not be read';
const maxPolls = { perKey: 200, perAccount: 1_000 };

/**
 * A wait for events of a key after a cursor of its feed. No event followed the cursor when the feed was read up to
 * `readUntil` (Unix ms).
 */
interface AfterCursor {
  after: FeedCursor | null;
  readUntil: number;
}

/** A wait for events of a ride with a number above `afterSeq`. */
interface AfterSeq {
  rideId: string;
  afterSeq: number;
}

export type PollTarget = { keyId: string } & (AfterCursor | AfterSeq);

export interface WaitingPolls {
  /** The mark up to which the feed shows events. */
  feed: FeedMark;
  /**
   * Resolves with true when new events may exist; with false after `ms`, at shutdown, or when the client disconnects.
   * Throws `too_many_waiting`.
   */
  wait(ctx: RequestContext, target: PollTarget, ms: number): Promise<boolean>;
  endAll(): void;
  close(): void;
}

/** The long polls of this process. */
export function waitingPolls({ log, config }: Context, wake: Wake, { perKey, perAccount } = maxPolls): WaitingPolls {
  const feed = followFeedMark();
  const held = new HeldRequests();
  const limits = openLimits('too_many_waiting', config.streams.all);

  const ofKeys: Watch<AfterCursor & { held: HeldRequest }> = watch({
    async look(watched) {
      const polls = [...watched.values()].flat();
      const from = polls.reduce((earliest, { readUntil }) => Math.min(earliest, readUntil), Number.POSITIVE_INFINITY);
      const to = feed.shown();
      const latest = await latestCursors([...watched.keys()], from, to);
      for (const [keyId, waiting] of watched) {
        const cursor = latest.get(keyId);
        for (const poll of waiting) {
          if (cursor && isAfter(cursor, poll.after)) poll.held.release();
          else poll.readUntil = to;
        }
      }
    },
    pollMs,
    onNews: (note) =>
      wake.onRideChange((_rideId, _driverIds, keyId) => {
        if (ofKeys.count(keyId) > 0) void feed.written().then(() => note(keyId));
      }),
    log,
    failure,
  });

  const ofRides = watch<AfterSeq & { held: HeldRequest }>({
    async look(watched) {
      const found = await readCommittedRides<Pick<Ride, '_id' | 'seq'>>([...watched.keys()], { seq: 1 });
      for (const { _id, seq } of found) {
        for (const poll of watched.get(_id) ?? []) if (seq > poll.afterSeq) poll.held.release();
      }
    },
    pollMs,
    onNews: (note) => wake.onRideChange((rideId) => note(rideId)),
    log,
    failure,
  });

  return {
    feed,
    async wait(ctx, target, ms) {
      assertInTime(ctx);
      const { keyId } = target;
      const stopCounting = limits.enter([
        { id: keyId, kind: 'key', most: perKey },
        { id: ctx.state.caller?.accountId ?? '', kind: 'account', most: perAccount },
      ]);
      const request = held.hold(ctx, ms);
      const poll = { ...target, held: request };
      pollsWaiting.inc();
      const leave = 'rideId' in poll ? ofRides.join(poll.rideId, poll) : ofKeys.join(keyId, poll);
      const mayHaveEvents = await request.over;
      leave();
      pollsWaiting.dec();
      stopCounting();
      return mayHaveEvents;
    },
    endAll: () => held.endAll(),
    close() {
      ofKeys.close();
      ofRides.close();
      feed.close();
    },
  };
}
