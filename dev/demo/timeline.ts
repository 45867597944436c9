import type { WriteStream } from 'node:tty';
import { styleText } from 'node:util';

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const frameMs = 100;
/** Without a terminal to rewrite a line in, this much silence is ended with a line of its own. */
const quietMs = 5_000;

export type Timeline = {
  /** Time 0. */
  start(): void;
  /** Who did what, when, and the ride's status, which is shown where it has changed. */
  entry(status: string, who: string, what: string, at?: number): void;
  /** A line beside the table. */
  note(text: string): void;
  /** What is going on until the next line; empty for nothing. */
  progress(text: string): void;
  end(): void;
};

/** Prints what happens as it happens, so that it is plain at any moment what is being waited for. */
export function createTimeline(out: WriteStream = process.stdout): Timeline {
  let startedAt = Date.now();
  let shownStatus = '';
  let current = '';
  let lastLineAt = Date.now();
  let frame = 0;

  const styled = (style: 'bold' | 'cyan' | 'dim' | 'green' | 'red', text: string) =>
    out.isTTY ? styleText(style, text) : text;
  const seconds = (at: number) => `${Math.max(0, (at - startedAt) / 1000).toFixed(1)} s`.padStart(9);
  const rewritten = (text: string) => (out.isTTY ? `\r\x1b[K${text}` : text);

  function note(text: string): void {
    lastLineAt = Date.now();
    out.write(rewritten(`${text}\n`));
  }

  function tick(): void {
    if (!current) return;
    if (!out.isTTY) {
      if (Date.now() - lastLineAt >= quietMs) note(`${seconds(Date.now())}  (${current})`);
      return;
    }
    const text = `${seconds(Date.now())}  ${frames[frame++ % frames.length]} ${current}`;
    out.write(rewritten(styled('dim', text.slice(0, out.columns - 1))));
  }

  const ticking = setInterval(tick, frameMs);
  return {
    note,
    start() {
      startedAt = Date.now();
      note(styled('dim', `${'time'.padStart(9)}  ${'status'.padEnd(15)}  ${'who'.padEnd(7)}  what`));
    },
    entry(status, who, what, at = Date.now()) {
      const shown = (status === shownStatus ? '' : status).padEnd(15);
      shownStatus = status;
      current = '';
      const text = what
        .replace('signature verified', styled('green', 'signature verified'))
        .replace('SIGNATURE WRONG', styled('red', 'SIGNATURE WRONG'));
      note(`${seconds(at)}  ${styled('bold', shown)}  ${styled('cyan', who.padEnd(7))}  ${text}`);
    },
    progress(text) {
      current = text;
      if (!text) out.write(rewritten(''));
    },
    end() {
      clearInterval(ticking);
      out.write(rewritten(''));
    },
  };
}
