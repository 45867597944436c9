import { expect } from 'chai';
import { type Warning, warnings } from '../../api/partner/warnings.ts';
import { type Answer, call, validRide } from '../support/client.ts';
import { usePartner, useTestApi } from '../support/service.ts';

const near = validRide.pickup;
/** Two places, 999 km and 1,001 km north of `near`. */
const [within, beyond] = [999, 1_001].map((km) => ({ lat: near.lat + km / 111.195, lng: near.lng }));

describe('X-Service-Warnings', () => {
  const api = useTestApi();
  const partner = usePartner(api, 'test');

  const named = ({ status, headers }: Answer) => [status, headers.get('x-service-warnings')];
  const at = ({ lat, lng }: { lat: number; lng: number } = near) => `${lat},${lng}`;

  const suspicious: [fields: object, warning: Warning][] = [
    [{ destination: beyond }, 'places_far_apart'],
    [{ fare: 24.505 }, 'fare_not_in_cents'],
    [{ fare: 1e-7 }, 'fare_not_in_cents'],
    [{ passenger: { phone: 'front desk' } }, 'phone_without_digits'],
    [{ autoAccept: { maxPrice: 24.99 } }, 'max_price_below_fare'],
  ];
  for (const [fields, warning] of suspicious) {
    it(`${JSON.stringify(fields)} gets the warning ${warning}, and the ride is created as requested`, async () => {
      const answer = await partner.createRide(fields);
      expect(named(answer)).to.deep.equal([201, warning]);
      expect(answer.body.fare).to.equal({ ...validRide, ...fields }.fare);
    });
  }

  const plausible: object[] = [
    { destination: within },
    { fare: 24.5 },
    { fare: 24.29 },
    { fare: 1_000_000 },
    { passenger: { phone: '' } },
    { passenger: { name: 'Ada', phone: null } },
    { passenger: { phone: '٠١٢٣' } },
    { autoAccept: { maxPrice: 25 } },
  ];
  for (const fields of plausible) {
    it(`${JSON.stringify(fields)} gets no X-Service-Warnings`, async () => {
      expect(named(await partner.createRide(fields))).to.deep.equal([201, null]);
    });
  }

  it('a field that occurs twice in an object gets the warning repeated_field', async () => {
    const repeated = (text: string) => partner.post('/rides', text);
    const body = JSON.stringify(validRide);
    expect(named(await repeated(`{"fare":1,${body.slice(1)}`))).to.deep.equal([201, 'repeated_field']);
    expect(named(await repeated(body.replace('"lat"', '"lat":1,"lat"')))).to.deep.equal([201, 'repeated_field']);
    expect(named(await repeated(body))).to.deep.equal([201, null]);
  });

  it('X-Service-Warnings lists every warning about a request once', async () => {
    const fields = { destination: beyond, fare: 0.001, passenger: { phone: '-' }, autoAccept: { maxPrice: 0.0001 } };
    const body = JSON.stringify({ ...validRide, ...fields });
    const answer = await partner.post('/rides?a=1&a=2&b=3', `{"fare":1,${body.slice(1)}`);
    expect(named(answer)).to.deep.equal([201, Object.keys(warnings).join(', ')]);
  });

  it('answers with 200, 404 and 409 warn about unknown query parameters', async () => {
    const { rideId } = (await partner.createRide()).body;
    for (const path of ['', '/rides', `/rides/${rideId}`, `/rides/${rideId}/offers`, '/events']) {
      expect(named(await partner.get(`${path}?offset=1`)), path).to.deep.equal([200, 'unknown_query_parameter']);
      expect(named(await partner.get(path)), path).to.deep.equal([200, null]);
    }
    expect(named(await partner.get('/rides?status=bidding&limit=5'))).to.deep.equal([200, null]);
    expect(named(await partner.get('/rides?Status=bidding'))).to.deep.equal([200, 'unknown_query_parameter']);
    expect(named(await partner.get('/rides?constructor=1'))).to.deep.equal([200, 'unknown_query_parameter']);
    expect(named(await partner.get('/rides/x?expand=1'))).to.deep.equal([404, 'unknown_query_parameter']);
    expect(named(await partner.post(`/rides/${rideId}/cancel?reason=1`))).to.deep.equal([
      200,
      'unknown_query_parameter',
    ]);
    expect(named(await partner.post(`/rides/${rideId}/cancel?reason=1`))).to.deep.equal([
      409,
      'unknown_query_parameter',
    ]);
  });

  it('raising a fare and the places of a fare hint can cause warnings', async () => {
    const { rideId } = (await partner.createRide()).body;
    expect(named(await partner.post(`/rides/${rideId}/fare`, { fare: 26.001 }))).to.deep.equal([
      200,
      'fare_not_in_cents',
    ]);
    const hint = (to = beyond) => partner.get(`/fare-hint?pickup=${at()}&destination=${at(to)}`);
    expect(named(await hint())).to.deep.equal([200, 'places_far_apart']);
    expect(named(await hint(within))).to.deep.equal([200, null]);
  });

  it('a changed ride and a fare raised above maxPrice get the warnings of a creation with these values', async () => {
    const { rideId } = (await partner.createRide({ autoAccept: { maxPrice: 26 } })).body;
    const change = (fields: object) => partner.send('PATCH', `/rides/${rideId}`, fields);
    expect(named(await change({ destination: beyond }))).to.deep.equal([200, 'places_far_apart']);
    expect(named(await change({ passenger: { phone: 'front desk' } }))).to.deep.equal([200, 'phone_without_digits']);
    expect(named(await change({ destination: within, passenger: { phone: '1' } }))).to.deep.equal([200, null]);
    const raise = (fare: number) => partner.post(`/rides/${rideId}/fare`, { fare });
    expect(named(await raise(26))).to.deep.equal([200, null]);
    expect(named(await raise(27))).to.deep.equal([200, 'max_price_below_fare']);
  });

  it('a repeat with the same Idempotency-Key gets X-Service-Warnings again', async () => {
    const send = () => partner.createRide({ fare: 0.001 }, { 'idempotency-key': 'again' });
    expect([named(await send()), named(await send())]).to.deep.equal(Array(2).fill([201, 'fare_not_in_cents']));
  });

  it('a 400 or 401 has no X-Service-Warnings', async () => {
    expect(named(await partner.post('/rides?a=1', { ...validRide, fare: 0.001, notes: 5 }))).to.deep.equal([400, null]);
    expect(named(await partner.get('/rides?a=1&limit=0'))).to.deep.equal([400, null]);
    expect(named(await call(`${api.url}/v1?a=1`))).to.deep.equal([401, null]);
  });

  it('a live key gets no X-Service-Warnings', async () => {
    const live = await api.partner('live');
    const answer = await live.post('/rides?a=1', { ...validRide, destination: beyond, fare: 0.001 });
    expect(named(answer)).to.deep.equal([201, null]);
  });
});

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
