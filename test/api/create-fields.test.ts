import { expect } from 'chai';
import { rides } from '../../shared/rides/ride.ts';
import { type Client, validRide } from '../support/client.ts';
import { useTestApi } from '../support/service.ts';

const at = (lat: unknown, lng: unknown) => ({ lat, lng });
const emoji = '🚕';
/** Each emoji is one code point, but two UTF-16 units. */
const emojis = (count: number) => emoji.repeat(count);

const entries = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, 'x']));

/** A title, the fields to send, and the field that the error must name. */
type Case = [title: string, fields: object, named?: string];

const accepted: Case[] = [
  [
    'texts and languages',
    { passenger: { phone: '+12025550143', locale: 'pt-BR' }, notify: { passenger: true, contacts: [] } },
  ],
  ['no texts for any phone', { passenger: { phone: 'room 12' }, notify: { passenger: false } }],
  ['null for onDriverCancel', { onDriverCancel: null }],
  ['0,0 as coordinates', { pickup: at(0, 0), destination: at(0, 0) }],
  ['the poles and the date line', { pickup: at(90, 180), destination: at(-90, -180) }],
  ['a long address', { pickup: { ...at(1, 1), address: 'a'.repeat(5_000) } }],
  ['the highest fare', { fare: 1_000_000 }],
  ['passengerCount 7', { passengerCount: 7 }],
  ['200 characters of notes', { notes: 'n'.repeat(200) }],
  ['200 emoji of notes, because the limit counts code points', { notes: emojis(200) }],
  ['200 combining marks of notes', { notes: 'e\u0301'.repeat(100) }],
  ['empty texts of passenger', { passenger: { name: '', phone: '' } }],
  ['an https webhookUrl with a port and a query', { webhookUrl: 'https://partner.example:8443/hook?x=1' }],
  ['a webhookUrl with an unknown host, which is not resolved', { webhookUrl: 'https://does-not-exist.example/' }],
  ['64 emoji as reference', { reference: emojis(64) }],
  ['20 entries of metadata', { metadata: entries(20) }],
  ['no entry of metadata', { metadata: {} }],
  ['null as a value of metadata, which counts as absent', { metadata: { a: null } }],
  ['the longest name and value of metadata', { metadata: { [`a${'-'.repeat(39)}`]: 'é'.repeat(100) } }],
  ['names of properties of Object.prototype in metadata', { metadata: { constructor: 'a', toString: 'b' } }],
];

const textFields: [field: string, wrap: (text: unknown) => object][] = [
  ['notes', (notes) => ({ notes })],
  ['pickup.address', (address) => ({ pickup: { ...at(1, 1), address } })],
  ['destination.address', (address) => ({ destination: { ...at(1, 1), address } })],
  ['passenger.name', (name) => ({ passenger: { name } })],
  ['passenger.phone', (phone) => ({ passenger: { phone } })],
];

const places = ['pickup', 'destination'];
const refused: Case[] = [
  ...places.flatMap((place): Case[] => [
    [`without ${place}`, { [place]: undefined }, place],
    [`${place} null`, { [place]: null }, place],
    [`${place} as text`, { [place]: '1,2' }, place],
    [`${place} empty`, { [place]: {} }, `${place}.lat`],
    [`${place} without lng`, { [place]: { lat: 1 } }, `${place}.lng`],
    [`${place}.lat over 90`, { [place]: at(90.000001, 1) }, `${place}.lat`],
    [`${place}.lng under -180`, { [place]: at(1, -180.000001) }, `${place}.lng`],
    [`${place}.lng as text`, { [place]: at(1, '5') }, `${place}.lng`],
  ]),
  ['without fare', { fare: undefined }, 'fare'],
  ['fare 0', { fare: 0 }, 'fare'],
  ['fare above 1,000,000', { fare: 1_000_000.01 }, 'fare'],
  ['fare as text', { fare: '5' }, 'fare'],
  ['distanceKm below 0', { distanceKm: -0.01 }, 'distanceKm'],
  ['passengerCount 0', { passengerCount: 0 }, 'passengerCount'],
  ['passengerCount 8', { passengerCount: 8 }, 'passengerCount'],
  ['an unknown carType', { carType: 'limousine' }, 'carType'],
  ['an unknown rideType', { rideType: 'express' }, 'rideType'],
  ['201 characters of notes', { notes: 'n'.repeat(201) }, 'notes'],
  ['201 emoji of notes', { notes: emojis(201) }, 'notes'],
  ['passenger as text', { passenger: 'Ann' }, 'passenger'],
  ...textFields.flatMap(([field, wrap]): Case[] => [
    [`${field} as a number`, wrap(5), field],
    [`${field}: a lone surrogate`, wrap('x\ud800y'), field],
  ]),
  ...['end', '', true, {}].map(
    (onDriverCancel): Case => [
      ...([`onDriverCancel ${JSON.stringify(onDriverCancel)}`, { onDriverCancel }, 'onDriverCancel'] as const),
    ],
  ),
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
  ...[
    ['http', 'http://partner.example/hook'],
    ['an empty text', ''],
    ['a number', 5],
    ['localhost', 'https://localhost/hook'],
    ['a private address', 'https://10.1.2.3/hook'],
    ['a line break', 'https://partner.example/hook\r\nX-Evil: 1'],
    ['a lone surrogate', 'https://partner.example/\ud800'],
    ['an array', ['https://partner.example/hook']],
  ].map(([what, webhookUrl]): Case => [`webhookUrl: ${what}`, { webhookUrl }, 'webhookUrl']),
  ['a reference of 65 characters', { reference: 'x'.repeat(65) }, 'reference must be at most 64'],
  ['a lone surrogate', { reference: '\ud800' }, 'reference must be well-formed'],
  ['an array', { metadata: ['desk'] }, 'metadata must be of type'],
  ['21 entries', { metadata: entries(21) }, 'metadata must have at most 20'],
  ['a value of 101 characters', { metadata: { desk: 'x'.repeat(101) } }, 'metadata.desk must be at most 100'],
  ['an object as value', { metadata: { desk: { $gt: '' } } }, 'metadata.desk must be a'],
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
    const unknown = {
      _id: 'ride_mine',
      rideId: 'ride_mine',
      keyId: 'key_other',
      accountId: 'acct_other',
      mode: 'live',
      testMode: false,
      status: 'completed',
      rev: 9,
      seq: 9,
      settledSeq: 9,
      unsettled: 9,
      offers: [{ offerId: 'mine' }],
      events: [{ seq: 1 }],
      timers: [],
      driver: { name: 'mine' },
      acceptedOfferId: 'mine',
      agreedPrice: 1,
      cancelledBy: 'driver',
      trackToken: 'mine',
      trackUrl: 'mine',
      scenario: 'stalls',
      idempotency: { key: 'mine' },
      createdAt: 0,
      biddingEndsAt: 0,
      leg: {},
      claim: {},
      $set: { status: 'completed' },
      'pickup.lat': 7,
      nonsense: 1,
    };
    const { status, body } = await partner.createRide({
      ...unknown,
      pickup: { ...validRide.pickup, nonsense: 1, $gt: 1 },
      passenger: { name: 'A', nonsense: 1 },
    });
    expect(status).to.equal(201);
    expect(body).to.include({ status: 'bidding', testMode: true });
    expect(body.rideId).not.to.equal('ride_mine');

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
