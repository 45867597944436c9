import { expect } from 'chai';
import { usePartner, useTestApi } from '../support/service.ts';

describe("a partner's own reference and metadata", () => {
  const api = useTestApi();
  const partner = usePartner(api, 'live');

  const own = { reference: 'Room 12, 🏨', metadata: { desk: 'Lobby', folio: '' } };

  it('an idempotent repeat returns reference and metadata, and compares them independent of their order', async () => {
    const under = { 'idempotency-key': 'with-own-words' };
    const first = await partner.createRide(own, under);
    expect(first.body).to.deep.include(own);
    const again = await partner.createRide({ ...own, metadata: { folio: '', desk: 'Lobby' } }, under);
    expect(again.text).to.equal(first.text);
  });

  const entries = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, number) => [`n${number}`, 'x']));

  const accepted: [string, object][] = [
    ['64 emoji as reference', { reference: '🏨'.repeat(64) }],
    ['null for both', { reference: null, metadata: null }],
    ['an empty reference', { reference: '' }],
    ['20 entries', { metadata: entries(20) }],
    ['no entry', { metadata: {} }],
    ['null as a value, which counts as absent', { metadata: { a: null } }],
    ['the longest name and value', { metadata: { [`a${'-'.repeat(39)}`]: 'é'.repeat(100) } }],
    ['names of properties of Object.prototype', { metadata: { constructor: 'a', toString: 'b' } }],
  ];
  for (const [what, fields] of accepted) {
    it(`a creation accepts ${what} in reference or metadata`, async () => {
      const { status, text } = await (await api.partner()).createRide(fields);
      expect(status, text).to.equal(201);
    });
  }

  const refused: [string, object, named: RegExp][] = [
    ['a reference of 65 characters', { reference: 'x'.repeat(65) }, /^reference must be at most 64 characters$/],
    ['a lone surrogate', { reference: '\ud800' }, /^reference must be well-formed Unicode$/],
    ['an array as metadata', { metadata: ['desk'] }, /^metadata must be of type object$/],
    ['21 entries', { metadata: entries(21) }, /^metadata must have at most 20 entries$/],
    ['a value of 101 characters', { metadata: { desk: 'x'.repeat(101) } }, /^metadata\.desk must be at most 100 cha/],
    ['an object as value', { metadata: { desk: { $gt: '' } } }, /^metadata\.desk must be a string$/],
    ...['', '$set', 'a.b', '1st', 'ä', 'a b', 'x'.repeat(41)].map((name): [string, object, RegExp] => [
      `the name "${name}"`,
      { metadata: { [name]: 'x' } },
      /^Each name in metadata/,
    ]),
  ];
  for (const [what, fields, named] of refused) {
    it(`a creation answers 400 with the reason for ${what} in reference or metadata`, async () => {
      const { status, body } = await partner.createRide(fields);
      expect(status).to.equal(400);
      expect(body.error).to.match(named);
    });
  }
});
