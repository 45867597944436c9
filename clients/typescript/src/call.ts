export interface CallOptions {
  /** How long to try, in seconds, while the service does not answer or asks to wait. Default: that of the client. */
  trySeconds?: number;
  /** Ends the call. */
  signal?: AbortSignal;
}

/** A request, before the key and the address are added. */
export interface Call {
  method: string;
  path: string;
  query?: Record<string, string | number | undefined>;
  headers?: Record<string, string | undefined>;
  body?: unknown;
}
