import type { RideView } from '../../streams/followed-rides.ts';
import type { RideStreams } from '../streams.ts';
import { type ConsoleRide, consoleFields } from './console-ride.ts';
import type { ConsoleState } from './console-state.ts';
import { consoleState } from './live-ride.tsx';

/** The streams of the test console. */
export type ConsoleStreams = RideStreams<ConsoleRide, ConsoleState>;

export const consoleView: RideView<ConsoleRide, ConsoleState> = {
  fields: consoleFields,
  stateOf: consoleState,
  isLast: ({ isOver }) => isOver,
  // The outcome of a delivery wakes no stream, so the ride is polled.
  pollMs: 1_000,
};
