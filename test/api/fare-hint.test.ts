import { expect } from 'chai';
import { greatCircleKm, type Point } from '../../shared/base/great-circle.ts';
import { fareDayId, fareDays, placeOf, stepOf } from '../../shared/fares/fare-days.ts';
import { dayOf } from '../../shared/usage/days.ts';
import { somewhere } from '../support/drivers.ts';
import { usePartner, useTestApi } from '../support/service.ts';

describe('GET /fare-hint', () => {
  const api = useTestApi();
  const partner = usePartner(api, 'live');

  const written = ({ lat, lng }: Point) => `${lat},${lng}`;
  const ask = (query: Record<string, string>) => partner.get(`/fare-hint?${new URLSearchParams(query)}`);
  const destination = { lat: 10, lng: 10 };

  async function knownPlace(): Promise<Point> {
    const pickup = somewhere();
    const day = dayOf(new Date(api.ctx.now()));
    await fareDays.insertOne({
      _id: fareDayId(placeOf(pickup, 'comfort'), day),
      day,
      trips: 40,
      accounts: Array.from({ length: 10 }, (_, index) => ({ code: `code_${index}`, trips: 4 })),
      prices: [
        { step: stepOf(3), trips: 10 },
        { step: stepOf(1), trips: 10 },
        { step: stepOf(2), trips: 20 },
      ],
    });
    return pickup;
  }

  it('a fare hint has the quartiles per km and for the trip, rounded to cents', async () => {
    const pickup = await knownPlace();
    const { status, body } = await ask({
      pickup: written(pickup),
      destination: written(destination),
      carType: 'comfort',
    });
    expect(status).to.equal(200);
    expect(body).to.have.all.keys('carType', 'distanceKm', 'basis', 'perKm', 'fare');
    expect(body).to.include({ carType: 'comfort', basis: 'rides', distanceKm: greatCircleKm(pickup, destination) });
    expect(body.perKm.lower).to.be.closeTo(1, 0.03);
    expect(body.perKm.median).to.be.closeTo(2, 0.05);
    expect(body.perKm.upper).to.be.closeTo(2, 0.05);
    expect(body.fare.median).to.be.closeTo(2 * body.distanceKm, 0.05 * body.distanceKm);
    expect(body.fare.median).to.equal(Math.round(body.fare.median * 100) / 100);
  });

  it('a fare hint is null if too few rides are known, and defaults to a regular car', async () => {
    const query = { pickup: written(await knownPlace()), destination: written(destination) };
    const { status, body } = await ask(query);
    expect(status).to.equal(200);
    expect(body).to.include({ carType: 'regular', basis: null, perKm: null, fare: null });
  });

  it('a test key always gets the documented sample as its fare hint', async () => {
    const tester = await api.partner('test');
    for (const pickup of [await knownPlace(), somewhere()]) {
      const query = new URLSearchParams({ pickup: written(pickup), destination: written(pickup), carType: 'comfort' });
      const { body } = await tester.get(`/fare-hint?${query}`);
      expect(body).to.deep.include({ basis: 'sample', perKm: { lower: 3.6, median: 4.5, upper: 5.4 } });
    }
  });

  it('a fare hint needs a key', async () => {
    const { status } = await partner.get('/fare-hint?pickup=1,2&destination=3,4', { authorization: '' });
    expect(status).to.equal(401);
  });

  const good = { pickup: '40.758,-73.9855', destination: '40.7128,-74.006' };
  const wrong: [query: Record<string, string>, named: RegExp][] = [
    [{ destination: good.destination }, /^pickup is required/],
    [{ pickup: good.pickup }, /^destination is required/],
    [{ ...good, pickup: '' }, /^pickup /],
    [{ ...good, pickup: '40.758' }, /^pickup must be a latitude and a longitude/],
    [{ ...good, pickup: '91,0' }, /^pickup must be/],
    [{ ...good, destination: '0,180.5' }, /^destination must be/],
    [{ ...good, destination: '1e1,2' }, /^destination must be/],
    [{ ...good, destination: '1,2,3' }, /^destination must be/],
    [{ ...good, carType: 'bus' }, /^carType must be one of/],
  ];
  for (const [query, named] of wrong) {
    it(`a fare hint answers 400 for the query ${new URLSearchParams(query)}`, async () => {
      const { status, body } = await ask(query);
      expect(status).to.equal(400);
      expect(body.error).to.match(named);
    });
  }
});

describe('GET /fare-hint of a service with a tariff', () => {
  const api = useTestApi({ FARE_HINT_BASE: '2.5', FARE_HINT_PER_KM: '1.2' });

  it('a live key gets the tariff as its fare hint if too few rides are known', async () => {
    const partner = await api.partner('live');
    const { lat, lng } = somewhere();
    const { body } = await partner.get(`/fare-hint?pickup=${lat},${lng}&destination=10,10`);
    const { basis, perKm, fare, distanceKm } = body;
    const dollars = Math.round((2.5 + 1.2 * distanceKm) * 100) / 100;
    expect({ basis, perKm, fare }).to.deep.equal({
      basis: 'tariff',
      perKm: { lower: 1.2, median: 1.2, upper: 1.2 },
      fare: { lower: dollars, median: dollars, upper: dollars },
    });
  });

  it('a test key gets the sample as its fare hint, even with a tariff', async () => {
    const partner = await api.partner('test');
    const { body } = await partner.get('/fare-hint?pickup=1,2&destination=3,4');
    expect(body.basis).to.equal('sample');
  });
});
