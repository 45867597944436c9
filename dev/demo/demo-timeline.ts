import { setTimeout as sleep } from 'node:timers/promises';
import { greatCircleKm } from '../../shared/base/great-circle.ts';
import { createMovingLine, secondsSince } from '../terminal/moving-line.ts';
import { lineWidth, styled, type Terminal, wrapped } from '../terminal/style.ts';
import type { Partner, Ride } from './partner.ts';

const statusWidth = 15;
const indent = ' '.repeat(8 + 2 + statusWidth + 2);

export type Timeline = {
  /** Prints an event, with the ride's status if it has changed. */
  entry(status: string, what: string, at?: number): void;
  /** Prints a text outside the table, wrapped. */
  note(text: string): void;
  /** Shows a progress text until the next line. An empty text hides it. */
  progress(text: string): void;
  /** The seconds since the start, in the format of every line. */
  elapsed(): string;
  end(): void;
};

/** Prints the ride's events as they happen, in lines of 60 to 80 characters that start with the elapsed time. */
export function createTimeline(out: Terminal = process.stdout, startedAt = Date.now()): Timeline {
  const line = createMovingLine(out, startedAt);
  let shownStatus = '';
  return {
    note(text) {
      for (const part of text.split('\n')) {
        for (const row of wrapped(part, lineWidth(out) - 2)) line.print(row && `  ${row}`);
      }
    },
    entry(status, what, at = Date.now()) {
      line.show('');
      const shown = (status === shownStatus ? '' : status).padEnd(statusWidth);
      shownStatus = status;
      const [first = '', ...rest] = wrapped(what, lineWidth(out) - indent.length);
      line.print(`${secondsSince(startedAt, at)}  ${styled('strong', shown, out)}  ${first}`);
      for (const row of rest) line.print(indent + row);
    },
    progress: line.show,
    elapsed: () => secondsSince(startedAt).trim(),
    end: line.end,
  };
}

type Place = { lat: number; lng: number; address: string };
type Trip = { pickup: Place; destination: Place };

const pollEveryMs = 300;

/**
 * Shows the car's position as the progress text of the timeline, until stopped. Reads the ride often, which is allowed
 * because the API does not limit reads.
 */
export function watchRide(timeline: Timeline, partner: Partner, rideId: string, trip: Trip) {
  const stopping = new AbortController();
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      const ride = await partner.retrieveRide(rideId).catch(() => undefined);
      if (ride && !stopping.signal.aborted) timeline.progress(describePosition(ride, trip));
      await sleep(pollEveryMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  })();
  return {
    async stop(): Promise<void> {
      stopping.abort();
      await watching;
      timeline.progress('');
    },
  };
}

function describePosition({ status, driver, liveLocation }: Ride, { pickup, destination }: Trip): string {
  const kmTo = (place: Place) => (liveLocation ? `${greatCircleKm(liveLocation, place).toFixed(2)} km` : 'on the way');
  switch (status) {
    case 'bidding':
      return 'drivers nearby are looking at the fare';
    case 'driver_arriving':
      return `${driver?.name} is coming: ${kmTo(pickup)} to ${pickup.address}`;
    case 'arrived':
      return `${driver?.name} is waiting at ${pickup.address}`;
    case 'in_progress':
      return `${kmTo(destination)} to ${destination.address}`;
    default:
      return status;
  }
}
