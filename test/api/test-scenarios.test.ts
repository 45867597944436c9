import { expect } from 'chai';
import { LimitModel } from '../../shared/accounts/limit.ts';
import { httpRequests } from '../../shared/base/metrics.ts';
import { rides } from '../../shared/rides/ride.ts';
import { chargesOf } from '../support/charges.ts';
import { usePartner, useTestApi } from '../support/service.ts';

const scenarios = [
  ...['default', 'no_offers', 'three_offers', 'counter_offer', 'no_auto_accept', 'three_offers_no_accept'],
  ...['offer_withdrawn', 'driver_cancels', 'stalls', 'slow', 'duplicate_event'],
];
const under = (scenario: string) => ({ 'x-service-test-scenario': scenario });

describe('X-Service-Test-Scenario', () => {
  const api = useTestApi();
  const partner = usePartner(api, 'test');

  it('a test key can use every scenario, which is stored with the ride', async () => {
    for (const scenario of scenarios) {
      const { status, body } = await partner.createRide({}, under(scenario));
      expect(status, scenario).to.equal(201);
      expect(body).to.have.all.keys('rideId', 'status', 'fare', 'carType', 'distanceKm', 'trackUrl', 'testMode');
      expect((await rides.findOne({ _id: body.rideId }))?.scenario).to.equal(scenario);
    }
  });

  it('a creation with a test key and an unknown scenario answers 400 and names the header', async () => {
    for (const scenario of ['nope', 'Default', 'default,stalls', 'toString', '__proto__', 'three offers']) {
      const { status, body } = await partner.createRide({}, under(scenario));
      expect(status, scenario).to.equal(400);
      expect(body.error).to.match(/^X-Service-Test-Scenario /);
    }
    expect(await rides.countDocuments({ keyId: partner.keyId })).to.equal(0);
  });

  for (const scenario of ['stalls', 'rate_limited', 'unavailable', 'nope']) {
    it(`the scenario ${scenario} is ignored with a live key`, async () => {
      const partner = await api.partner('live');
      const { status, body } = await partner.createRide({}, under(scenario));
      expect(status).to.equal(201);
      const ride = await rides.findOne({ _id: body.rideId });
      expect(ride).not.to.have.property('scenario');
      expect(ride?.timers.map(({ name }) => name)).to.have.members(['expire', 'dispatch']);
    });
  }

  const codeOf = ({ status, headers }: { status: number; headers: Headers }) => [
    status,
    headers.get('x-service-error'),
    headers.get('retry-after'),
  ];

  for (const [scenario, refusal] of [
    ['rate_limited', [429, 'rate_limited', '1']],
    ['unavailable', [503, 'unavailable', '1']],
  ] as const) {
    const create = (idempotencyKey?: string, fields: object = {}) =>
      partner.createRide(fields, {
        'x-service-test-scenario': scenario,
        ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
      });

    it(`${scenario}: the first request is refused, a repeat creates the ride, and a further repeat gets it again`, async () => {
      expect(codeOf(await create('a'))).to.deep.equal(refusal);
      expect(await rides.countDocuments({ keyId: partner.keyId })).to.equal(0);
      expect(await chargesOf(api.ctx, partner.keyId)).to.equal(1);
      const second = await create('a');
      expect([second.status, second.headers.get('x-service-replayed')]).to.deep.equal([201, null]);
      const third = await create('a');
      expect([third.text, third.headers.get('x-service-replayed')]).to.deep.equal([second.text, 'true']);
      expect(await chargesOf(api.ctx, partner.keyId)).to.equal(1);
    });

    it(`${scenario}: of 10 concurrent requests with one Idempotency-Key exactly one is refused`, async () => {
      const answers = await Promise.all(Array.from({ length: 10 }, () => create('a')));
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).to.deep.equal([...Array(9).fill(201), refusal[0]]);
      expect(await rides.countDocuments({ keyId: partner.keyId })).to.equal(1);
    });

    it(`${scenario}: every Idempotency-Key of every API key is refused once`, async () => {
      const other = await api.partner('test');
      await create('a');
      expect((await create('b')).status).to.equal(refusal[0]);
      const headers = { 'x-service-test-scenario': scenario, 'idempotency-key': 'a' };
      expect((await other.createRide({}, headers)).status).to.equal(refusal[0]);
    });

    it(`${scenario}: a request without an Idempotency-Key is always refused`, async () => {
      for (let tries = 0; tries < 3; tries++) expect(codeOf(await create())).to.deep.equal(refusal);
      expect(await rides.countDocuments({ keyId: partner.keyId })).to.equal(0);
    });

    it(`${scenario}: refused requests count against the limit, which refuses them without storing anything`, async () => {
      const refused = await LimitModel.countDocuments({ _id: /^refused_creation:/ });
      const statuses: number[] = [];
      for (let tries = 0; tries < 35; tries++) statuses.push((await create(`try-${tries}`)).status);
      expect(statuses).to.deep.equal([...Array(30).fill(refusal[0]), ...Array(5).fill(429)]);
      expect(await LimitModel.countDocuments({ _id: /^refused_creation:/ })).to.equal(refused + 30);
    });

    it(`${scenario}: a refusal is no fault of the service in the metrics and the log`, async () => {
      const count = async (status: string) => {
        const { values = [] } = (await httpRequests.get()) ?? {};
        return values
          .filter(({ labels }) => String(labels.status) === status)
          .reduce((sum, { value }) => sum + value, 0);
      };
      const before = [await count(String(refusal[0])), await count('simulated')] as const;
      await create('a');
      expect([await count(String(refusal[0])), await count('simulated')]).to.deep.equal([before[0], before[1] + 1]);
    });

    it(`${scenario}: an invalid request gets a 400 and is no first request`, async () => {
      expect((await create('a', { fare: 0 })).status).to.equal(400);
      expect((await create('a')).status).to.equal(refusal[0]);
    });
  }
});
