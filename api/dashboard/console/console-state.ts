/** What a page that follows a test ride is sent. */
export interface ConsoleState {
  /** Unix ms, by MongoDB's clock. */
  now: number;
  /** The ride has ended and its events are settled: nothing more comes. */
  isOver: boolean;
  /** The latest entry of the timeline, to be read out. */
  latest: string;
  /** The part of the page that changes. */
  html: string;
}
