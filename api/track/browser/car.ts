import { greatCircleKm } from '../../../shared/base/great-circle.ts';
import { placeOnLeg } from '../../../shared/rides/position.ts';
import type { TrackState } from '../track-state.ts';
import { oldReportMs } from '../words.ts';

export interface CarView {
  lat: number;
  lng: number;
  /** Degrees clockwise from north. */
  heading: number;
  /** True if the last report is too old to be reliable. */
  isOld: boolean;
}

type Report = NonNullable<TrackState['position']>;

/** A real car is drawn with this delay, so that its position can be interpolated between two reports. */
const trailMs = 2_500;
/** Reports that are further apart are not interpolated, because the route between them is unknown. */
const maxGapMs = 10_000;
const maxJumpKm = 0.5;
/** A report that is this much older than the last one is not a late one: the service's clock was set back. */
const clockStepMs = 60_000;

/** The car's position at a time (Unix ms, server's clock). A simulated car follows its leg, a real car its reports. */
export function createCar() {
  let leg: TrackState['leg'];
  let reports: Report[] = [];

  return {
    learn(state: TrackState): void {
      leg = state.leg;
      if (!state.position) reports = [];
      else reports = withReport(reports, state.position);
    },
    at(now: number): CarView | null {
      if (leg) return { ...placeOnLeg(leg, now), isOld: false };
      const last = reports.at(-1);
      return last ? { ...between(reports, now - trailMs), isOld: now - last.at > oldReportMs } : null;
    },
  };
}

function withReport(reports: Report[], report: Report): Report[] {
  const last = reports.at(-1)?.at ?? 0;
  if (report.at < last - clockStepMs) return [report];
  return report.at > last ? [...reports, report].slice(-10) : reports;
}

/** Interpolates between the two reports around a time. Returns the nearest report if that is not possible. */
function between(reports: readonly Report[], time: number): Report {
  const next = reports.findIndex(({ at }) => at > time);
  const [before, after] = [reports[next === -1 ? reports.length - 1 : next - 1], reports[next]];
  if (!before || !after) return (before ?? after) as Report;
  if (after.at - before.at > maxGapMs || greatCircleKm(before, after) > maxJumpKm) return before;
  const share = (time - before.at) / (after.at - before.at);
  return {
    lat: before.lat + (after.lat - before.lat) * share,
    lng: before.lng + shorterWay(before.lng, after.lng) * share,
    heading: before.heading + shorterWay(before.heading, after.heading) * share,
    at: time,
  };
}

/** The shorter turn from one angle to another, -180 to 180 degrees. */
export const shorterWay = (from: number, to: number): number => ((((to - from + 180) % 360) + 360) % 360) - 180;
