import type { AttemptPhase, RecordedOutcome } from './attempts.ts';

/** The reasons why a delivery fails: a name, and a remedy in one sentence, for pages and mails. */
export const failureReasons = {
  dns: [
    'Host name not found',
    'Check that the URL has no typo, and that its host name has an A or AAAA record in the public DNS.',
  ],
  no_url: ['No webhook URL', 'Set a default webhook URL on the key, or give each ride a webhookUrl.'],
  blocked: [
    'Address not allowed',
    'Use an https URL whose host name has public addresses only: we never call private or cloud-internal addresses.',
  ],
  refused: [
    'Connection refused',
    'Check that your receiver is running and listens on the port of the URL, and that no firewall rejects the connection.',
  ],
  unreachable: ['Host unreachable', 'Check that the host is up, and that its DNS record still has the right address.'],
  reset: [
    'Connection closed without an answer',
    'Look in the logs of your receiver and of the proxy in front of it for a crash or a limit that closed the connection.',
  ],
  tls_name: [
    'TLS certificate for another name',
    'Install a certificate that names the host of the URL, or use a URL whose host the certificate names.',
  ],
  tls_expired: ['TLS certificate expired', 'Renew the certificate, and make your receiver load the new one.'],
  tls_other: [
    'TLS connection failed',
    'Install a certificate of a public authority together with its intermediate certificates, and allow TLS 1.2 or 1.3.',
  ],
  timeout_dns: [
    'Timeout while the host name was looked up',
    'Check that the name servers of your domain answer quickly.',
  ],
  timeout_connect: [
    'Timeout while connecting',
    'Check that the host is up, and that no firewall drops connections to the port of the URL.',
  ],
  timeout_tls: [
    'Timeout during the TLS handshake',
    'Check that the port of the URL speaks TLS, and that your receiver is not overloaded.',
  ],
  timeout_answer: [
    'Timeout while waiting for the answer',
    'Answer with a 2xx status as soon as the event arrives, within 8 seconds, and do the work afterwards.',
  ],
  tls_version: ['TLS version too old', 'Allow TLS 1.2 or 1.3 on the port of the URL.'],
  tls_none: [
    'No TLS on this port',
    'Use the port on which your server speaks HTTPS, or put a proxy with a certificate in front of it.',
  ],
  client_certificate: [
    'Client certificate demanded',
    'Exempt the path of your receiver from client certificates: we send none, so verify the signature of each event instead.',
  ],
  http2: [
    'Only HTTP/2 accepted',
    'Allow HTTP/1.1 on the port of the URL, beside HTTP/2: we send each event over HTTP/1.1.',
  ],
  status_101: [
    'Answered with a change of protocol',
    'Answer the POST itself with a 2xx status: a 101 hands the connection to another protocol, such as WebSocket.',
  ],
  status_304: [
    'Answered as unchanged',
    'Answer with a 2xx status, and let no cache answer for your receiver: a 304 says that nothing has changed since an earlier request.',
  ],
  status_3xx: [
    'Answered with a redirect',
    'Change the URL to the address that the redirect leads to: we do not follow redirects.',
  ],
  status_4xx: [
    'Refused with a 4xx status',
    'Check that the URL leads to your webhook handler, and that the handler accepts POST requests and verifies them with the current signing secret.',
  ],
  status_5xx: [
    'Answered with a 5xx status',
    'Look for the error in the logs of your receiver and of the proxy in front of it: one of them failed on this request.',
  ],
  bad_answer: [
    'Answer not understood',
    'Check that the port of the URL speaks HTTP/1.1 and answers with a status line, within the first 64 kB.',
  ],
  secret: [
    'Signing secret not readable',
    'Roll the signing secret of the key, and give the new secret to your receiver.',
  ],
  endpoint_off: ['Endpoint turned off', 'Turn the endpoint on: only later events are sent to it then.'],
  endpoint_deleted: ['Endpoint deleted', 'Nothing: the endpoint was deleted before this event was sent to it.'],
  erased: ['Body erased', 'The body of this event was erased: retrieve the ride over the API instead.'],
  ours: ['Fault on our side', 'Nothing is wrong with your receiver: send the event again.'],
  other: ['Unknown fault', 'Send the event again, and if that fails too, send our support the id of this attempt.'],
} as const satisfies Record<string, readonly [name: string, remedy: string]>;

export type FailureCode = keyof typeof failureReasons;

interface FailureReason {
  code: FailureCode;
  name: string;
  remedy: string;
}

/** After this many consecutive failures, the dashboard shows them and the account gets a mail. */
export const failuresToReport = 5;

/** The fields of an attempt, or of an event's delivery, that determine the reason. */
export interface FailedDelivery {
  outcome: RecordedOutcome;
  reason?: string;
  httpStatus?: number;
  phase?: AttemptPhase;
}

/** The reason why a delivery failed; null if it did not fail. */
export function failureReason(delivery: FailedDelivery): FailureReason | null {
  const code = codeOf(delivery);
  if (!code) return null;
  const [name, remedy] = failureReasons[code];
  return { code, name, remedy };
}

function codeOf({ outcome, reason = '', httpStatus, phase }: FailedDelivery): FailureCode | null {
  if (outcome === 'delivered' || outcome === 'waiting') return null;
  if (outcome === 'no_url' || outcome === 'blocked') return outcome;
  if (outcome === 'timeout') return timeouts.get(phase ?? reason) ?? 'timeout_answer';
  return byStatus(httpStatus) ?? byReason.get(reason) ?? 'other';
}

// Timeouts in older records do not name a phase. Nearly all of them occurred while waiting for the response.
const timeouts = new Map<string, FailureCode>([
  ['dns', 'timeout_dns'],
  ['connect', 'timeout_connect'],
  ['tls', 'timeout_tls'],
]);

function byStatus(httpStatus = 0): FailureCode | null {
  if (httpStatus === 0) return null;
  if (httpStatus === 101 || httpStatus === 304) return `status_${httpStatus}`;
  if (httpStatus >= 300 && httpStatus < 400) return 'status_3xx';
  if (httpStatus >= 400 && httpStatus < 500) return 'status_4xx';
  return httpStatus >= 500 && httpStatus < 600 ? 'status_5xx' : 'bad_answer';
}

/** System errors that mean a lack of descriptors, memory, ports or a network on our host (our-faults.ts). */
const localFaults = ['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL', 'EAGAIN', 'ENETDOWN', 'EFILE'];

const reasons: Partial<Record<FailureCode, readonly string[]>> = {
  dns: ['ENOTFOUND', 'ENODATA', 'EBADNAME', 'ESERVFAIL', 'EREFUSED', 'EFORMERR', 'ENOTIMP', 'EBADRESP'],
  timeout_dns: ['ETIMEOUT'],
  refused: ['ECONNREFUSED'],
  unreachable: ['EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN'],
  timeout_connect: ['ETIMEDOUT'],
  reset: ['ECONNRESET', 'EPIPE', 'ECONNABORTED'],
  tls_name: ['certificate_name'],
  tls_expired: ['certificate_expired'],
  tls_other: ['certificate', 'tls'],
  tls_version: ['tls_version'],
  tls_none: ['not_tls'],
  client_certificate: ['client_certificate'],
  http2: ['http2'],
  bad_answer: ['answer_too_long', 'not_http'],
  secret: ['signing_secret_damaged'],
  endpoint_off: ['endpoint_off'],
  endpoint_deleted: ['endpoint_deleted'],
  erased: ['body_erased'],
  ours: ['unrecordable', 'no_key_record', 'secrets_key_missing', 'interrupted', 'too_late', ...localFaults],
};
const byReason = new Map(
  Object.entries(reasons).flatMap(([code, texts]) => texts.map((text) => [text, code as FailureCode] as const)),
);
