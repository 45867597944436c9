import { expect } from 'chai';
import { rotateKey } from '../../shared/keys/replace-secret.ts';
import { rides } from '../../shared/rides/ride.ts';
import { chargesOf, forgetCharges } from '../support/charges.ts';
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

  it('answers a repeat with the same 201, byte for byte, and makes and charges one ride', async () => {
    const first = await partner.createRide({ distanceKm: 12.345 }, under('a'));
    const second = await partner.createRide({ distanceKm: 12.345 }, under('a'));
    expect([first.status, second.status]).to.deep.equal([201, 201]);
    expect(second.text).to.equal(first.text);
    expect(await ridesMade()).to.equal(1);
    expect(await charges()).to.equal(1);
  });

  it('adds the job of the first timer when a repeat confirms a creation that added none', async () => {
    const { body } = await partner.createRide(undefined, under('a'));
    const firstJob = () => jobFor(api.ctx, 'simulator', { rideId: body.rideId, timer: 'offer' });
    await (await firstJob())?.remove();
    expect(await firstJob()).to.equal(undefined);
    expect((await partner.createRide(undefined, under('a'))).status).to.equal(201);
    expect(await firstJob()).to.not.equal(undefined);
  });

  it('takes the same request in another spelling for the same', async () => {
    const { pickup, destination, fare } = validRide;
    const first = await partner.post('/rides', { pickup, destination, fare }, under('a'));
    const spelled = { unknown: 1, notes: null, carType: 'regular', passengerCount: 1, fare, destination, pickup };
    const second = await partner.post('/rides', JSON.stringify(spelled, null, 2), under('a'));
    expect(second.text).to.equal(first.text);
    expect(await ridesMade()).to.equal(1);
  });

  it('answers the same 201 as then, however far the ride has gone', async () => {
    const first = await partner.createRide({}, under('a'));
    const { offerId } = await offerOn(api.ctx, first.body.rideId);
    await partner.post(`/rides/${first.body.rideId}/accept`, { offerId });
    await partner.post(`/rides/${first.body.rideId}/cancel`);
    const again = await partner.createRide({}, under('a'));
    expect(again.status).to.equal(201);
    expect(again.text).to.equal(first.text);
  });

  for (const [field, value] of [
    ['fare', 26],
    ['pickup', { lat: 1, lng: 2 }],
    ['notes', ''],
    ['passenger', { name: 'A' }],
    ['distanceKm', 1],
    ['webhookUrl', 'https://partner.example/'],
    ['rideType', 'intercity'],
  ] as const) {
    it(`refuses a repeat with another ${field} with a 409`, async () => {
      await partner.createRide({}, under('a'));
      const { status, body } = await partner.createRide({ [field]: value }, under('a'));
      expect(status).to.equal(409);
      expect(Object.keys(body)).to.deep.equal(['error']);
      expect(await ridesMade()).to.equal(1);
      expect(await charges()).to.equal(1);
    });
  }

  it('tells one Idempotency-Key from another, and capitals from small letters', async () => {
    const ids = new Set<string>();
    for (const key of ['a', 'A', 'b']) ids.add((await partner.createRide({}, under(key))).body.rideId);
    expect(ids.size).to.equal(3);
  });

  it('is separate for each API key', async () => {
    const other = await api.partner();
    const mine = await partner.createRide({}, under('a'));
    const theirs = await other.createRide({ fare: 99 }, under('a'));
    expect(theirs.status).to.equal(201);
    expect(theirs.body.rideId).not.to.equal(mine.body.rideId);
  });

  it('holds over a rotation of the key and over both bases', async () => {
    const first = await partner.createRide({}, under('a'));
    const rotated = await rotateKey(partner.keyId, 'anyone');
    const again = await clientOf(api.url, rotated.key, '/api/v1').createRide({}, under('a'));
    expect(again.text).to.equal(first.text);
  });

  it('makes one ride of 20 concurrent repeats, gives all the same 201 and charges once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => partner.createRide({}, under('a'))));
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(20).fill(201));
    expect(new Set(answers.map(({ text }) => text)).size).to.equal(1);
    expect(await ridesMade()).to.equal(1);
    expect(await charges()).to.equal(1);
  });

  it('takes one place under the limit for concurrent repeats, however few are left', async () => {
    await Promise.all(Array.from({ length: 29 }, () => partner.createRide()));
    const answers = await Promise.all(Array.from({ length: 10 }, () => partner.createRide({}, under('a'))));
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(10).fill(201));
    expect((await partner.createRide()).status).to.equal(429);
  });

  it('makes one ride of concurrent requests that differ: one is a 201, the others 409', async () => {
    const fares = Array.from({ length: 10 }, (_, i) => 10 + i);
    const answers = await Promise.all(fares.map((fare) => partner.createRide({ fare }, under('a'))));
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([201, ...Array(9).fill(409)]);
    expect(await ridesMade()).to.equal(1);
    expect(await charges()).to.equal(1);
  });

  it('replays also for a key that is over its limit', async () => {
    const first = await partner.createRide({}, under('a'));
    await Promise.all(Array.from({ length: 29 }, () => partner.createRide()));
    expect((await partner.createRide()).status).to.equal(429);
    const again = await partner.createRide({}, under('a'));
    expect(again.status).to.equal(201);
    expect(again.text).to.equal(first.text);
  });

  it('is forgotten after its time: the same key then makes a new ride, also with another body', async () => {
    const first = await partner.createRide({}, under('a'));
    await expire();
    const second = await partner.createRide({ fare: 99 }, under('a'));
    expect(second.status).to.equal(201);
    expect(second.body.rideId).not.to.equal(first.body.rideId);
    const repeat = await partner.createRide({ fare: 99 }, under('a'));
    expect(repeat.text).to.equal(second.text);
    expect((await partner.get(`/rides/${first.body.rideId}`)).status).to.equal(200);
  });

  it('makes one new ride of concurrent repeats after its time', async () => {
    await partner.createRide({}, under('a'));
    await expire();
    const answers = await Promise.all(Array.from({ length: 10 }, () => partner.createRide({}, under('a'))));
    expect(new Set(answers.map(({ text }) => text)).size).to.equal(1);
    expect(answers[0]?.status).to.equal(201);
    expect(await ridesMade()).to.equal(2);
  });

  it('is kept for 24 hours', async () => {
    const { body } = await partner.createRide({}, under('a'));
    const ride = await rides.findOne({ _id: body.rideId });
    const lifeMs = (ride?.idempotency?.expiresAt.getTime() ?? 0) - (ride?.createdAt.getTime() ?? 0);
    expect(lifeMs).to.equal(24 * 3_600_000);
  });

  it('does not remember a refused request: the corrected one makes the ride', async () => {
    expect((await partner.createRide({ fare: 0 }, under('a'))).status).to.equal(400);
    expect((await partner.createRide({}, under('a'))).status).to.equal(201);
  });

  it('does not remember a request that was over the limit', async () => {
    await Promise.all(Array.from({ length: 30 }, () => partner.createRide()));
    expect((await partner.createRide({}, under('a'))).status).to.equal(429);
    await forgetCharges(api.ctx, partner.keyId);
    expect((await partner.createRide({ fare: 5 }, under('a'))).status).to.equal(201);
  });

  it('does not remember a request that failed', async () => {
    failOnce(database(), 'command', new Error('disk full'));
    expect((await partner.createRide({}, under('a'))).status).to.equal(500);
    expect((await partner.createRide({}, under('a'))).status).to.equal(201);
    expect(await ridesMade()).to.equal(1);
  });

  it('takes the scenario default for the same request, named or not', async () => {
    const named = { ...under('a'), 'x-service-test-scenario': 'default' };
    const first = await partner.createRide({}, under('a'));
    expect((await partner.createRide({}, named)).text).to.equal(first.text);
    const other = await partner.createRide({}, { ...named, 'x-service-test-scenario': 'stalls' });
    expect(other.status).to.equal(409);
  });

  /** The next insert fails when it is told to. */
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

  it('charges once where the first of two at once fails and the second makes the ride', async () => {
    const insert = failingInsert();
    const first = partner.createRide({}, under('a'));
    await insert.arrived;
    expect((await partner.createRide({}, under('a'))).status).to.equal(201);
    insert.fail();
    expect((await first).status).to.equal(500);
    expect(await charges()).to.equal(1);
    expect(await ridesMade()).to.equal(1);
  });

  it('charges nothing where both of two at once fail, and once for the repeat that makes the ride', async () => {
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
    it(`is refused with a 400 that names it: ${title}`, async () => {
      const { status, body } = await partner.createRide({}, under(value));
      expect(status).to.equal(400);
      expect(body.error).to.match(/^Idempotency-Key /);
      expect(await ridesMade()).to.equal(0);
    });
  }

  for (const value of ['a', 'a'.repeat(255), '!"#$%&/()=?,;:_~', '3f0c1d2e-8a4b-4c5d-9e6f-7a8b9c0d1e2f', '__proto__']) {
    it(`is accepted: ${value.slice(0, 40)}`, async () => {
      const first = await partner.createRide({}, under(value));
      expect(first.status).to.equal(201);
      expect((await partner.createRide({}, under(value))).text).to.equal(first.text);
    });
  }

  it('is not needed: without it two equal requests make two rides', async () => {
    const answers = [await partner.createRide(), await partner.createRide()];
    expect(new Set(answers.map(({ body }) => body.rideId)).size).to.equal(2);
  });
});
