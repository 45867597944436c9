/**
 * The outcome of an attempt.
 * `delivered`: the receiver answered 2xx in time.
 * `failed`: the receiver gave another answer or none, or could not be reached.
 * `timeout`: the time limit ended the attempt.
 * `blocked`: the target is not allowed. Nothing was sent.
 * `lost`: this run no longer held the claim, or could not confirm it. Nothing was sent, and nothing may be recorded.
 * `unable`: a local fault (our-faults.ts) prevented the attempt. Nothing was sent, and the attempt is postponed.
 */
type AttemptOutcome = 'delivered' | 'failed' | 'timeout' | 'blocked' | 'lost' | 'unable';

export type AttemptResult = {
  outcome: AttemptOutcome;
  httpStatus?: number;
  /** A short code from a fixed set (`ECONNREFUSED`, `redirect`): never a value from the URL or the answer. */
  reason?: string;
};

/**
 * Own codes for what Node's HTTP parser and OpenSSL report. The first pattern that a code matches counts. An alert is
 * what the receiver's TLS library answers.
 */
const libraryCodes: readonly [RegExp, string][] = [
  [/^HPE_/, 'not_http'],
  [/ALERT_CERTIFICATE_REQUIRED|ALERT_(?:BAD|NO)_CERTIFICATE|ALERT_UNKNOWN_CA/, 'client_certificate'],
  [/NO_APPLICATION_PROTOCOL/, 'http2'],
  [/UNRECOGNIZED_NAME/, 'certificate_name'],
  [/UNSUPPORTED_PROTOCOL|PROTOCOL_VERSION|NO_PROTOCOLS_AVAILABLE/, 'tls_version'],
  [/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|UNKNOWN_PROTOCOL/, 'not_tls'],
  [/^EPROTO$|^ERR_(?:SSL|TLS|OSSL)/, 'tls'],
  [/^ERR_/, 'unknown'],
];

/** The code for partners: a system error (`ECONNREFUSED`) as it is, and an own code for each code of a library. */
export const ownReason = (code: string): string => libraryCodes.find(([pattern]) => pattern.test(code))?.[1] ?? code;

/** Ends an attempt early. `send` returns its result. */
export class AttemptError extends Error {
  readonly result: AttemptResult;

  constructor(outcome: AttemptOutcome, reason: string) {
    super(reason);
    this.result = { outcome, reason };
  }
}
