import { lineWidth, type Terminal } from '../terminal/style.ts';

/** The counters of a fleet. */
export interface Figures {
  online: number;
  requests: number;
  offers: number;
  underWay: number;
  completed: number;
  cancelled: number;
  errors: number;
  lastError?: string;
}

export const noFigures = (): Figures => ({
  ...{ online: 0, requests: 0, offers: 0, underWay: 0, completed: 0, cancelled: 0, errors: 0 },
});

const short = (count: number): string => (count < 10_000 ? `${count}` : `${(count / 1_000).toFixed(1)}k`);

/** The figures in one line of at most `width` characters. */
export function lineOf(figures: Figures, width: number): string {
  const parts = partsOf(figures);
  const loose = parts.join('  ');
  return loose.length <= width ? loose : parts.join(' ').slice(0, width);
}

function partsOf({ online, requests, offers, underWay, completed, cancelled, errors }: Figures): string[] {
  const parts: [number, string][] = [
    [online, 'online'],
    [requests, 'asked'],
    [offers, 'offers'],
    [underWay, 'riding'],
    [completed, 'done'],
    [cancelled, 'cancelled'],
    [errors, 'errors'],
  ];
  return parts.map(([count, what]) => `${short(count)} ${what}`);
}

const refreshMs = 250;
/** The interval of lines on an output that is not a terminal, where a line cannot be rewritten. */
const quietMs = 5_000;

/**
 * Shows a fleet's figures in a line that is rewritten. Returns a function that stops the updates and shows the last
 * figures.
 */
export function showFigures(figures: Readonly<Figures>, out: Terminal = process.stdout): () => void {
  const { isTTY } = out;
  const show = () => {
    const line = lineOf(figures, lineWidth(out) - 1);
    out.write(isTTY ? `\r\x1b[K${line}` : `${line}\n`);
  };
  show();
  const timer = setInterval(show, isTTY ? refreshMs : quietMs);
  return () => {
    clearInterval(timer);
    show();
    if (isTTY) out.write('\n');
  };
}
