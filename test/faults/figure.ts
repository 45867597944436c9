/** The settings of one run of the suite. */
export interface FigureRun {
  /** The folder of the compiled service. */
  build: string;
  seed: number;
  /** A short run makes fewer trials and prints their number. */
  short: boolean;
  /** Prints one line of progress. */
  say(line: string): void;
}

/** The goal of one promise of the service, and the program that tries to break it. */
export interface Figure {
  /** As named on the command line, e.g. `revocation`. */
  name: string;
  goal: string;
  /** True if it kills or pauses MongoDB or sets its clock, which needs the embedded engine. */
  needsEngine?: boolean;
  measure(run: FigureRun): Promise<FigureResult>;
}

export interface FigureResult {
  /** The measured values in words: numbers with their units, and the number of trials. */
  reached: string;
  /** One line for each broken promise; empty if the goal was reached. */
  violations: string[];
}
