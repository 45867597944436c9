import { redisProblemOf } from './redis-problem.ts';

/**
 * Each error that a caller can get: its code, HTTP status and public text (contract, section 7). A code is public:
 * programs read it in `X-Service-Error`, so it is never renamed. Pure.
 */
const errorTable = {
  invalid_request: [400, 'The request is invalid'],
  unauthorized: [401, 'Missing or invalid API key'],
  https_required: [403, 'HTTPS is required: this key was sent in the clear and should be rotated'],
  live_ride: [403, 'Only rides of a test key can be stepped by hand: real drivers drive those of a live key'],
  account_suspended: [403, 'This account is suspended'],
  forbidden: [403, 'This is not allowed'],
  foreign_change: [403, 'This change did not come from a page of this service'],
  not_found: [404, 'Not found'],
  ride_not_found: [404, 'Ride not found'],
  link_not_found: [404, 'This link is no longer valid'],
  offer_not_found: [404, 'Offer not found on this ride'],
  event_not_found: [404, 'Event not found on this ride'],
  endpoint_not_found: [404, 'Webhook endpoint not found'],
  method_not_allowed: [405, 'Method not allowed'],
  request_timeout: [408, 'The request took too long to arrive'],
  ride_not_bidding: [409, 'The ride is no longer open for bidding'],
  bidding_not_open: [409, 'Bidding on this ride has not opened yet'],
  bidding_over: [409, 'The bidding time of this ride is over'],
  offer_withdrawn: [409, 'The offer was withdrawn'],
  offers_full: [409, 'The ride has received as many offers as it can take'],
  driver_offers_full: [409, 'The driver has made 3 offers on this ride, as many as one driver can'],
  offer_exists: [409, 'The driver already has a live offer on this ride'],
  ride_ended: [409, 'The ride is already completed or cancelled'],
  fare_not_higher: [409, 'The fare can only be raised'],
  driver_busy: [409, 'The driver of this offer has taken another ride'],
  equipment_missing: [409, 'The driver does not have the equipment or the seats that this ride needs'],
  on_a_ride: [409, 'The driver is on a ride'],
  not_own_ride: [409, "This is not the driver's own ride"],
  no_driver: [409, 'The ride has no driver yet'],
  messages_full: [409, 'The ride has had 10 messages to the driver, as many as it can take'],
  wrong_pin: [409, 'The PIN of the passenger is missing or wrong'],
  pin_locked: [409, 'Five wrong PINs were given within 10 minutes. Try again later, or ask the desk to start the trip'],
  illegal_step: [409, 'The ride is not in a status that allows this step'],
  key_changed: [409, 'Somebody changed this key a moment ago. Nothing was changed now'],
  endpoints_full: [409, 'The key has 5 webhook URLs, as many as it can have'],
  not_sent_yet: [409, 'This event has not been sent yet; it is sent automatically'],
  no_webhook_url: [409, 'Neither the ride nor its key has a webhook URL'],
  not_erasable: [409, 'The ride has not ended, or has something left to send'],
  idempotency_conflict: [409, 'This Idempotency-Key was used with a different request'],
  body_erased: [410, 'The body of this event has been erased, so it cannot be sent again'],
  ride_erased: [410, 'The ride of this Idempotency-Key has been erased'],
  payload_too_large: [413, 'The request body is larger than 16384 bytes'],
  // Each 429 adds the limit that was reached to this message (limitReached).
  rate_limited: [429, 'Rate limit exceeded'],
  too_many_streams: [429, 'Too many open streams'],
  too_many_waiting: [429, 'Too many requests are waiting for events'],
  headers_too_large: [431, 'The request headers are too large'],
  internal: [500, 'Internal error: the request is safe to retry'],
  // The connection to MongoDB broke before the acknowledgement, so the write may have succeeded.
  unconfirmed: [503, 'The service is temporarily unavailable: the request is safe to retry'],
  unavailable: [503, 'The service is temporarily unavailable: the request is safe to retry'],
} as const satisfies Record<string, readonly [status: number, message: string]>;

export type ErrorCode = keyof typeof errorTable;
export const errorCodes = Object.keys(errorTable) as ErrorCode[];

/** The status, the code and the text of an error, as a caller gets them. */
export function publicErrorOf(code: ErrorCode): { status: number; code: ErrorCode; text: string } {
  const [status, text] = errorTable[code];
  // Callers see `unconfirmed` as `unavailable`, because after any 503 the write may have succeeded.
  return { status, code: code === 'unconfirmed' ? 'unavailable' : code, text };
}

/** The response header that carries the code of an error (contract, section 7). */
export const errorCodeHeader = 'X-Service-Error';

/** The code of an error response that no AppError caused, e.g. a page that shows a form with its errors. */
export function codeOfStatus(status: number): ErrorCode {
  return codesOfStatuses[status] ?? (status >= 500 ? 'internal' : 'invalid_request');
}

const codesOfStatuses: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'payload_too_large',
  429: 'rate_limited',
  503: 'unavailable',
};

/** What is wrong with a field: programs read it in `X-Service-Errors`, so a code is never renamed. */
export const faultCodes = ['missing', 'wrong_type', 'out_of_range', 'wrong_length', 'not_allowed', 'invalid'] as const;

/** A fault of one field of a request. `field` is its path, such as `pickup.lat`. */
export interface Fault {
  field: string;
  code: (typeof faultCodes)[number];
  /** Never contains a value from the request. */
  message: string;
}

const mostFaults = 10;

/** A client may refuse long headers: a name in `metadata` may have any length. */
const headerText = (text: string): string => text.slice(0, 200);

/** A header contains only ASCII, so other characters are escaped as in JSON. */
const toAscii = (text: string): string =>
  text.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The headers that name the invalid fields of a request: the first one, and at most ten of them with their faults. */
function faultHeaders(faults: readonly Fault[]): Record<string, string> {
  const [first] = faults;
  if (!first) return {};
  const shown = faults
    .slice(0, mostFaults)
    .map(({ field, code, message }) => ({ field: headerText(field), code, message: headerText(message) }));
  return {
    'X-Service-Error-Field': toAscii(headerText(first.field)),
    'X-Service-Errors': toAscii(JSON.stringify(shown)),
  };
}

interface ErrorDetails {
  /** Replaces the public text, for example to name the invalid field. Never contains a value from the request. */
  message?: string;
  /** Headers of the response in addition to `X-Service-Error`, for example Retry-After. */
  headers?: Record<string, string>;
  /** The invalid fields of the request, the one of the message first. */
  faults?: readonly Fault[];
}

/** An error that the caller gets as the response. Thrown where the fault is found; rendered in handle-errors.ts. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, details: ErrorDetails = {}) {
    const [status, message] = errorTable[code];
    super(details.message ?? message);
    this.name = 'AppError';
    this.code = code;
    this.status = status;
    // RFC 9110 requires this header in every 401. A driver who is suspended while a request runs gets a 401 too.
    const scheme = status === 401 && { 'WWW-Authenticate': 'Bearer' };
    const faults = faultHeaders(details.faults ?? []);
    this.headers = { ...scheme, ...faults, ...details.headers, [errorCodeHeader]: publicErrorOf(code).code };
  }
}

/**
 * The part of an error that may be logged: name, code and stack. Never the message, which may contain a value. The code
 * of an error of Redis is a word of redis-problem.ts.
 */
export function describeError(error: unknown): { name: string; code?: string | number; at?: string } {
  if (!(error instanceof Error)) return { name: typeof error };
  const { code = redisProblemOf(error) } = error as { code?: string | number };
  // A line of the message can look like a stack frame, so the message is removed from the start of the stack.
  const message = `${error.name}: ${error.message}`;
  const frames = error.stack
    ?.slice(
      error.stack.startsWith(message) ? message.length : error.stack.indexOf(error.message) + error.message.length,
    )
    .split('\n')
    .filter((line) => /^\s+at /.test(line));
  const cause = error.cause instanceof Error ? ` <- ${error.cause.name}` : '';
  return {
    name: error.name + cause,
    ...(code !== undefined && { code }),
    ...(frames?.length && {
      at: frames
        .slice(0, 8)
        .map((line) => line.trim())
        .join(' | '),
    }),
  };
}

/** A 429 that names the exceeded limit, e.g. "Too many open streams: at most 20 for each network address". */
export function limitReached(
  code: 'rate_limited' | 'too_many_streams' | 'too_many_waiting',
  limit: string,
  headers: Record<string, string>,
): AppError {
  return new AppError(code, { message: `${publicErrorOf(code).text}: ${limit}`, headers });
}

/** Thrown if settings are missing or invalid. One line per setting, with its name and never its value. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** Thrown if the connected database lacks an index or a value that `migrate` creates. */
export class NotMigrated extends ConfigError {
  constructor(what: string) {
    super(`MongoDB lacks ${what}: run migrate (npm run migrate, or node dist/cli/migrate.js)`);
  }
}
