import { expect } from 'chai';
import fc from 'fast-check';
import { validRide } from '../support/client.ts';
import { type RawAnswer, rawRequest, requestText } from '../support/raw-http.ts';
import { startTestApi, type TestApi } from '../support/service.ts';

/** Another seed tries other requests; a failure names the seed and the smallest request that fails. */
const seed = Number(process.env.SEED ?? 20_251_121);
const count = 2_000;

const fieldNames = [
  'pickup',
  'destination',
  'fare',
  'carType',
  'passengerCount',
  'distanceKm',
  'passenger',
  'notes',
  'rideType',
  'webhookUrl',
  'offerId',
  '__proto__',
  'constructor',
  '$where',
  'toString',
];

const anyValue = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.double(),
  fc.integer(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom(null, '', 0, -0, 1e308, {}, [], 'regular', 'https://x.example/'),
);

const coordinate = fc.oneof(
  fc.double({ min: -200, max: 200, noNaN: true }),
  fc.integer({ min: -180, max: 180 }),
  anyValue,
);
const place = fc.oneof(
  fc.record({ lat: coordinate, lng: coordinate, address: anyValue }, { requiredKeys: [] }),
  fc.record({
    lat: fc.double({ min: -90, max: 90, noNaN: true }),
    lng: fc.double({ min: -180, max: 180, noNaN: true }),
  }),
);

/** From a valid creation with some fields replaced to anything at all. */
const rideBody = fc
  .tuple(
    fc.record(
      { pickup: place, destination: place, fare: fc.oneof(fc.double({ min: 0, noNaN: true }), anyValue) },
      { requiredKeys: [] },
    ),
    fc.dictionary(fc.constantFrom(...fieldNames), anyValue, { maxKeys: 3 }),
  )
  .map(([likely, wild]) => JSON.stringify({ ...validRide, ...likely, ...wild }));

const body = fc.oneof(
  { arbitrary: rideBody, weight: 5 },
  fc.json({ maxDepth: 5 }),
  fc.string({ unit: 'binary' }),
  fc.record({ offerId: anyValue }).map((value) => JSON.stringify(value)),
  fc.constantFrom('', '{', '[]', '{}', `{"notes":"${'x'.repeat(17_000)}"}`, '['.repeat(5_000)),
);

const headerText = fc.string({ maxLength: 40 }).map((text) => text.replace(/[^\x20-\x7e]/g, ''));
const headers = fc.uniqueArray(
  fc.oneof(
    fc.tuple(
      fc.constantFrom(
        'Idempotency-Key',
        'X-Service-Test-Scenario',
        'X-Forwarded-Proto',
        'X-Http-Method-Override',
        'Accept',
        'Range',
        'If-None-Match',
        'Content-Encoding',
        'Expect',
        'Accept-Encoding',
        'Origin',
        'Cookie',
      ),
      headerText,
    ),
    fc.tuple(fc.constant('X-Service-Test-Scenario'), fc.constantFrom('default', 'three_offers', 'stalls')),
    fc.tuple(fc.constant('Idempotency-Key'), fc.constantFrom('a', 'b', 'c')),
    fc.tuple(fc.constant('Content-Encoding'), fc.constantFrom('gzip', 'deflate', 'br', 'identity')),
  ),
  { maxLength: 3, selector: ([name]) => name },
);

const method = fc.oneof(
  { arbitrary: fc.constant('POST'), weight: 4 },
  fc.constantFrom('GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'TRACE'),
);
const contentType = fc.oneof(
  { arbitrary: fc.constant('application/json'), weight: 6 },
  fc.constantFrom(
    'text/plain',
    'application/json; charset=utf-16',
    'application/x+json',
    'multipart/form-data; boundary=x',
    ';',
    '',
  ),
  headerText,
);
const credentials = fc.oneof(
  { arbitrary: fc.constant('Bearer KEY'), weight: 8 },
  fc.constantFrom('Bearer', 'bearer KEY', 'Basic KEY', ''),
  headerText,
);

const segment = fc.oneof(
  fc.constantFrom(
    'rides',
    'RIDE',
    'offers',
    'accept',
    'cancel',
    '',
    '.',
    '..',
    '%',
    '%00',
    '%E0%A4%A',
    '%2F',
    '__proto__',
    'ride_x',
    'a'.repeat(300),
  ),
  fc.string({ maxLength: 12 }).map((text) => encodeURIComponent(text.toWellFormed())),
  fc.string({ maxLength: 12 }).map((text) => text.replace(/[^\x21-\x7e]/g, '')),
);
const path = fc.oneof(
  { arbitrary: fc.constant('/rides'), weight: 4 },
  fc.constantFrom('/rides/RIDE', '/rides/RIDE/offers', '/rides/RIDE/accept', '/rides/RIDE/cancel', '', '/'),
  fc.array(segment, { maxLength: 4 }).map((segments) => `/${segments.join('/')}`),
);
const target = fc.oneof(
  {
    arbitrary: fc.tuple(fc.constantFrom('/v1', '/v1', '/api/v1', '/v2', ''), path).map((parts) => parts.join('')),
    weight: 8,
  },
  fc.webUrl(),
  fc.constantFrom('*', '/healthz', '/readyz', 'http://[', '//', '?'),
);

const request = fc.record({ method, target, headers, contentType, credentials, body });

describe(`${count.toLocaleString('en')} generated requests`, () => {
  let api: TestApi;

  before(async () => {
    api = await startTestApi();
  });
  after(() => api.close());

  it(`each end in a success body or in { error }, never in a 5xx, and the process lives (seed ${seed})`, async function () {
    this.timeout(60_000);
    const seen = new Map<number, number>();
    const partner = await api.partner();
    const { rideId } = (await partner.createRide()).body;

    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 20, maxLength: 20 }), async (requests) => {
        // Else most creations would end at the limit.
        await api.ctx.redis.del(`rides:created:${partner.keyId}`);
        await Promise.all(
          requests.map(async (generated) => {
            const text = textOf(generated, partner.key, rideId);
            const answer = await rawRequest(api.url, text);
            seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
            expectContract(answer, generated);
          }),
        );
      }),
      { seed, numRuns: count / 20, endOnFailure: true },
    );

    expect((await partner.get(`/rides/${rideId}`)).status).to.equal(200);
    // The requests are worth something only while they reach every corner.
    for (const status of [200, 201, 400, 401, 404, 405, 409, 413]) expect(seen.get(status), `${status}`).to.be.above(0);
  });
});

type Generated = typeof request extends fc.Arbitrary<infer T> ? T : never;

function textOf(generated: Generated, key: string, rideId: string): string | Buffer {
  const bytes = Buffer.from(generated.body, 'utf8');
  const { method: verb, target: to, contentType: type, credentials: given } = generated;
  const lines = [
    `${verb} ${to.replace('RIDE', rideId) || '/'} HTTP/1.1`,
    'Host: rides.example',
    'Connection: close',
    `Content-Length: ${bytes.length}`,
    ...(given ? [`Authorization: ${given.replace('KEY', key)}`] : []),
    ...(type ? [`Content-Type: ${type}`] : []),
    ...generated.headers.map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.concat([Buffer.from(requestText(lines), 'latin1'), bytes]);
}

function expectContract(answer: RawAnswer, { method: verb }: Generated): void {
  expect(answer.status, answer.statusLine).to.be.within(200, 499);
  expect(answer.headers['content-type']).to.equal('application/json; charset=utf-8');
  expect(answer.headers['x-request-id']).to.match(/^[0-9a-f-]{36}$/);
  if (verb === 'HEAD') return;
  expect(answer.body).to.be.an('object');
  if (answer.status >= 400) expect(Object.keys(answer.body)).to.deep.equal(['error']);
  else expect(answer.body).not.to.have.property('error');
  if (answer.status === 201) {
    expect(answer.body.rideId).to.be.a('string');
    expect(answer.body.fare).to.be.a('number');
    expect(answer.body.distanceKm).to.be.a('number');
  }
}
