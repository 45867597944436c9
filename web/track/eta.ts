import { haversineKm, type Point } from '../../shared/base/great-circle.ts';
import { assumedKmPerHour, driveMs, hourMs } from '../../shared/rides/arrival.ts';

/** A position of a car at a time (Unix ms). */
interface Report extends Point {
  at: number;
}

/** The estimated arrival (Unix ms) of a car that was last seen at `from`. Pure. */
export const arrivalOf = (from: Report, to: Point, kmPerHour?: number): number =>
  from.at + driveMs(haversineKm(from, to), kmPerHour);

/** The speed is that of this time. */
const windowMs = 180_000;
/** Reports that are closer together are skipped: the noise of a standing phone's position would look like driving. */
const spacingMs = 10_000;
/** Between reports that are further apart, the car's way is unknown. */
const maxGapMs = 60_000;
/** The assumed speed counts as much as this time of driving, so that a first report or a red light changes little. */
const assumedForMs = 60_000;

/** Measures the recent speed of a car from its reports. */
export function createSpeedometer() {
  let samples: Report[] = [];
  return {
    learn(report: Report): void {
      const last = samples.at(-1);
      const sinceMs = last ? report.at - last.at : 0;
      if (last && Math.abs(sinceMs) < spacingMs) return;
      // Also after the service's clock was set back.
      if (sinceMs < 0 || sinceMs > maxGapMs) samples = [];
      samples = [...samples.filter(({ at }) => report.at - at <= windowMs), report];
    },
    /** Forgets all reports: a car that has waited at the pickup was not slow. */
    reset(): void {
      samples = [];
    },
    kmPerHour(): number {
      const pieces = samples.slice(1).map((sample, index) => haversineKm(samples[index] ?? sample, sample));
      const km = pieces.reduce((sum, piece) => sum + piece, 0);
      const drivenMs = (samples.at(-1)?.at ?? 0) - (samples[0]?.at ?? 0);
      return (km * hourMs + assumedKmPerHour * assumedForMs) / (drivenMs + assumedForMs);
    },
  };
}
