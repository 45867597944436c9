import type { LoadResult } from './load/load.ts';
import type { Profiles } from './profiles.ts';
import type { Figure } from './report.ts';
import type { Stack } from './stack.ts';

/** What each measurement is given. */
export interface Bench {
  stack: Stack;
  /** Fewer and shorter rounds: the same figures, less steady. */
  quick: boolean;
  rounds: number;
  profiles: Profiles;
  /** How many whole rides a second are to be held. */
  ridesPerSecond: number;
  /** Tells, in a line, what is going on. */
  say(line: string): void;
}

/** A measurement: it yields one or more figures, and throws where the work itself was not done right. */
export type Measurement = (bench: Bench) => Promise<Figure[]>;

/** Throws unless every request was answered with this status. */
export function assertAll(status: number, { operations, statuses }: LoadResult, who: string): void {
  if (operations === 0 || statuses[status] !== operations) {
    throw new Error(`${who}: not every answer was ${status}: ${JSON.stringify(statuses)}`);
  }
}

export function assertCount(expected: number, found: number, what: string): void {
  if (found !== expected) throw new Error(`${what}: ${found} where ${expected} were expected`);
}
