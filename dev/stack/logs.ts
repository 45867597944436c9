import { queueBoardPath } from '../../web/operators/queue-board-path.ts';
import { type Style, styled } from '../terminal/style.ts';
import { mailBoxPath, messageBoxPath, receiverPath } from './local-pages.ts';

/** Processes write their lines up to 0.1 s late, so lines are held this long and sorted by time. */
const heldMs = 200;
/** A read that repeats an earlier one is only counted. The counts are printed at this interval. */
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

/** Suggests how to fix a failed delivery. */
function hintFor({ msg, outcome, reason, keyId }: LogEntry): string | undefined {
  if (msg !== 'delivery') return undefined;
  if (outcome === 'no_url') return `set one with npm run -s keys -- set-webhook ${keyId} URL`;
  if (outcome === 'blocked') return 'on this machine? start with WEBHOOK_LOCAL_TARGETS=http://HOST:PORT';
  if (reason === 'ECONNREFUSED') return 'nothing listens at that webhook URL: is your receiver running?';
  return undefined;
}

/** A log line of a process: only the fields that this file reads. */
type LogEntry = {
  level: number;
  time: string;
  msg: string;
  rideId?: string;
  keyId?: string;
  method?: string;
  route?: string;
  path?: string;
  status?: string | number;
  event?: string;
  seq?: number;
  kind?: string;
  outcome?: string;
  httpStatus?: number;
  reason?: string;
  durationMs?: number;
  cancelledBy?: string;
  fare?: number;
  withdrawn?: number;
  scenario?: string;
  mode?: string;
  asked?: number;
  error?: { at?: string };
};

const levels: Record<number, string> = { 40: 'warn', 50: 'ERROR', 60: 'FATAL' };
const plainFields = new Set(['level', 'time', 'process', 'msg', 'requestId']);
/**
 * These lines are hidden, because other lines contain the same information: for example, the line of a ride's step
 * repeats the line of its job.
 */
const hiddenMessages = new Set([
  'job',
  'listening',
  'ops server listening',
  'working',
  'closing',
  'usage summed',
  'fares counted',
]);
const textWidth = 28;
const longestPath = 40;

/** The texts for the service's own reason codes. System codes (`ECONNREFUSED`) are shown unchanged. */
const reasons: Record<string, string> = {
  certificate: 'TLS certificate not trusted',
  certificate_expired: 'TLS certificate expired',
  certificate_name: 'TLS certificate for another name',
  status: 'answered',
  redirect: 'redirected with',
};

/** Parses a log line. Returns undefined for a line that is not a log entry. */
export function parseEntry(line: string): LogEntry | undefined {
  try {
    const entry = JSON.parse(line);
    return typeof entry === 'object' && entry?.time ? entry : undefined;
  } catch {
    return undefined;
  }
}

/** Hides the requests of the developer's own tools: some of them poll every few seconds. */
const toolRoutes = new Set([queueBoardPath, mailBoxPath, messageBoxPath, receiverPath, '/healthz']);

function isWorthShowing(entry: LogEntry): boolean {
  const { msg, method, route, path, level, status } = entry;
  const isFromTools = path === '/favicon.ico' || toolRoutes.has(route ?? '');
  // Hides successful position reports, because drivers send one every few seconds.
  const isReport = method === 'PUT' && route?.endsWith('/position') && Number(status) < 400;
  // A change without a step is a part of a request, a round or a job, which may have a line of its own.
  const isPart = msg === 'ride changed' && step(entry) === '';
  return level >= 40 || !(hiddenMessages.has(msg) || isFromTools || isReport || isPart);
}

/** Formats an entry as one short line: the time, the ride (its last six characters), what happened, and the result. */
export function readable(name: string, entry: LogEntry): string {
  switch (entry.msg) {
    case 'request':
      return row(entry, request(entry), answerText(entry));
    case 'ride created':
      return row(entry, 'bidding', entry.mode === 'test' ? `test ride, ${entry.scenario ?? 'default'}` : 'live ride');
    case 'ride changed':
      return row(entry, step(entry), '');
    case 'dispatch round':
      return row(entry, 'drivers asked', String(entry.asked));
    case 'delivery':
      return row(entry, eventName(entry), delivery(entry));
    case 'mail':
      return row(entry, 'mail', mailed(entry));
    case 'message':
      return row(entry, `text message: ${entry.kind}`, texted(entry));
    case 'manual attempt':
      return row(entry, entry.kind === 'test' ? 'test event' : `event ${entry.seq} again`, delivery(entry));
    default:
      return row(entry, `${name}: ${[...fieldsOf(entry)].join(' ')}`, '', entry.level >= 50 ? 'bad' : 'slow');
  }
}

function row({ time, rideId = '', level, error }: LogEntry, text: string, result: string, style?: Style): string {
  const clock = styled('quiet', new Date(time).toTimeString().slice(0, 8));
  const ride = styled('accent', rideId.slice(-6).padEnd(6));
  const line = `${clock}  ${ride}  ${style ? styled(style, text) : text.padEnd(textWidth)}  ${result}`.trimEnd();
  return error?.at && level >= 50 ? `${line}\n    ${error.at}` : line;
}

function request({ method, route = '', path }: LogEntry): string {
  // Replaces terminal control characters, which a client may put into a path.
  const shownPath = path?.replace(/[^\x20-\x7e]/g, '?').slice(0, longestPath);
  return `${method} ${shownPath ?? route.replace(':rideId', ':id')}`;
}

function answerText({ status, durationMs }: LogEntry): string {
  const code = Number(status);
  const style = code >= 500 ? 'bad' : code >= 400 ? 'slow' : 'good';
  return `${styled(style, String(code))}  ${styled('quiet', `${durationMs} ms`)}`;
}

/** The step that a change of the ride made, in words. Empty for a change without a step, such as a PATCH. */
function step({ status, event, cancelledBy, fare, withdrawn }: LogEntry): string {
  if (fare !== undefined) return `fare raised to ${fare.toFixed(2)}`;
  if (event === 'offer.received') return 'offer received';
  if (!event) return withdrawn ? 'offer withdrawn' : '';
  return cancelledBy ? `${status} by ${cancelledBy}` : String(status);
}

/** A copy for a further endpoint has a kind, and `offer.withdrawn` has no number. */
const eventName = ({ seq, event, kind }: LogEntry): string =>
  `event ${seq ?? ''} ${event}${kind ? ', copy' : ''}`.replace('  ', ' ');

function delivery({ outcome, httpStatus, reason = '', durationMs = 0 }: LogEntry): string {
  const why = reasons[reason] ?? reason;
  switch (outcome) {
    case 'delivered':
      return `${styled('good', `delivered ${httpStatus}`)}  ${styled('quiet', `${durationMs} ms`)}`;
    case 'timeout':
      return styled('bad', `timed out after ${(durationMs / 1_000).toFixed(1)} s`);
    case 'no_url':
      return styled('quiet', 'no URL');
    case 'failed':
      return styled('bad', `failed: ${why} ${httpStatus ?? ''}`.trimEnd());
    default:
      return styled('bad', `${outcome}: ${why}`);
  }
}

function mailed({ outcome, reason = '' }: LogEntry): string {
  if (outcome === 'kept') return `read it at ${styled('accent', mailBoxPath)}`;
  return outcome === 'sent' ? styled('good', 'sent') : styled('bad', `not sent: ${reason}`);
}

function texted({ outcome, reason = '' }: LogEntry): string {
  if (outcome === 'kept') return `read it at ${styled('accent', messageBoxPath)}`;
  return outcome === 'sent' ? styled('good', 'sent') : styled('bad', `not sent: ${reason || outcome}`);
}

/** The text of an entry without its own format, field by field. */
function* fieldsOf({ level, msg, error, ...fields }: LogEntry) {
  if (levels[level]) yield levels[level];
  yield msg;
  const { at: _, ...cause } = error ?? {};
  for (const [field, value] of Object.entries({ ...fields, ...cause })) {
    if (plainFields.has(field) || value === undefined) continue;
    yield `${field}=${typeof value === 'string' ? value : JSON.stringify(value)}`;
  }
}
