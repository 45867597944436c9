import type { Context } from '../../shared/context.ts';
import { AppError, describeError } from '../../shared/errors.ts';
import { committedReads } from '../../shared/mongo/durability.ts';
import { rides } from '../../shared/rides/ride.ts';
import { hasEnded } from '../../shared/rides/transitions.ts';
import type { Wake } from '../../shared/wake.ts';
import { eventText, type Stream } from '../pages/streams.ts';
import { type TrackedRide, type TrackState, trackFields, trackState } from './track-state.ts';

/** Every followed ride is read again this often: a wake-up can be lost, and a moving car always has news. */
const lookMs = 2_000;
/** Changes within this time are read in one query. */
const batchMs = 50;

interface Followed {
  viewers: Set<Stream>;
  /** The last state that was sent, without its time. */
  shown: string;
}

export interface FollowedRides {
  /** Sends the ride's state now and whenever there is news, and ends the stream with the ride. */
  follow(ride: TrackedRide, state: TrackState, open: () => Stream): void;
  close(): void;
}

/**
 * The rides that this process's viewers look at. However many look at one ride, each update is read once and written out
 * once; all followed rides are read in one query.
 */
export function followRides(service: Context, wake: Wake): FollowedRides {
  const followed = new Map<string, Followed>();
  let changed = new Set<string>();
  let waiting: NodeJS.Timeout | undefined;

  async function look(rideIds: string[]): Promise<void> {
    if (rideIds.length === 0) return;
    const found = await rides
      .find<TrackedRide>(
        { _id: { $in: rideIds } },
        { ...committedReads(), projection: trackFields, batchSize: rideIds.length + 1 },
      )
      .toArray();
    for (const ride of found) show(ride);
  }

  function show(ride: TrackedRide): void {
    const entry = followed.get(ride._id);
    const state = entry && trackState(ride);
    if (!entry) return;
    if (state && isNews(entry, state)) {
      const text = stateText(state);
      for (const viewer of entry.viewers) viewer.send(text);
    }
    if (!state || hasEnded(state.status)) for (const viewer of entry.viewers) viewer.end();
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
      if (entry.viewers.size >= service.config.streams.perRide) throw new AppError('too_many_streams');
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

const stateText = (state: TrackState): string => eventText(state.now, JSON.stringify(state));

/** A moving car always has news; else only what differs apart from the time. */
function isNews(entry: Followed, state: TrackState): boolean {
  const { now, ...rest } = state;
  const shown = JSON.stringify(rest);
  const isNew = state.position !== undefined || shown !== entry.shown;
  entry.shown = shown;
  return isNew;
}
