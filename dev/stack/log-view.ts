import { isWorthShowing, type LogEntry, parseEntry, readable } from './log-lines.ts';

/** Each process writes its lines up to 0.1 s late. Lines are held this long, so that they can be sorted by time. */
const heldMs = 200;
/** Repeated reads are counted, and the counts are printed this often. */
const repeatsMs = 10_000;

type Line = { at: number; name: string; text: string; entry?: LogEntry };

/** Prints a stack's logs for a person: one line per entry, and hints on failed deliveries once per key. */
export function createLogView(print: (line: string) => void) {
  const held: Line[] = [];
  const repeats = new Map<string, { name: string; entry: LogEntry; count: number }>();
  const hinted = new Set<string>();

  function show({ name, text, entry }: Line): void {
    if (!entry) print(`${' '.repeat(18)}${name}: ${text}`);
    if (!entry || !isWorthShowing(entry) || isRepeat(name, entry)) return;
    print(readable(name, entry));
    const hint = hintFor(entry);
    if (hint && !hinted.has(`${entry.keyId} ${hint}`)) print(`          ${hint}`);
    hinted.add(`${entry.keyId} ${hint}`);
  }

  function showUntil(time: number): void {
    held.sort((a, b) => a.at - b.at);
    while (held[0] && held[0].at <= time) show(held.shift() as Line);
  }

  function isRepeat(name: string, entry: LogEntry): boolean {
    if (entry.msg !== 'request' || entry.method !== 'GET') return false;
    const key = [entry.path ?? entry.route, entry.rideId, entry.status].join(' ');
    const known = repeats.get(key);
    repeats.set(key, { name, entry, count: known ? known.count + 1 : 0 });
    return known !== undefined;
  }

  function showRepeats(): void {
    for (const [key, { name, entry, count }] of repeats) {
      if (count === 0) repeats.delete(key);
      else {
        print(`${readable(name, { ...entry, time: new Date().toISOString() })}  (${count} more)`);
        repeats.set(key, { name, entry, count: 0 });
      }
    }
  }

  const timers = [setInterval(() => showUntil(Date.now() - heldMs), 50), setInterval(showRepeats, repeatsMs)];
  return {
    line(name: string, text: string): void {
      const entry = parseEntry(text);
      held.push({ at: entry ? Date.parse(entry.time) : Date.now(), name, text, entry });
    },
    end(): void {
      for (const timer of timers) clearInterval(timer);
      showUntil(Number.POSITIVE_INFINITY);
    },
  };
}

/** What to do when an event did not arrive. */
function hintFor({ msg, outcome, reason, keyId }: LogEntry): string | undefined {
  if (msg !== 'delivery') return undefined;
  if (outcome === 'no_url') return `set one with npm run -s keys -- set-webhook ${keyId} URL`;
  if (outcome === 'blocked') return 'on this machine? start with WEBHOOK_LOCAL_TARGETS=http://HOST:PORT';
  if (reason === 'ECONNREFUSED') return 'nothing listens at that webhook URL: is your receiver running?';
  return undefined;
}
