import { lineWidth, styled, type Terminal } from './style.ts';

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const frameMs = 100;
/** Without a terminal to rewrite a line in, this much silence is ended with a line of its own. */
const quietMs = 5_000;

export type MovingLine = {
  /** Prints a line that stays. */
  print(line: string): void;
  /** What is going on until the next call; empty for nothing. */
  show(text: string): void;
  end(): void;
};

/** A last line that moves, so that it is plain at any moment what is being waited for and for how long. */
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

/** `  12.3 s`, as it stands before every line of a clock. */
export function secondsSince(startedAt: number, at = Date.now()): string {
  return `${Math.max(0, (at - startedAt) / 1_000).toFixed(1)} s`.padStart(8);
}
