/** A bug of the service, as changes to its compiled code. */
export interface PlantedBug {
  what: string;
  edits: { file: string; find: string; replace: string }[];
  /** Matches the violation that the checker must report. */
  caughtAs: RegExp;
}
