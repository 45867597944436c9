import { expect } from 'chai';
import { type Answer, validRide } from '../support/client.ts';
import { usePartner, useTestApi } from '../support/service.ts';

const { lat, lng } = validRide.destination;

describe('X-Service-Ignored-Fields', () => {
  const api = useTestApi();
  const partner = usePartner(api, 'test');

  const named = ({ headers }: Answer) => headers.get('x-service-ignored-fields');

  it('an answer has no X-Service-Ignored-Fields if every field is known', async () => {
    const all = { carType: 'regular', passenger: { name: 'A', phone: null }, notes: null, webhookUrl: null };
    const answer = await partner.createRide(all);
    expect([answer.status, named(answer)]).to.deep.equal([201, null]);
  });

  it('X-Service-Ignored-Fields lists the name of an ignored field, not its value', async () => {
    const answer = await partner.createRide({ webhookURL: 'https://sEcReT.example/' });
    expect([answer.status, named(answer)]).to.deep.equal([201, 'webhookURL']);
  });

  it('X-Service-Ignored-Fields lists nested fields without their path, each name once', async () => {
    const answer = await partner.createRide({
      pickup: { lat, lng, adress: 'x', street: { lat: 1 } },
      destination: { lat, lng, adress: 'x' },
      passenger: { Name: 'x' },
    });
    expect([answer.status, named(answer)]).to.deep.equal([201, 'adress, street, Name']);
  });

  it('a 400 for a misspelt required field lists it in X-Service-Ignored-Fields', async () => {
    const answer = await partner.createRide({ pickup: { latitude: lat, lng } });
    expect([answer.status, named(answer)]).to.deep.equal([400, 'latitude']);
    expect(answer.body.error).to.equal('pickup.lat is required');
  });

  it('a repeat with the same Idempotency-Key gets X-Service-Ignored-Fields again', async () => {
    const send = () => partner.createRide({ webhookURL: 'x' }, { 'idempotency-key': 'again' });
    expect([named(await send()), named(await send())]).to.deep.equal(['webhookURL', 'webhookURL']);
  });

  it('accept lists ignored fields of its body', async () => {
    const { body } = await partner.createRide();
    const answer = await partner.post(`/rides/${body.rideId}/accept`, { offerId: 'offer_x', offer_id: 'sEcReT' });
    expect([answer.status, named(answer)]).to.deep.equal([404, 'offer_id']);
  });

  it('X-Service-Ignored-Fields lists at most 10 names', async () => {
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`field_${index}`, 1]));
    expect(named(await partner.createRide(many))?.split(', ')).to.deep.equal(Object.keys(many).slice(0, 10));
  });

  it('X-Service-Ignored-Fields omits names that may be a key, a secret, a token or a phone number', async () => {
    const live = await api.partner('live');
    const secrets = [
      live.key,
      `whsec_${'a'.repeat(32)}`,
      'my_svc_live_abc',
      '4kDq0ZrT8mXw2LpNc7VbYa',
      'a4kDq0ZrT8',
      't12025550143',
    ];
    const answer = await live.createRide({
      ...Object.fromEntries(secrets.map((name) => [name, 1])),
      line_2: 1,
      note2: 1,
    });
    expect([answer.status, named(answer)]).to.deep.equal([201, 'line_2, note2']);
  });

  it('X-Service-Ignored-Fields omits names with special characters or more than 40 characters', async () => {
    const odd = ['', 'a b', 'a,b', 'a.b', 'a-b', 'ä', 'a\r\nX-Injected: 1', '\u0000', 'x'.repeat(41), '__proto__'];
    const body = `{${odd.map((name) => `${JSON.stringify(name)}:1,`).join('')}${JSON.stringify(validRide).slice(1)}`;
    const answer = await partner.post('/rides', body);
    expect([answer.status, named(answer)]).to.deep.equal([201, null]);
    const longest = 'x'.repeat(40);
    expect(named(await partner.createRide({ 'a b': 1, [longest]: 1, constructor: 1 }))).to.equal(
      `${longest}, constructor`,
    );
  });

  it('an unknown parameter of a query is named, with live keys too, and no value', async () => {
    for (const by of [partner, await api.partner('live')]) {
      expect(named(await by.get('/rides?refrence=B-7&limit=5&svc_test_x=1'))).to.equal('refrence');
      expect(named(await by.get('/rides?reference=B-7'))).to.equal(null);
    }
  });

  it('a 400 for a local webhookUrl in development suggests WEBHOOK_LOCAL_TARGETS', async () => {
    const answer = await partner.createRide({ webhookUrl: 'http://127.0.0.1:4000/hook' });
    expect(answer.status).to.equal(400);
    expect(answer.body.error).to.match(
      /^webhookUrl must be an https URL; .* WEBHOOK_LOCAL_TARGETS=http:\S+ npm run dev$/,
    );
  });
});
