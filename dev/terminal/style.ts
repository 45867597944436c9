import { styleText } from 'node:util';

/** `accent` marks texts to copy or open; the other colours rate a result. */
const styles = { strong: 'bold', quiet: 'dim', accent: 'cyan', good: 'green', slow: 'yellow', bad: 'red' } as const;
export type Style = keyof typeof styles;

export type Terminal = NodeJS.WriteStream;

/** Colours a text if the output supports it: a terminal, without NO_COLOR or `TERM=dumb`. */
export function styled(style: Style, text: string, out: Terminal = process.stdout): string {
  if (!text || !out.isTTY || !out.hasColors()) return text;
  return styleText(styles[style], text, { validateStream: false } as never);
}

/** The width of lines: the terminal's, but at least 60 and at most 80. */
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
