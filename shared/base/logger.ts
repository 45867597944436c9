import { type Logger, pino } from 'pino';
import { openLogOutput } from './log-output.ts';
import { logLinesDropped } from './metrics.ts';

/**
 * Every field that a log line or a span may have: ids, words from fixed sets, counts and times. Any other field is
 * dropped, so that nothing sensitive is logged by accident.
 */
const plainFields = new Set([
  // Requests. A path is logged only in development; a route is its pattern.
  'requestId',
  'method',
  'route',
  'path',
  'status',
  'durationMs',
  'part',
  // Subjects of requests and jobs.
  'rideId',
  'keyId',
  'accountId',
  'driverId',
  'attemptId',
  'mailId',
  'messageId',
  'mode',
  'scenario',
  'rev',
  'seq',
  'event',
  'cancelledBy',
  'fare',
  'withdrawn',
  'asked',
  // Jobs.
  'pool',
  'pools',
  'job',
  'jobId',
  'timer',
  'kind',
  'outcome',
  'reason',
  'httpStatus',
  'againInMs',
  'why',
  // The sweeper, the sums of usage and fares, and retention.
  'everything',
  'timers',
  'deliveries',
  'attempts',
  'mails',
  'messages',
  'stalls',
  'drivers',
  'visited',
  'failed',
  'dropped',
  'until',
  'rides',
  'months',
  'trips',
  'expired',
  'idempotencyKeys',
  'auditEntries',
  'ridesErased',
  'attemptsErased',
  'ridesDeleted',
  // The process. Of a setting, only the name.
  'setting',
  'known',
  'version',
  'host',
  'port',
  'signal',
  'lines',
  'limit',
  'wanted',
  'check',
  'warning',
  'index',
  'unsettledEvent',
  'aheadMs',
  'overdueTimer',
]);

/** Fields that contain fields: the result of `describeError`, and the concurrency limit of each pool. */
const nestedFields: Record<string, ReadonlySet<string>> = {
  error: new Set(['name', 'code', 'at']),
  concurrency: new Set(['webhooks', 'webhooks-slow']),
};

type Fields = Record<string, unknown>;

/** Drops every field that is not on the allowlist. */
export function onlyAllowed(fields: Fields): Fields {
  let isAllowed = true;
  for (const name in fields) isAllowed &&= plainFields.has(name) && isPlain(fields[name]);
  return isAllowed ? fields : Object.fromEntries(Object.entries(fields).flatMap(allowed));
}

function allowed([name, value]: [string, unknown]): [string, unknown][] {
  if (plainFields.has(name)) return isPlain(value) ? [[name, value]] : [];
  const inside = nestedFields[name];
  if (!inside || typeof value !== 'object' || value === null) return [];
  return [[name, Object.fromEntries(Object.entries(value).filter(([key, one]) => inside.has(key) && isPlain(one)))]];
}

const isPlain = (value: unknown): boolean =>
  typeof value !== 'object' ||
  value === null ||
  value instanceof Date ||
  (Array.isArray(value) && value.every((one) => typeof one === 'string'));

export type { Logger };

/** All loggers of the process share this output. Lines are lost at the end of the process only if it is killed. */
const output = openLogOutput(1);
process.once('exit', output.flushSync);

/**
 * Creates the process's log: JSON lines on standard output. They contain only the allowed fields (ids, codes, counts
 * and durations), never a body, a key, a secret, a name or a phone number. Lines that cannot be written are dropped; a
 * later line reports how many.
 */
export function createLogger(level: string, processName: string): Logger {
  // Reading process.stdout opens it, which makes a pipe non-blocking.
  if (level !== 'silent') void process.stdout;
  const options = {
    level,
    base: { process: processName },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { log: onlyAllowed },
  };
  const log = pino(options, output);
  output.onDropped = (lines) => {
    logLinesDropped.inc(lines);
    log.error({ lines }, 'log lines were dropped: standard output did not accept writes');
  };
  return log;
}
