import { expect } from 'chai';
import { rotateKey } from '../../shared/keys/replace-secret.ts';
import { rides } from '../../shared/rides/ride.ts';
import { addCharges, chargesOf, forgetCharges } from '../support/charges.ts';
import { clientOf, validRide } from '../support/client.ts';
import { database, failOnce, onceInsteadOf } from '../support/failing-mongo.ts';
import { offerOn } from '../support/rides.ts';
import { usePartner, useTestApi } from '../support/service.ts';
import { jobFor } from '../support/stored-rides.ts';

describe('Idempotency-Key', () => {
  const api = useTestApi();
  const partner = usePartner(api);

  const under = (idempotencyKey: string) => ({ 'idempotency-key': idempotencyKey });
  const ridesMade = () => rides.countDocuments({ keyId: partner.keyId });
  const charges = () => chargesOf(api.ctx, partner.keyId);
  const expire = () =>
    rides.updateMany({ keyId: partner.keyId }, { $set: { 'idempotency.expiresAt': new Date(Date.now() - 1) } });

  it('only the answer to a repeat has X-Service-Replayed: true, also if the requests are concurrent', async () => {
    const replayed = ({ headers }: { headers: Headers }) => headers.get('x-service-replayed');
    expect(replayed(await partner.createRide())).to.equal(null);
    expect(replayed(await partner.createRide({}, under('a')))).to.equal(null);
    expect(replayed(await partner.createRide({}, under('a')))).to.equal('true');
    expect(replayed(await partner.createRide({ fare: 99 }, under('a')))).to.equal(null);
    const answers = await Promise.all(Array.from({ length: 10 }, () => partner.createRide({}, under('b'))));
    expect(answers.map(replayed).filter((value) => value === null)).to.have.length(1);
    await expire();
    expect(replayed(await partner.createRide({}, under('a')))).to.equal(null);
  });

  it('a repeated creation adds the job of the first timer if it is missing', async () => {
    const { body } = await partner.createRide(undefined, under('a'));
    const firstJob = () => jobFor(api.ctx, 'simulator', { rideId: body.rideId, timer: 'offer' });
    await (await firstJob())?.remove();
    expect(await firstJob()).to.equal(undefined);
    expect((await partner.createRide(undefined, under('a'))).status).to.equal(201);
    expect(await firstJob()).to.not.equal(undefined);
  });

  it('a repeat with the same values in another JSON form counts as the same request', async () => {
    const { pickup, destination, fare } = validRide;
    const metadata = { desk: 'Lobby', folio: '' };
    const first = await partner.post('/rides', { pickup, destination, fare, metadata }, under('a'));
    const defaults = { notes: null, carType: 'regular', passengerCount: 1 };
    const sameValues = { unknown: 1, ...defaults, metadata: { folio: '', desk: 'Lobby' }, fare, destination, pickup };
    const second = await partner.post('/rides', JSON.stringify(sameValues, null, 2), under('a'));
    expect(second.text).to.equal(first.text);
    expect(await ridesMade()).to.equal(1);
  });

  it('a repeat gets the first 201 even after the ride has changed', async () => {
    const first = await partner.createRide({}, under('a'));
    const { offerId } = await offerOn(api.ctx, first.body.rideId);
    await partner.post(`/rides/${first.body.rideId}/accept`, { offerId });
    await partner.post(`/rides/${first.body.rideId}/cancel`);
    const again = await partner.createRide({}, under('a'));
    expect(again.status).to.equal(201);
    expect(again.text).to.equal(first.text);
  });

  it('different Idempotency-Keys create different rides, and are case-sensitive', async () => {
    const ids = new Set<string>();
    for (const key of ['a', 'A', 'b']) ids.add((await partner.createRide({}, under(key))).body.rideId);
    expect(ids.size).to.equal(3);
  });

  it('the same Idempotency-Key with two API keys creates two rides', async () => {
    const other = await api.partner();
    const mine = await partner.createRide({}, under('a'));
    const theirs = await other.createRide({ fare: 99 }, under('a'));
    expect(theirs.status).to.equal(201);
    expect(theirs.body.rideId).not.to.equal(mine.body.rideId);
  });

  it('an Idempotency-Key stays valid after a rotation of the API key and under both bases', async () => {
    const first = await partner.createRide({}, under('a'));
    const rotated = await rotateKey(partner.keyId, 'anyone');
    const again = await clientOf(api.url, rotated.key, '/api/v1').createRide({}, under('a'));
    expect(again.text).to.equal(first.text);
  });

  it('20 concurrent repeats create one ride, get the same 201 and are charged once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => partner.createRide({}, under('a'))));
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(20).fill(201));
    expect(new Set(answers.map(({ text }) => text)).size).to.equal(1);
    expect(await ridesMade()).to.equal(1);
    expect(await charges()).to.equal(1);
  });

  it('10 concurrent repeats succeed even if the limit has room for only one creation', async () => {
    await addCharges(api.ctx, partner.keyId, 29);
    const answers = await Promise.all(Array.from({ length: 10 }, () => partner.createRide({}, under('a'))));
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(10).fill(201));
    expect((await partner.createRide()).status).to.equal(429);
  });

  it('10 concurrent different requests with one Idempotency-Key create one ride: one 201, the others 409', async () => {
    const fares = Array.from({ length: 10 }, (_, i) => 10 + i);
    const answers = await Promise.all(fares.map((fare) => partner.createRide({ fare }, under('a'))));
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([201, ...Array(9).fill(409)]);
    expect(await ridesMade()).to.equal(1);
    expect(await charges()).to.equal(1);
  });

  it('a repeat gets the first 201 even if the key is over its limit', async () => {
    const first = await partner.createRide({}, under('a'));
    await addCharges(api.ctx, partner.keyId, 29);
    expect((await partner.createRide()).status).to.equal(429);
    const again = await partner.createRide({}, under('a'));
    expect(again.status).to.equal(201);
    expect(again.text).to.equal(first.text);
  });

  it('an expired Idempotency-Key creates a new ride, with any body', async () => {
    const first = await partner.createRide({}, under('a'));
    await expire();
    const second = await partner.createRide({ fare: 99 }, under('a'));
    expect(second.status).to.equal(201);
    expect(second.body.rideId).not.to.equal(first.body.rideId);
    const repeat = await partner.createRide({ fare: 99 }, under('a'));
    expect(repeat.text).to.equal(second.text);
    expect((await partner.get(`/rides/${first.body.rideId}`)).status).to.equal(200);
  });

  it('concurrent repeats with an expired Idempotency-Key create one new ride', async () => {
    await partner.createRide({}, under('a'));
    await expire();
    const answers = await Promise.all(Array.from({ length: 10 }, () => partner.createRide({}, under('a'))));
    expect(new Set(answers.map(({ text }) => text)).size).to.equal(1);
    expect(answers[0]?.status).to.equal(201);
    expect(await ridesMade()).to.equal(2);
  });

  it('an Idempotency-Key is valid for 24 hours', async () => {
    const { body } = await partner.createRide({}, under('a'));
    const ride = await rides.findOne({ _id: body.rideId });
    const lifeMs = (ride?.idempotency?.expiresAt.getTime() ?? 0) - (ride?.createdAt.getTime() ?? 0);
    expect(lifeMs).to.equal(24 * 3_600_000);
  });

  it('an invalid request does not use up its Idempotency-Key', async () => {
    expect((await partner.createRide({ fare: 0 }, under('a'))).status).to.equal(400);
    expect((await partner.createRide({}, under('a'))).status).to.equal(201);
  });

  it('a request over the limit does not use up its Idempotency-Key', async () => {
    await addCharges(api.ctx, partner.keyId, 30);
    expect((await partner.createRide({}, under('a'))).status).to.equal(429);
    await forgetCharges(api.ctx, partner.keyId);
    expect((await partner.createRide({ fare: 5 }, under('a'))).status).to.equal(201);
  });

  it('a failed request does not use up its Idempotency-Key', async () => {
    failOnce(database(), 'command', new Error('disk full'));
    expect((await partner.createRide({}, under('a'))).status).to.equal(500);
    expect((await partner.createRide({}, under('a'))).status).to.equal(201);
    expect(await ridesMade()).to.equal(1);
  });

  it('a repeat may name the scenario "default" explicitly, but another scenario answers 409', async () => {
    const named = { ...under('a'), 'x-service-test-scenario': 'default' };
    const first = await partner.createRide({}, under('a'));
    expect((await partner.createRide({}, named)).text).to.equal(first.text);
    const other = await partner.createRide({}, { ...named, 'x-service-test-scenario': 'stalls' });
    expect(other.status).to.equal(409);
  });

  /** Makes the next insert wait, and fail when `fail` is called. */
  function failingInsert(): { arrived: Promise<void>; fail: () => void } {
    let fail = () => {};
    const arrived = new Promise<void>((arrive) => {
      onceInsteadOf(database(), 'command', () => {
        arrive();
        return new Promise((_, reject) => {
          fail = () => reject(new Error('disk full'));
        });
      });
    });
    return { arrived, fail: () => fail() };
  }

  it('two concurrent repeats are charged once if the first fails and the second creates the ride', async () => {
    const insert = failingInsert();
    const first = partner.createRide({}, under('a'));
    await insert.arrived;
    expect((await partner.createRide({}, under('a'))).status).to.equal(201);
    insert.fail();
    expect((await first).status).to.equal(500);
    expect(await charges()).to.equal(1);
    expect(await ridesMade()).to.equal(1);
  });

  it('two concurrent failed requests are not charged; a later successful repeat is charged once', async () => {
    const inserts = [];
    const failed = [];
    for (let i = 0; i < 2; i++) {
      const insert = failingInsert();
      failed.push(partner.createRide({}, under('a')));
      await insert.arrived;
      inserts.push(insert);
    }
    const [one, other] = inserts;
    one?.fail();
    expect((await failed[0])?.status).to.equal(500);
    expect(await charges()).to.equal(1);
    other?.fail();
    expect((await failed[1])?.status).to.equal(500);
    expect(await charges()).to.equal(0);
    expect((await partner.createRide({}, under('a'))).status).to.equal(201);
    expect(await charges()).to.equal(1);
  });

  for (const [title, value] of [
    ['a space inside', 'a b'],
    ['256 characters', 'a'.repeat(256)],
    ['a letter that is not ASCII', 'é'],
    ['a tab', 'a\tb'],
  ] as const) {
    it(`an Idempotency-Key with ${title} answers 400 naming the header`, async () => {
      const { status, body } = await partner.createRide({}, under(value));
      expect(status).to.equal(400);
      expect(body.error).to.match(/^Idempotency-Key /);
      expect(await ridesMade()).to.equal(0);
    });
  }

  for (const value of ['a', 'a'.repeat(255), '!"#$%&/()=?,;:_~', '3f0c1d2e-8a4b-4c5d-9e6f-7a8b9c0d1e2f', '__proto__']) {
    it(`the Idempotency-Key ${value.slice(0, 40)} is accepted`, async () => {
      const first = await partner.createRide({}, under(value));
      expect(first.status).to.equal(201);
      expect((await partner.createRide({}, under(value))).text).to.equal(first.text);
    });
  }
});
