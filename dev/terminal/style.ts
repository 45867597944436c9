import { styleText } from 'node:util';

/** One accent for what can be used, and a colour for each way that things can go. */
const styles = { strong: 'bold', quiet: 'dim', accent: 'cyan', good: 'green', slow: 'yellow', bad: 'red' } as const;
export type Style = keyof typeof styles;

export type Terminal = NodeJS.WriteStream;

/** Colours a text where the output has colours: on a terminal, and not with NO_COLOR or `TERM=dumb`. */
export function styled(style: Style, text: string, out: Terminal = process.stdout): string {
  if (!text || !out.isTTY || !out.hasColors()) return text;
  return styleText(styles[style], text, { validateStream: false } as never);
}

/** How wide lines may be: as the terminal, but at least 60 and at most 80. */
export const lineWidth = (out: Terminal = process.stdout): number => Math.min(80, Math.max(60, out.columns || 80));

/** Breaks a text into lines of at most `width` characters, between words. A longer word gets a line of its own. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line ? `${line} ${word}` : word;
    }
  }
  return [...lines, line];
}
