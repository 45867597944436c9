import { createMovingLine, secondsSince } from '../terminal/moving-line.ts';
import { lineWidth, styled, type Terminal, wrapped } from '../terminal/style.ts';

const statusWidth = 15;
const indent = ' '.repeat(8 + 2 + statusWidth + 2);

export type Timeline = {
  /** Prints what has happened, with the ride's status if it has changed. */
  entry(status: string, what: string, at?: number): void;
  /** Prints a text outside the table, wrapped. */
  note(text: string): void;
  /** Shows what is going on, until the next line. Empty for nothing. */
  progress(text: string): void;
  /** The seconds since the start, in the format of every line. */
  elapsed(): string;
  end(): void;
};

/** Prints what happens as it happens, in lines of 60 to 80 characters. Each line starts with the time since the start. */
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
