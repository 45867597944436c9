import type { ErrorCode } from './generated.ts';

/** The service refuses a request, and a repeat would be refused too, or the time for repeats is over. */
export class ServiceError extends Error {
  override name = 'ServiceError';
  /** The HTTP status. */
  readonly status: number;
  /** For programs, such as `offer_withdrawn`. Empty if the answer did not come from the service. */
  readonly code: ErrorCode;
  /** The id of the request in the log of the service: give it to support. */
  readonly requestId: string | undefined;
  /** How long the service asked to wait, in seconds. */
  readonly retryAfter: number | undefined;
  /** The wrong fields of a 400, at most ten: each with its path, such as `pickup.lat`, a code and a sentence. */
  readonly fields: readonly { field: string; code: string; message: string }[];

  constructor(response: Response, text: string) {
    const header = (name: string) => response.headers.get(name) ?? undefined;
    super(`${response.status} ${errorIn(text)}`);
    this.status = response.status;
    this.code = header('x-service-error') ?? '';
    this.requestId = header('x-request-id');
    this.retryAfter = Number(header('retry-after')) || undefined;
    this.fields = JSON.parse(header('x-service-errors') ?? '[]');
  }

  /** True if a later repeat of the same request can succeed. */
  get isTemporary(): boolean {
    return this.status >= 500 || this.status === 408 || this.status === 429;
  }
}

/** No answer came, although the request was repeated. The cause is the last fault of the network. */
export class NoAnswerError extends Error {
  override name = 'NoAnswerError';
}

/** The request to your receiver was not signed with your secret, or it is too old. */
export class SignatureError extends Error {
  override name = 'SignatureError';
}

function errorIn(text: string): string {
  try {
    return String(JSON.parse(text).error);
  } catch {
    return text.slice(0, 200);
  }
}
