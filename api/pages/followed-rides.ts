import type { Context } from '../../shared/base/context.ts';
import { describeError } from '../../shared/base/errors.ts';
import { committedReads } from '../../shared/base/mongo/durability.ts';
import type { Wake } from '../../shared/base/wake.ts';
import { rides } from '../../shared/rides/ride.ts';
import { eventText, type Stream, tooManyStreams } from './streams.ts';

/** Changes within this time are read in one query. */
const batchMs = 50;

/** What viewers of one kind of page are shown of a ride. */
export interface RideView<Read, State> {
  /** What is read of a ride: a projection. */
  fields: object;
  /** Adds to a ride that was read what is not stored with it. */
  complete?(ride: Read): Promise<Read>;
  /** The ride as it is shown, or null where it is not shown any more: then its streams end. Pure. */
  stateOf(ride: Read): State | null;
  /** Whether nothing comes after this state. */
  isLast(state: State): boolean;
  /** Whether a state is sent even where only its time differs from the last one. */
  isAlwaysNews?(state: State): boolean;
  /** Every followed ride is read again this often: a wake-up can be lost, and not every change causes one. */
  lookMs: number;
}

interface Followed {
  viewers: Set<Stream>;
  /** The last state that was sent, without its time. */
  shown: string;
}

export interface FollowedRides<Read, State> {
  /** Sends the ride's state now and whenever there is news, and ends the stream after the last state. */
  follow(ride: Read, state: State, open: () => Stream): void;
  close(): void;
}

/**
 * The rides that this process's viewers look at. However many look at one ride, each update is read once and written out
 * once; all followed rides are read in one query.
 */
export function followRides<Read extends { _id: string }, State extends { now: number }>(
  service: Context,
  wake: Wake,
  {
    fields,
    complete = async (ride) => ride,
    stateOf,
    isLast,
    isAlwaysNews = () => false,
    lookMs,
  }: RideView<Read, State>,
): FollowedRides<Read, State> {
  const followed = new Map<string, Followed>();
  let changed = new Set<string>();
  let waiting: NodeJS.Timeout | undefined;

  async function look(rideIds: string[]): Promise<void> {
    if (rideIds.length === 0) return;
    const found = await rides
      .find<Read>({ _id: { $in: rideIds } }, { ...committedReads(), projection: fields, batchSize: rideIds.length + 1 })
      .toArray();
    for (const ride of await Promise.all(found.map(complete))) show(ride);
  }

  function show(ride: Read): void {
    const entry = followed.get(ride._id);
    const state = entry && stateOf(ride);
    if (!entry) return;
    if (state && isNews(entry, state)) {
      const text = stateText(state);
      for (const viewer of entry.viewers) viewer.send(text);
    }
    if (!state || isLast(state)) for (const viewer of entry.viewers) viewer.end();
  }

  function isNews(entry: Followed, state: State): boolean {
    const { now, ...rest } = state;
    const shown = JSON.stringify(rest);
    const isNew = isAlwaysNews(state) || shown !== entry.shown;
    entry.shown = shown;
    return isNew;
  }

  const report = (error: unknown) =>
    service.log.warn({ error: describeError(error) }, 'followed rides could not be read');
  const stopListening = wake.onRideChange((rideId) => {
    if (!followed.has(rideId)) return;
    changed.add(rideId);
    waiting ??= setTimeout(() => {
      waiting = undefined;
      const rideIds = [...changed];
      changed = new Set();
      look(rideIds).catch(report);
    }, batchMs);
  });
  let looking = false;
  const timer = setInterval(() => {
    if (looking) return;
    looking = true;
    look([...followed.keys()])
      .catch(report)
      .finally(() => {
        looking = false;
      });
  }, lookMs).unref();

  return {
    follow(ride, state, open) {
      const entry = followed.get(ride._id) ?? { viewers: new Set(), shown: '' };
      const { perRide } = service.config.streams;
      if (entry.viewers.size >= perRide) throw tooManyStreams(`at most ${perRide} for each ride`);
      const viewer = open();
      entry.viewers.add(viewer);
      followed.set(ride._id, entry);
      viewer.onClose(() => {
        entry.viewers.delete(viewer);
        if (entry.viewers.size === 0) followed.delete(ride._id);
      });
      viewer.send(stateText(state));
    },
    close() {
      stopListening();
      clearInterval(timer);
      clearTimeout(waiting);
    },
  };
}

const stateText = (state: { now: number }): string => eventText(state.now, JSON.stringify(state));
