import fc from 'fast-check';
import { validRide } from './client.ts';

/**
 * Bytes that are not valid HTTP, or nearly not. `KEY` and `CANARY` are placeholders. Requests that a server may
 * understand have the body of a valid creation.
 */
export interface Malformed {
  kind: string;
  text: string;
  /**
   * Set if two parsers may disagree about the end of the request. It must be refused, and the bytes after it never
   * answered.
   */
  isAmbiguous?: boolean;
  /** The client closes the connection after this many bytes of a longer request. */
  cutAt?: number;
}

const body = JSON.stringify({ ...validRide, notes: 'CANARY' });
const bodyBytes = body.length;
const request = (lines: string[], content = body) => `${lines.join('\r\n')}\r\n\r\n${content}`;
const head = ['POST /v1/rides HTTP/1.1', 'Host: x', 'X-Api-Key: KEY', 'Content-Type: application/json'];
const whole = request([...head, `Content-Length: ${bodyBytes}`]);
const chunk = `${bodyBytes.toString(16)}\r\n${body}\r\n`;

const special = fc.constantFrom(
  ...['\0', '\n', '\r', '\r\n', '\r\n\r\n', ' ', '\t', ':', ';', ',', '\u00ff', '\u0080', '\v', '"', '%'],
);
const mutation = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  drop: fc.nat(3),
  put: fc.oneof(special, fc.string({ unit: 'binary', maxLength: 3 }), fc.constant('')),
});
const mutated = fc.array(mutation, { minLength: 1, maxLength: 4 }).map((mutations) => {
  // Mutates only the head, because the body is not HTTP.
  const headBytes = whole.length - bodyBytes;
  const text = mutations.reduce((now, { at, drop, put }) => {
    const offset = Math.floor(at * headBytes);
    return now.slice(0, offset) + put + now.slice(offset + drop);
  }, whole);
  return { kind: 'mutated', text };
});

const length = fc.constantFrom(
  ...['4', '0', `${bodyBytes}`, '+5', '-1', '0x10', '1e2', '5, 5', '99999999999999999999', '', ' ', '4\t'],
);
const transfer = fc.constantFrom(
  ...[
    'chunked',
    'xchunked',
    'chunked, identity',
    'identity, chunked',
    'gzip, chunked',
    '\tchunked',
    'chunked\t',
    'CHUNKED',
  ],
  ...['"chunked"', 'chunked;q=1', 'chunked, chunked', '\vchunked', 'identity', 'cow'],
);
const transferName = fc.constantFrom(
  ...['Transfer-Encoding', 'transfer-encoding', 'Transfer-Encoding ', 'Transfer\tEncoding', 'Transfer_Encoding'],
);
/** Requests with both a length and chunks, followed by a second creation (request smuggling). */
const smuggled = fc
  .record({ length, transfer, name: fc.constant('Transfer-Encoding'), isLengthFirst: fc.boolean() })
  .map(({ length: given, transfer: coding, name, isLengthFirst }) => {
    const both = [`Content-Length: ${given}`, `${name}: ${coding}`];
    const text = request([...head, ...(isLengthFirst ? both : both.reverse())], `0\r\n\r\n${whole}`);
    return { kind: 'smuggled', text, isAmbiguous: true };
  });
const disguised = fc
  .record({ length, transfer, name: transferName })
  .map(({ length: given, transfer: coding, name }) => ({
    kind: 'disguised',
    text: request([...head, `${name}: ${coding}`, `Content-Length: ${given}`], chunk),
  }));
const twoLengths = fc.tuple(length, length).map(([first, second]) => ({
  kind: 'two lengths',
  text: request([...head, `Content-Length: ${first}`, `Content-Length: ${second}`], `${body}${whole}`),
  isAmbiguous: true,
}));

const twice = fc
  .constantFrom(
    ...['Host: y', 'Authorization: Bearer KEY', 'X-Api-Key: x', 'Content-Type: text/plain', 'Expect: 100-continue'],
    ...['Idempotency-Key: a'],
  )
  .chain((line) =>
    fc.integer({ min: 1, max: 60 }).map((times) => ({
      kind: 'repeated header',
      text: request([...head, ...Array.from({ length: times }, () => line), `Content-Length: ${bodyBytes}`]),
    })),
  );
const lineEnds = fc.constantFrom('\n', '\r', '\n\r', '\r\r\n', '\r\n ', '\r\n\t').map((end) => ({
  kind: 'line ends',
  text: whole.replaceAll('\r\n', end),
}));
const oneLineEnd = fc
  .record({ end: fc.constantFrom('\n', '\r', '\r\n ', '\0\r\n'), number: fc.nat(5) })
  .map(({ end, number }) => ({
    kind: 'one line end',
    text: whole
      .split('\r\n')
      .map((line, index, lines) => line + (index === lines.length - 1 ? '' : index === number ? end : '\r\n'))
      .join(''),
  }));
const hugeHeaders = fc
  .record({ count: fc.constantFrom(1, 90, 2_500), bytes: fc.constantFrom(10, 8_000, 17_000, 70_000) })
  .map(({ count, bytes }) => ({
    kind: 'huge headers',
    text: request(
      [
        ...head,
        ...Array.from({ length: count }, (_, i) => `X-${i}: ${'h'.repeat(Math.ceil(bytes / count))}`),
        'Content-Length: 0',
      ],
      '',
    ),
  }));

const size = fc.constantFrom(
  ...['0', '1', 'zz', '-1', '0x10', 'FFFFFFFFFFFFFFFF', '7fffffff', '10000000000000000', '1;a=b', '1 ', ' 1', ''],
  ...[`${bodyBytes.toString(16)}`],
);
const chunkEnd = fc.constantFrom('\r\n', '\n', '', '\r', 'X\r\n');
const badChunks = fc
  .array(fc.record({ size, end: chunkEnd, content: fc.constantFrom(body, 'x', '', '{') }), {
    minLength: 1,
    maxLength: 4,
  })
  .map((chunks) => ({
    kind: 'bad chunks',
    text: request(
      [...head, 'Transfer-Encoding: chunked'],
      `${chunks.map(({ size: given, end, content }) => `${given}${end}${content}${end}`).join('')}0\r\n\r\n`,
    ),
  }));
const goodChunks = fc
  .constantFrom('', 'Authorization: Bearer x\r\n', 'Content-Length: 3\r\n', 'X: \0\r\n')
  .map((trailers) => ({
    kind: 'chunks',
    text: request([...head, 'Transfer-Encoding: chunked'], `${chunk}0\r\n${trailers}\r\n`),
  }));

const firstLine = fc
  .record({
    method: fc.constantFrom(
      ...['GET', 'POST', 'get', 'CONNECT', 'OPTIONS', 'PRI', 'FETCH', '', 'G\0T', 'GET GET', 'M-SEARCH'],
    ),
    target: fc.oneof(
      fc.constantFrom(
        ...['/v1', '*', '', 'http://x/v1/rides', 'http://x:99999/v1', '//', 'x:443', '/v1/rides/\0'],
        ...['/v1/rides/\u00ff', '/v1#f', '\\v1', '/v1?\t'],
      ),
      fc.string({ unit: 'binary-ascii', maxLength: 20 }),
    ),
    version: fc.constantFrom(
      ...['HTTP/1.1', 'HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'HTTP/1.10', 'HTTP/', 'ICE/1.0', '', 'HTTP/1.1 x'],
      ...['RTSP/1.0'],
    ),
    hosts: fc.constantFrom(['Host: x'], [], ['Host:'], ['Host: a b'], ['Host: x', 'Host: y'], ['Host: \u00ff']),
  })
  .map(({ method, target, version, hosts }) => ({
    kind: 'first line',
    text: request([`${method} ${target} ${version}`, ...hosts, 'X-Api-Key: KEY'], ''),
  }));
const junk = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  fc.constantFrom(
    '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    '\r\n'.repeat(50),
    '\0'.repeat(100),
    '*1\r\n$4\r\nPING\r\n',
  ),
);
const pipelined = fc.array(
  fc.constantFrom(whole, request(['GET /v1 HTTP/1.1', 'Host: x', 'X-Api-Key: KEY'], ''), 'X'),
  { minLength: 2, maxLength: 6 },
);
const early = fc.double({ min: 0.02, max: 0.98, noNaN: true }).map((share) => ({
  kind: 'early close',
  text: whole,
  cutAt: Math.floor(share * whole.length),
}));

export const malformed: fc.Arbitrary<Malformed> = fc.oneof(
  { arbitrary: mutated, weight: 6 },
  { arbitrary: smuggled, weight: 3 },
  disguised,
  twoLengths,
  twice,
  lineEnds,
  oneLineEnd,
  hugeHeaders,
  { arbitrary: badChunks, weight: 2 },
  goodChunks,
  { arbitrary: firstLine, weight: 3 },
  junk.map((text) => ({ kind: 'junk', text })),
  pipelined.map((parts) => ({ kind: 'pipelined', text: parts.join('') })),
  { arbitrary: early, weight: 2 },
);
