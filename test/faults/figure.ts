/** What a figure is measured with. */
export interface FigureRun {
  /** The folder of the compiled service. */
  build: string;
  seed: number;
  /** A short run does the same with fewer trials, and says how many. */
  short: boolean;
  /** Tells whoever watches how far it has come, in a line. */
  say(line: string): void;
}

/** One promise that holds under faults, and the program that tries to break it. */
export interface Figure {
  /** As named on the command line, e.g. `revocation`. */
  name: string;
  promise: string;
  goal: string;
  measure(run: FigureRun): Promise<Measured>;
}

export interface Measured {
  /** The figure reached, in words: numbers with their units, and out of how many trials. */
  reached: string;
  /** One line for each time the promise was broken; none where the goal was reached. */
  violations: string[];
}
