import { lineWidth, styled, type Terminal } from './style.ts';

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const frameMs = 100;
/**
 * An output that is not a terminal has no line that can be rewritten. There, progress is printed as a line of its own
 * after this much silence.
 */
const quietMs = 5_000;

type MovingLine = {
  /** Prints a line that stays. */
  print(line: string): void;
  /** Shows a progress text until the next call. An empty text hides it. */
  show(text: string): void;
  end(): void;
};

/** An animated last line, which shows what the command is waiting for and how long it has waited. */
export function createMovingLine(out: Terminal = process.stdout, startedAt = Date.now()): MovingLine {
  let current = '';
  let lastLineAt = Date.now();
  let frame = 0;

  const clear = () => {
    if (out.isTTY) out.write('\r\x1b[K');
  };
  const print = (line: string) => {
    lastLineAt = Date.now();
    clear();
    out.write(`${line}\n`);
  };
  const ticking = setInterval(() => {
    if (!current) return;
    const seconds = secondsSince(startedAt);
    if (out.isTTY) {
      clear();
      const text = `${seconds}  ${frames[frame++ % frames.length]} ${current}`;
      out.write(styled('quiet', text.slice(0, lineWidth(out) - 1), out));
    } else if (Date.now() - lastLineAt >= quietMs) print(`${seconds}  (${current})`);
  }, frameMs);
  return {
    print,
    show(text) {
      current = text;
      if (!text) clear();
    },
    end() {
      current = '';
      clearInterval(ticking);
      clear();
    },
  };
}

/** The elapsed time as a column of fixed width, such as `  12.3 s`. */
export function secondsSince(startedAt: number, at = Date.now()): string {
  return `${Math.max(0, (at - startedAt) / 1_000).toFixed(1)} s`.padStart(8);
}
