import type { Context } from '../../shared/base/context.ts';
import type { Wake } from '../../shared/base/wake.ts';
import { readCommittedRides } from '../../shared/rides/read-ride.ts';
import type { FollowRide, RideView } from '../../web/kit/answer.ts';
import { tooMany } from './open-limits.ts';
import { eventText, type Stream } from './streams.ts';
import { watch } from './watch.ts';

interface Viewer {
  stream: Stream;
  /** The last state that was sent, without its time. */
  shown: string;
}

export interface FollowedRides<Read, State> {
  /** Opens a stream and sends the ride's state now and at every change, up to the last. Throws `too_many_streams`. */
  follow: FollowRide<Read, State>;
  close(): void;
}

/** Feeds the streams of rides in this process. */
export function followRides<Read extends { _id: string }, State extends { now: number }>(
  service: Context,
  wake: Wake,
  {
    fields,
    complete = async (ride) => ride,
    stateOf,
    isLast,
    isAlwaysNews = () => false,
    pollMs,
  }: RideView<Read, State>,
): FollowedRides<Read, State> {
  const { log, config } = service;
  const followed = watch<Viewer>({
    async look(watched) {
      const found = await readCommittedRides<Read>([...watched.keys()], fields);
      for (const ride of await Promise.all(found.map((ride) => complete(ride, service))))
        show(ride, watched.get(ride._id) ?? []);
    },
    pollMs,
    onNews: (note) => wake.onRideChange((rideId) => note(rideId)),
    log,
    failure: 'followed rides could not be read',
  });

  function show(ride: Read, viewers: readonly Viewer[]): void {
    const state = stateOf(ride);
    if (state) send(state, viewers);
    if (!state || isLast(state)) for (const { stream } of viewers) stream.end();
  }

  /** Serializes the state once for all viewers. */
  function send(state: State, viewers: readonly Viewer[]): void {
    const shown = withoutTime(state);
    const behind = isAlwaysNews(state) ? viewers : viewers.filter((viewer) => viewer.shown !== shown);
    if (behind.length === 0) return;
    const text = stateText(state);
    for (const viewer of behind) {
      viewer.stream.send(text);
      viewer.shown = shown;
    }
  }

  return {
    follow(ride, state, open) {
      const { perRide } = config.streams;
      if (followed.count(ride._id) >= perRide) throw tooMany('too_many_streams', `at most ${perRide} for each ride`);
      const stream = open();
      stream.onClose(followed.join(ride._id, { stream, shown: withoutTime(state) }));
      stream.send(stateText(state));
    },
    close: followed.close,
  };
}

const withoutTime = ({ now: _now, ...content }: { now: number }): string => JSON.stringify(content);

const stateText = (state: { now: number }): string => eventText(state.now, JSON.stringify(state));
