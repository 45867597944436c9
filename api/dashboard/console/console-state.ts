import type { TrackState } from '../../../web/track/track-state.ts';

/** The state of a test ride, as its page receives it. */
export interface ConsoleState {
  /** Unix ms, by MongoDB's clock. */
  now: number;
  /** True in the last state: the ride has ended and its events are settled. */
  isOver: boolean;
  /** The latest entry of the timeline, for screen readers. */
  latest: string;
  /** The HTML of the part of the page that changes. */
  html: string;
  /** The state of the live map. Missing once the map's link has expired. */
  map?: TrackState;
}
