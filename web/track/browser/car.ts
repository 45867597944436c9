import { greatCircleKm } from '../../../shared/base/great-circle.ts';
import { shorterWay } from '../../../shared/rides/path.ts';
import { placeOnLeg } from '../../../shared/rides/position.ts';
import { isMoving } from '../../../shared/rides/transitions.ts';
import type { TrackState } from '../track-state.ts';
import { oldReportMs } from '../track-words.ts';

export interface CarView {
  lat: number;
  lng: number;
  /** Degrees clockwise from north. */
  heading: number;
  /** True if the last report is too old to be reliable. */
  isOld: boolean;
}

type Report = NonNullable<TrackState['position']>;

type Place = Omit<CarView, 'isOld'>;

/** A real car glides to each report for this multiple of the time between two reports, so it rarely waits for the next. */
const glideShare = 1.2;
/** Between reports that are further apart the car does not glide, because its way is unknown. */
const maxGapMs = 10_000;
const maxJumpKm = 0.5;
/** A report that is this much older than the last one is not a late one: the service's clock was set back. */
const clockStepMs = 60_000;

/** The car's position at a time (Unix ms, server's clock). A simulated car follows its leg, a real car its reports. */
export function createCar() {
  let leg: TrackState['leg'];
  let last: Report | undefined;
  let glide: { from: Place; startAt: number; ms: number } | undefined;
  let drawnAt = 0;
  let moves = false;

  function place(now: number): Place | null {
    if (!last || !glide) return last ?? null;
    return between(glide.from, last, Math.min(1, Math.max(0, (now - glide.startAt) / glide.ms)));
  }

  /** Starts to glide to a report from where the car is drawn, so that it never jumps. */
  function glideTo(report: Report, sentAt: number): void {
    const sinceMs = last ? report.at - last.at : 0;
    if (last && sinceMs <= 0 && sinceMs >= -clockStepMs) return;
    const startAt = sinceMs < 0 ? sentAt : Math.max(sentAt, drawnAt);
    const from = place(startAt);
    const isWayKnown = from && sinceMs > 0 && sinceMs <= maxGapMs && greatCircleKm(from, report) <= maxJumpKm;
    glide = isWayKnown ? { from, startAt, ms: sinceMs * glideShare } : undefined;
    last = report;
  }

  return {
    learn(state: TrackState): void {
      leg = state.leg;
      moves = isMoving(state.status);
      if (state.position && !state.testMode) glideTo(state.position, state.now);
      else {
        // A simulated position is exact.
        last = state.position;
        glide = undefined;
      }
    },
    at(now: number): CarView | null {
      drawnAt = now;
      if (leg) return { ...placeOnLeg(leg, now), isOld: false };
      const at = place(now);
      if (!at || !last) return null;
      const { lat, lng, heading } = at;
      return { lat, lng, heading, isOld: moves && now - last.at > oldReportMs };
    },
  };
}

const between = (from: Place, to: Place, share: number): Place => ({
  lat: from.lat + (to.lat - from.lat) * share,
  lng: from.lng + shorterWay(from.lng, to.lng) * share,
  heading: from.heading + shorterWay(from.heading, to.heading) * share,
});
