import type { Ride } from '../../shared/rides/ride-types.ts';
import { hasEnded } from '../../shared/rides/transitions.ts';
import { type TrackedRide, type TrackState, trackState } from '../track/track-state.ts';

/** What the page of a ride follows. No server imports: the browser uses this file too. */
export interface RideNews {
  /** Unix ms, by MongoDB's clock. */
  now: number;
  /** A new version means that the page has new content. */
  version: string;
  /** The ride has ended and its events are settled: these are the last news. */
  isOver: boolean;
  /** The state of the live map. Missing once the map's link has expired. */
  map?: TrackState;
}

export type FollowedRide = TrackedRide & Pick<Ride, 'rev' | 'settledSeq' | 'unsettled'>;

/** Pure. */
export function newsOf(ride: FollowedRide): RideNews {
  const map = ride.trackToken ? trackState(ride) : null;
  return {
    now: ride.now.getTime(),
    version: versionOf(ride),
    isOver: hasEnded(ride.status) && ride.unsettled === 0,
    ...(map && { map }),
  };
}

/** Changes with every change of the ride and with every settled event. Pure. */
export const versionOf = ({ rev, settledSeq }: Pick<Ride, 'rev' | 'settledSeq'>): string => `${rev}.${settledSeq}`;
