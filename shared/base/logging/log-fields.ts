/**
 * Every field that a log line or a span may have. What is not here is left out, so that a line cannot say more than was thought
 * of: they hold ids, words of fixed sets, counts and times.
 */
const plain = new Set([
  // Requests. A path is logged in development alone, a route is its pattern.
  'requestId',
  'method',
  'route',
  'path',
  'status',
  'durationMs',
  'part',
  // What they and jobs are about.
  'rideId',
  'keyId',
  'accountId',
  'driverId',
  'attemptId',
  'mailId',
  'mode',
  'scenario',
  'rev',
  'seq',
  'event',
  'cancelledBy',
  'fare',
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
  // The sweeper, the sums of usage and of fares, and the retention.
  'everything',
  'timers',
  'deliveries',
  'attempts',
  'mails',
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
  // The process.
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

/** Fields that hold fields: those of `describeError`, and what each pool may do. */
const nested: Record<string, ReadonlySet<string>> = {
  error: new Set(['name', 'code', 'at']),
  concurrency: new Set(['webhooks', 'webhooks-slow']),
};

type Fields = Record<string, unknown>;

/** The fields that may be logged, of those that were given. */
export function onlyAllowed(fields: Fields): Fields {
  let isAllowed = true;
  for (const name in fields) isAllowed &&= plain.has(name) && isPlain(fields[name]);
  return isAllowed ? fields : Object.fromEntries(Object.entries(fields).flatMap(allowed));
}

function allowed([name, value]: [string, unknown]): [string, unknown][] {
  if (plain.has(name)) return isPlain(value) ? [[name, value]] : [];
  const inside = nested[name];
  if (!inside || typeof value !== 'object' || value === null) return [];
  return [[name, Object.fromEntries(Object.entries(value).filter(([key, one]) => inside.has(key) && isPlain(one)))]];
}

const isPlain = (value: unknown): boolean =>
  typeof value !== 'object' ||
  value === null ||
  value instanceof Date ||
  (Array.isArray(value) && value.every((one) => typeof one === 'string'));
