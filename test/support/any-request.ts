import fc from 'fast-check';
import { anyBody, anyEncoding } from './any-body.ts';
import { requestText } from './raw-http.ts';

const headerText = fc.string({ maxLength: 40 }).map((text) => text.replace(/[^\x20-\x7e]/g, ''));
const headers = fc.uniqueArray(
  fc.oneof(
    fc.tuple(
      fc.constantFrom(
        ...['Idempotency-Key', 'X-Service-Test-Scenario', 'X-Forwarded-Proto', 'X-Forwarded-For'],
        ...['X-Http-Method-Override', 'X-Api-Key', 'Accept', 'Range', 'If-None-Match', 'Content-Encoding', 'Expect'],
        ...['Accept-Encoding', 'Origin', 'Cookie', '__proto__', 'constructor'],
      ),
      fc.oneof(
        headerText,
        fc.constantFrom('{"$gt": ""}', '[$ne]', 'CANARY', '%00', '__proto__', '\u00ff\u00fe', 'a'.repeat(4_000)),
      ),
    ),
    fc.tuple(fc.constant('X-Service-Test-Scenario'), fc.constantFrom('default', 'three_offers', 'stalls')),
    fc.tuple(
      fc.constant('Idempotency-Key'),
      fc.constantFrom('a', 'b', 'c', 'CANARY', 'a'.repeat(255), 'a'.repeat(256)),
    ),
    fc.tuple(fc.constant('Content-Encoding'), fc.constantFrom('gzip', 'deflate', 'br', 'identity', 'gzip, gzip')),
    fc.tuple(fc.constant('Expect'), fc.constantFrom('100-continue', '200-ok')),
    fc.tuple(fc.constant('Upgrade'), fc.constantFrom('websocket', 'h2c')),
  ),
  { maxLength: 3, selector: ([name]) => name },
);

const method = fc.oneof(
  { arbitrary: fc.constant('POST'), weight: 4 },
  fc.constantFrom('GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'TRACE', 'PROPFIND', 'SEARCH', 'QUERY'),
);
const contentType = fc.oneof(
  { arbitrary: fc.constant('application/json'), weight: 6 },
  fc.constantFrom(
    ...['text/plain', 'application/json; charset=utf-16', 'application/json; charset=utf-8; charset=latin1'],
    ...['application/x+json', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', ';', ''],
  ),
  headerText,
);
const credentials = fc.oneof(
  { arbitrary: fc.constant('Bearer KEY'), weight: 8 },
  fc.constantFrom(
    ...['Bearer', 'bearer KEY', 'Basic KEY', 'Bearer KEY KEY', 'Bearer {"$gt":""}', `Bearer ${'x'.repeat(3_000)}`],
    '',
  ),
  headerText,
);

const segment = fc.oneof(
  fc.constantFrom(
    ...['rides', 'RIDE', 'RIDE%00', 'offers', 'accept', 'cancel', '', '.', '..', '%', '%00', '%E0%A4%A', '%ED%A0%80'],
    ...['%2F', '__proto__', 'constructor', '%7B%22$gt%22:%22%22%7D', '[$ne]', 'ride_x', 'a'.repeat(300)],
  ),
  fc.string({ maxLength: 12 }).map((text) => encodeURIComponent(text.toWellFormed())),
  fc.string({ maxLength: 12 }).map((text) => text.replace(/[^\x21-\x7e]/g, '')),
);
const path = fc.oneof(
  { arbitrary: fc.constant('/rides'), weight: 4 },
  fc.constantFrom('/rides/RIDE', '/rides/RIDE/offers', '/rides/RIDE/accept', '/rides/RIDE/cancel', '', '/'),
  fc.constantFrom('/rides/RIDE/fare', '/fare-hint?pickup=1,2&destination=3,4'),
  fc.constantFrom('offer', 'withdraw', 'arrive', 'cancel').map((step) => `/test/rides/RIDE/${step}`),
  fc.array(segment, { maxLength: 4 }).map((segments) => `/${segments.join('/')}`),
  segment.map((last) => `/rides/${last}/accept?rideId[$ne]=x&__proto__[x]=1`),
);
const target = fc.oneof(
  {
    arbitrary: fc
      .tuple(fc.constantFrom('/v1', '/v1', '/v1', '/api/v1', '/api/v1', '/v2', ''), path)
      .map((parts) => parts.join('')),
    weight: 8,
  },
  fc.webUrl(),
  fc.constantFrom('*', '/healthz', '/readyz', 'http://[', '//', '?'),
);

/**
 * Any well-formed HTTP request; most are almost valid. `KEY`, `RIDE`, `OFFER` and `CANARY` are placeholders, so that a
 * failing request can be printed without a secret.
 */
export const anyRequest = fc.record({
  method,
  target,
  headers,
  contentType,
  credentials,
  body: anyBody,
  encoding: anyEncoding,
});
export type AnyRequest = typeof anyRequest extends fc.Arbitrary<infer T> ? T : never;

/** The values of the placeholders. */
export type Filling = Record<'KEY' | 'RIDE' | 'OFFER' | 'CANARY', string>;

/** The bytes of a generated request. */
export function anyRequestBytes(generated: AnyRequest, filling: Filling): Buffer {
  const filled = (text: string) => text.replace(/KEY|RIDE|OFFER|CANARY/g, (name) => filling[name as keyof Filling]);
  const bytes = Buffer.from(filled(generated.body), generated.encoding);
  const { contentType: type, credentials: given } = generated;
  const lines = [
    `${generated.method} ${filled(generated.target) || '/'} HTTP/1.1`,
    'Host: rides.example',
    'Connection: close',
    `Content-Length: ${bytes.length}`,
    ...(given ? [`Authorization: ${filled(given)}`] : []),
    ...(type ? [`Content-Type: ${type}`] : []),
    ...generated.headers.map(([name, value]) => `${name}: ${filled(value)}`),
  ];
  return Buffer.concat([Buffer.from(requestText(lines), 'latin1'), bytes]);
}
