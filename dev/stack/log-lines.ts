const levels: Record<number, string> = { 40: 'warn', 50: 'ERROR', 60: 'FATAL' };
const plainFields = new Set(['level', 'time', 'process', 'msg', 'requestId']);

/** A service's line as it is read in a terminal: `14:03:07 api        request method=POST status=201`. */
export function readable(name: string, line: string): string {
  const entry = parse(line);
  if (!entry) return `${' '.repeat(8)} ${name.padEnd(13)} ${line}`;
  const { level, time, msg, error } = entry;
  const { at, ...cause } = (error ?? {}) as { at?: string };
  const details = Object.entries({ ...entry, error: undefined, ...cause })
    .filter(([field, value]) => !plainFields.has(field) && value !== undefined)
    .map(([field, value]) => `${field}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const clock = new Date(String(time)).toTimeString().slice(0, 8);
  const words = [clock, name.padEnd(13), levels[Number(level)], msg, ...details];
  const text = words.filter((word) => word !== undefined).join(' ');
  return at && Number(level) >= 50 ? `${text}\n    ${at}` : text;
}

/** Whether a line only tells of somebody who looks at the queue board, which asks every few seconds. */
export function isOfQueueBoard(line: string): boolean {
  return parse(line)?.route === '/ops/queues';
}

function parse(line: string): Record<string, unknown> | undefined {
  try {
    const entry = JSON.parse(line);
    return typeof entry === 'object' && entry?.time ? entry : undefined;
  } catch {
    return undefined;
  }
}
