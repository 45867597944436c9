import { expect } from 'chai';
import { type Answer, validRide } from '../support/client.ts';
import { usePartner, useTestApi } from '../support/service.ts';

const { lat, lng } = validRide.destination;

describe('X-Service-Ignored-Fields', () => {
  const api = useTestApi();
  const partner = usePartner(api, 'test');

  const named = ({ headers }: Answer) => headers.get('x-service-ignored-fields');

  it('is absent where every field is known, given or null', async () => {
    const all = { carType: 'regular', passenger: { name: 'A', phone: null }, notes: null, webhookUrl: null };
    const answer = await partner.createRide(all);
    expect([answer.status, named(answer)]).to.deep.equal([201, null]);
  });

  it('names a field that was ignored, and no value', async () => {
    const answer = await partner.createRide({ webhookURL: 'https://sEcReT.example/' });
    expect([answer.status, named(answer)]).to.deep.equal([201, 'webhookURL']);
  });

  it('names nested fields by their own name, each name once', async () => {
    const answer = await partner.createRide({
      pickup: { lat, lng, adress: 'x', street: { lat: 1 } },
      destination: { lat, lng, adress: 'x' },
      passenger: { Name: 'x' },
    });
    expect([answer.status, named(answer)]).to.deep.equal([201, 'adress, street, Name']);
  });

  it('is part of a refusal, where a misspelt field is the cause', async () => {
    const answer = await partner.createRide({ pickup: { latitude: lat, lng } });
    expect([answer.status, named(answer)]).to.deep.equal([400, 'latitude']);
    expect(answer.body.error).to.equal('pickup.lat is required');
  });

  it('is part of the answer to a repeat with the same Idempotency-Key', async () => {
    const send = () => partner.createRide({ webhookURL: 'x' }, { 'idempotency-key': 'again' });
    expect([named(await send()), named(await send())]).to.deep.equal(['webhookURL', 'webhookURL']);
  });

  it('names what an acceptance ignored', async () => {
    const { body } = await partner.createRide();
    const answer = await partner.post(`/rides/${body.rideId}/accept`, { offerId: 'offer_x', offer_id: 'sEcReT' });
    expect([answer.status, named(answer)]).to.deep.equal([404, 'offer_id']);
  });

  it('names 10 fields at most', async () => {
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`field_${index}`, 1]));
    expect(named(await partner.createRide(many))?.split(', ')).to.deep.equal(Object.keys(many).slice(0, 10));
  });

  it('leaves out a name that may be a key, a secret, a token or a phone number itself', async () => {
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

  it('leaves out names of other characters, or of more than 40', async () => {
    const odd = ['', 'a b', 'a,b', 'a.b', 'a-b', 'ä', 'a\r\nX-Injected: 1', '\u0000', 'x'.repeat(41), '__proto__'];
    const body = `{${odd.map((name) => `${JSON.stringify(name)}:1,`).join('')}${JSON.stringify(validRide).slice(1)}`;
    const answer = await partner.post('/rides', body);
    expect([answer.status, named(answer)]).to.deep.equal([201, null]);
    const longest = 'x'.repeat(40);
    expect(named(await partner.createRide({ 'a b': 1, [longest]: 1, constructor: 1 }))).to.equal(
      `${longest}, constructor`,
    );
  });

  it('comes with a live key too', async () => {
    const live = await api.partner('live');
    const answer = await live.createRide({ webhookURL: 'sEcReT' });
    expect([answer.status, named(answer)]).to.deep.equal([201, 'webhookURL']);
    const refused = await live.createRide({ pickup: { latitude: lat, lng } });
    expect([refused.status, named(refused)]).to.deep.equal([400, 'latitude']);
  });

  it('is not needed to learn of WEBHOOK_LOCAL_TARGETS in development: the 400 names it', async () => {
    const answer = await partner.createRide({ webhookUrl: 'http://127.0.0.1:4000/hook' });
    expect(answer.status).to.equal(400);
    expect(answer.body.error).to.match(
      /^webhookUrl must be an https URL; .* WEBHOOK_LOCAL_TARGETS=http:\S+ npm run dev$/,
    );
  });
});
