import { expect } from 'chai';
import { rides } from '../../shared/rides/ride.ts';
import { type Client, validRide } from '../support/client.ts';
import { useTestApi } from '../support/service.ts';

const at = (lat: unknown, lng: unknown) => ({ lat, lng });
const entries = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, 'x']));

/** A title, the fields to send, and the field that the error must name. */
type Case = [title: string, fields: object, named?: string];

const accepted: Case[] = [
  [
    'texts and languages',
    { passenger: { phone: '+12025550143', locale: 'pt-BR' }, notify: { passenger: true, contacts: [] } },
  ],
  ['no texts for any phone', { passenger: { phone: 'room 12' }, notify: { passenger: false } }],
  ['0,0 as coordinates', { pickup: at(0, 0), destination: at(0, 0) }],
  ['a long address', { pickup: { ...at(1, 1), address: 'a'.repeat(5_000) } }],
  ['an https webhookUrl with a port and a query', { webhookUrl: 'https://partner.example:8443/hook?x=1' }],
  ['a webhookUrl with an unknown host, which is not resolved', { webhookUrl: 'https://does-not-exist.example/' }],
  ['20 entries of metadata', { metadata: entries(20) }],
  ['names of properties of Object.prototype in metadata', { metadata: { constructor: 'a', toString: 'b' } }],
];

/**
 * Refused fields whose rule the OpenAPI document does not have, or not completely. The rules of the document are in
 * openapi.test.ts, and generated-bodies.test.ts checks that the API has the same ones.
 */
const refused: Case[] = [
  ['without pickup', { pickup: undefined }, 'pickup'],
  ['fare as text', { fare: '5' }, 'fare'],
  ['notes: a lone surrogate', { notes: 'x\ud800y' }, 'notes'],
  ['pickup.address: a lone surrogate', { pickup: { ...at(1, 1), address: '\ud800' } }, 'pickup.address'],
  ...['2026-11-24', 1.5, -1, {}, true].map(
    (pickupAt): Case => [...([`pickupAt ${JSON.stringify(pickupAt)}`, { pickupAt }, 'pickupAt'] as const)],
  ),
  ['an unknown language', { passenger: { locale: 'no_such_language' } }, 'passenger.locale'],
  ...['2025550143', '+1 202 555 0143', '+12', '+1202555014x', '+999999999999'].flatMap((phone): Case[] => [
    [`texts to a passenger at ${phone}`, { passenger: { phone }, notify: { passenger: true } }, 'passenger.phone'],
    [
      `texts to a contact at ${phone}`,
      { notify: { contacts: [{ phone: '+12025550143' }, { phone }] } },
      'notify.contacts\\[1\\].phone',
    ],
  ]),
  ['texts to a passenger without a number', { notify: { passenger: true } }, 'passenger.phone'],
  ['texts to a contact without a number', { notify: { contacts: [{ name: 'Kim' }] } }, 'notify.contacts\\[0\\].phone'],
  ['four contacts', { notify: { contacts: Array(4).fill({ phone: '+12025550143' }) } }, 'notify.contacts'],
  ...['', 5, 'https://10.1.2.3/hook', 'https://partner.example/\ud800', ['https://partner.example/hook']].map(
    (webhookUrl): Case => [`webhookUrl ${JSON.stringify(webhookUrl)}`, { webhookUrl }, 'webhookUrl'],
  ),
  ['a reference with a lone surrogate', { reference: '\ud800' }, 'reference must be well-formed'],
  ['21 entries', { metadata: entries(21) }, 'metadata must have at most 20'],
  ...['', '$set', 'a.b', '1st', 'ä', 'a b', 'x'.repeat(41)].map(
    (name): Case => [`the name "${name}"`, { metadata: { [name]: 'x' } }, 'Each name in metadata'],
  ),
];

describe('POST /rides: the fields', () => {
  const api = useTestApi();
  let refusals: Client & { keyId: string };

  before(async () => {
    refusals = await api.partner();
  });

  for (const [title, fields] of accepted) {
    it(`a creation accepts ${title}`, async () => {
      const partner = await api.partner();
      const { status, text } = await partner.createRide(fields);
      expect(status, text).to.equal(201);
    });
  }

  for (const [title, fields, named = ''] of refused) {
    it(`a creation answers 400 and names ${named}: ${title}`, async () => {
      const { status, body } = await refusals.createRide(fields);
      expect(status).to.equal(400);
      expect(body.error).to.match(new RegExp(`^${named.replace('.', '\\.')} `));
    });
  }

  for (const number of ['1e400', '-1e400', 'NaN', 'Infinity', '0x10', '.5', '05']) {
    it(`a creation answers 400 for the fare ${number}, which is not a finite JSON number`, async () => {
      const text = JSON.stringify({ ...validRide, fare: 'FARE' }).replace('"FARE"', number);
      const { status, body } = await refusals.post('/rides', text);
      expect(status).to.equal(400);
      expect(body.error).to.match(/^fare |^The request body is not valid JSON$/);
    });
  }

  it('a 400 never quotes a value of the request', async () => {
    const secret = 'sEcReT-value';
    const wrong = [
      { carType: secret },
      { fare: secret },
      { pickup: secret },
      { pickup: { lat: secret, lng: 1 } },
      { notes: secret.repeat(20) },
      { passenger: secret },
      { webhookUrl: `https://localhost/${secret}` },
      { webhookUrl: secret },
    ];
    for (const fields of wrong) {
      const { status, text } = await refusals.createRide(fields);
      expect(status).to.equal(400);
      expect(text).not.to.include(secret);
    }
    const broken = await refusals.post('/rides', `{"fare": ${secret}`);
    expect(broken.text).not.to.include(secret);
  });

  it('a creation ignores unknown fields and internal fields of a ride, and stores none of them', async () => {
    const partner = await api.partner();
    const internal = [
      ...['_id', 'rideId', 'keyId', 'accountId', 'mode', 'testMode', 'status', 'rev', 'seq', 'settledSeq', 'unsettled'],
      ...['offers', 'events', 'timers', 'driver', 'acceptedOfferId', 'agreedPrice', 'cancelledBy', 'trackToken'],
      ...['trackUrl', 'scenario', 'idempotency', 'createdAt', 'biddingEndsAt', 'leg', 'claim', '$set', 'pickup.lat'],
    ];
    const unknown = Object.fromEntries([...internal, 'nonsense'].map((name) => [name, 'mine']));
    const { status, body } = await partner.createRide({
      ...unknown,
      pickup: { ...validRide.pickup, nonsense: 1, $gt: 1 },
      passenger: { name: 'A', nonsense: 1 },
    });
    expect(status).to.equal(201);
    expect(body).to.include({ status: 'bidding', testMode: true });
    expect(body.rideId).not.to.equal('mine');

    const stored = await rides.findOne({ _id: body.rideId });
    const plain = await partner.createRide();
    const normal = await rides.findOne({ _id: plain.body.rideId });
    expect(Object.keys(stored ?? {}).filter((field) => field !== 'passenger')).to.have.members(
      Object.keys(normal ?? {}),
    );
    expect(stored).to.include({ keyId: partner.keyId, mode: 'test', status: 'bidding', rev: 0, seq: 0, unsettled: 0 });
    expect(stored?.offers).to.deep.equal([]);
    expect(stored?.pickup).to.deep.equal(validRide.pickup);
    expect(stored?.passenger).to.deep.equal({ name: 'A' });
  });

  for (const poison of [
    '"__proto__":{"fare":1,"polluted":1}',
    '"constructor":{"prototype":{"polluted":1}}',
    '"\\u005f_proto__":{"polluted":1}',
  ]) {
    it(`a creation ignores ${poison}`, async () => {
      const partner = await api.partner();
      const text = `{${poison},"pickup":{${poison},"lat":1,"lng":2},${JSON.stringify({ ...validRide, pickup: undefined }).slice(1)}`;
      const { status, body } = await partner.post('/rides', text);
      expect(status).to.equal(201);
      expect(({} as { polluted?: number }).polluted).to.equal(undefined);
      const stored = await rides.findOne({ _id: body.rideId });
      expect(stored?.pickup).to.deep.equal({ lat: 1, lng: 2 });
      expect(stored?.fare).to.equal(25);
      expect(JSON.stringify(stored)).not.to.include('polluted');
    });
  }

  for (const mode of ['live', 'test'] as const) {
    it(`a ${mode} creation ignores a field that is nested as deeply as a body can be`, async () => {
      const partner = await api.partner(mode);
      const nested = '['.repeat(8_000) + ']'.repeat(8_000);
      const text = `{"more":${nested},${JSON.stringify({ ...validRide, metadata: { desk: 'lobby' } }).slice(1)}`;
      expect((await partner.post('/rides', text)).status).to.equal(201);
    });
  }

  it('a creation refuses metadata named __proto__, which no parser would keep', async () => {
    for (const [field, name] of [
      ['metadata', '__proto__'],
      ['metadata', '\\u005f_proto__'],
      ['\\u006detadata', '\\u005f_proto__'],
    ]) {
      const text = `{"${field}":{"${name}":"1"},${JSON.stringify(validRide).slice(1)}`;
      const { status, body } = await refusals.post('/rides', text);
      expect([status, body.error]).to.deep.equal([400, 'metadata must not have an entry named __proto__']);
    }
  });

  it('a required field inside __proto__ counts as missing', async () => {
    const { pickup, ...rest } = validRide;
    const text = `{"__proto__":${JSON.stringify({ pickup })},${JSON.stringify(rest).slice(1)}`;
    const { status, body } = await refusals.post('/rides', text);
    expect(status).to.equal(400);
    expect(body.error).to.match(/^pickup /);
  });
});
