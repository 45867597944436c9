/**
 * The one class for faults that a caller can be told about, and the one table from its code to HTTP status and public
 * text (contract, section 7). Pure: which face renders it, and how, is not known here.
 */
const errorTable = {
  invalid_request: [400, 'The request is invalid'],
  unauthorized: [401, 'Missing or invalid API key'],
  https_required: [403, 'HTTPS is required: this key was sent in the clear and should be rotated'],
  not_found: [404, 'Not found'],
  ride_not_found: [404, 'Ride not found'],
  offer_not_found: [404, 'Offer not found on this ride'],
  method_not_allowed: [405, 'Method not allowed'],
  request_timeout: [408, 'The request took too long to arrive'],
  ride_not_bidding: [409, 'The ride is no longer open for bidding'],
  bidding_over: [409, 'The bidding time of this ride is over'],
  offer_withdrawn: [409, 'The offer was withdrawn'],
  offers_full: [409, 'The ride has received as many offers as it can take'],
  offer_exists: [409, 'The driver already has a live offer on this ride'],
  ride_ended: [409, 'The ride is already completed or cancelled'],
  illegal_step: [409, 'The ride is not in a status that allows this step'],
  idempotency_conflict: [409, 'This Idempotency-Key was used with a different request'],
  payload_too_large: [413, 'The request body is larger than 16384 bytes'],
  rate_limited: [429, 'Rate limit exceeded: 30 rides per minute and 300 per hour for each key'],
  headers_too_large: [431, 'The request headers are too large'],
  internal: [500, 'Internal error: the request is safe to retry'],
  /** MongoDB may have done it all the same: it broke off before it said so. */
  unconfirmed: [503, 'The service is temporarily unavailable: the request is safe to retry'],
  unavailable: [503, 'The service is temporarily unavailable: the request is safe to retry'],
} as const satisfies Record<string, readonly [status: number, message: string]>;

export type ErrorCode = keyof typeof errorTable;

export interface ErrorDetails {
  /** Replaces the table's public text, e.g. to name the field that is wrong. Never holds a value of the request. */
  message?: string;
  /** Headers of the answer, e.g. Retry-After. */
  headers?: Record<string, string>;
}

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
    this.headers = details.headers ?? {};
  }
}

/** What may be logged of an unknown error: where it happened, never its message, which may quote a value. */
export function describeError(error: unknown): { name: string; code?: string | number; at?: string } {
  if (!(error instanceof Error)) return { name: typeof error };
  const { code } = error as { code?: string | number };
  // The stack begins with name and message, and a message can have lines that look like frames.
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
