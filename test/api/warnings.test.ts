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
