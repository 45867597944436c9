/** What a fleet has done so far. */
export interface Figures {
  online: number;
  requests: number;
  offers: number;
  underWay: number;
  completed: number;
  cancelled: number;
  errors: number;
  /** What the last error was. */
  lastError?: string;
}

export const noFigures = (): Figures => ({
  ...{ online: 0, requests: 0, offers: 0, underWay: 0, completed: 0, cancelled: 0, errors: 0 },
});

const short = (count: number): string => (count < 10_000 ? `${count}` : `${(count / 1_000).toFixed(1)}k`);

/** The figures in one line of at most so many characters. */
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
