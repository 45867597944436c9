import type { LoadResult } from './load/load.ts';
import type { Profiles } from './profiles.ts';
import type { Figure } from './report.ts';
import type { Stack } from './stack.ts';

/** The tools and settings of a measurement. */
export interface Bench {
  stack: Stack;
  /** Fewer and shorter rounds: the same figures, but less stable. */
  quick: boolean;
  rounds: number;
  profiles: Profiles;
  /** The rate of complete rides that the measurement `whole-rides` tries to sustain. */
  ridesPerSecond: number;
  /** Prints one line of progress. */
  say(line: string): void;
}

/** A measurement. Resolves with one or more figures, and throws if the measured work had a wrong result. */
export type Measurement = (bench: Bench) => Promise<Figure[]>;

/** Throws unless every request was answered with this status. */
export function assertAll(status: number, { operations, statuses }: LoadResult, who: string): void {
  if (operations === 0 || statuses[status] !== operations) {
    throw new Error(`${who}: not every answer was ${status}: ${JSON.stringify(statuses)}`);
  }
}

export function assertCount(expected: number, found: number, what: string): void {
  if (found !== expected) throw new Error(`${what}: found ${found}, expected ${expected}`);
}
