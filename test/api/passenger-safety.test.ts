import { expect } from 'chai';
import { eraseRide } from '../../shared/retention/erase-rides.ts';
import { rides } from '../../shared/rides/ride.ts';
import { dispatchedRide, newGatewayDriver, somewhere } from '../support/drivers.ts';
import { nextOf } from '../support/event-stream.ts';
import { rideIn } from '../support/rides.ts';
import { usePartner, useTestApi } from '../support/service.ts';
import { storedRide } from '../support/stored-rides.ts';

describe('a message to the driver, and the PIN of a ride', () => {
  const api = useTestApi({ TRUSTED_PROXY_HOPS: '1' });
  const partner = usePartner(api, 'live');
  const tester = usePartner(api);

  const code = ({ headers }: { headers: Headers }) => headers.get('x-service-error');
  const write = (rideId: string, text: string) => partner.post(`/rides/${rideId}/messages`, { text });

  /** A live ride with a driver of the gateway. */
  async function chosen(wish: { pin?: boolean } = {}) {
    const place = somewhere();
    const driver = await newGatewayDriver(api, { at: place });
    const rideId = await dispatchedRide(api.ctx, place, { keyId: partner.keyId, ...wish });
    const { offerId } = (await driver.post(`/requests/${rideId}/offers`, { price: 20, etaMinutes: 3 })).body;
    await partner.post(`/rides/${rideId}/accept`, { offerId });
    return { driver, rideId };
  }

  it('the driver gets a message on the stream, and the partner sees that the driver has seen it', async () => {
    const { driver, rideId } = await chosen();
    const before = await storedRide(rideId);
    const stream = await driver.stream();
    const { status, body } = await write(rideId, 'Side entrance');
    expect([status, body]).to.deep.equal([200, { success: true, rideId, status: 'driver_arriving', number: 1 }]);
    await nextOf(stream, ({ ride }) => ride?.messages?.[0]?.text === 'Side entrance');
    await stream.close();
    await write(rideId, 'Ring twice');
    const seen = async () =>
      (await partner.get(`/rides/${rideId}`)).body.messages.map((each: { seenAt?: number }) => Boolean(each.seenAt));
    expect(await seen()).to.deep.equal([false, false]);
    for (let repeat = 0; repeat < 2; repeat++) {
      expect((await driver.post('/ride/seen', { rideId, number: 1 })).status).to.equal(204);
      expect(await seen()).to.deep.equal([true, false]);
    }
    expect((await storedRide(rideId)).seq).to.equal(before.seq);
  });

  it('only the driver of the ride can mark its messages', async () => {
    const { rideId } = await chosen();
    const { driver: other } = await chosen();
    await write(rideId, 'Side entrance');
    expect(code(await other.post('/ride/seen', { rideId, number: 1 }))).to.equal('not_own_ride');
    expect((await storedRide(rideId)).driverNotes?.[0]).not.to.have.property('seenAt');
  });

  it('ten messages sent at the same moment are all stored, a repeat stores none, and an eleventh is refused', async () => {
    const { rideId } = await rideIn(api.ctx, 'arrived', { by: partner });
    await Promise.all(Array.from({ length: 10 }, (_, index) => write(rideId, `message ${index}`)));
    const { driverNotes = [] } = await storedRide(rideId);
    expect(driverNotes.map(({ number }) => number)).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect((await write(rideId, driverNotes.at(-1)?.text ?? '')).status).to.equal(200);
    expect(code(await write(rideId, 'one more'))).to.equal('messages_full');
  });

  it('a live ride with a PIN starts only with it, and after five wrong ones not even with it for 10 minutes', async () => {
    const { driver, rideId } = await chosen({ pin: true });
    expect((await driver.get('/ride')).body.ride.pin).to.equal(true);
    const { pin } = (await partner.get(`/rides/${rideId}`)).body;
    expect(pin).to.match(/^[0-9]{4}$/);
    expect(JSON.stringify((await driver.get('/ride')).body)).not.to.include(`"${pin}"`);
    await driver.post('/ride/arrive', { rideId });
    const start = (given?: string) => driver.post('/ride/start', { rideId, pin: given });
    const wrong = pin === '0000' ? '0001' : '0000';
    expect(code(await start())).to.equal('wrong_pin');
    for (let tries = 0; tries < 5; tries++) expect(code(await start(wrong))).to.equal('wrong_pin');
    expect(code(await start(pin))).to.equal('pin_locked');
    // Later ones are from before MongoDB's clock was set back.
    const wrongPinsAt = [-11, 11, 11, 11, 11, 11].map((minutes) => new Date(Date.now() + minutes * 60_000));
    await rides.updateOne({ _id: rideId }, { $set: { wrongPinsAt } });
    expect((await start(pin)).body.status).to.equal('in_progress');
    // A repeat after a lost answer.
    expect((await start()).body.status).to.equal('in_progress');
    expect((await storedRide(rideId)).events.map(({ body }) => body).join()).not.to.include(pin);
  });

  it('many wrong PINs at the same moment count as five', async () => {
    const { driver, rideId } = await chosen({ pin: true });
    await driver.post('/ride/arrive', { rideId });
    const { pinCode } = await storedRide(rideId);
    const wrong = pinCode === '0000' ? '0001' : '0000';
    const answers = await Promise.all(
      Array.from({ length: 9 }, () => driver.post('/ride/start', { rideId, pin: wrong })),
    );
    expect(answers.filter((answer) => code(answer) === 'wrong_pin')).to.have.length(5);
    expect((await storedRide(rideId)).wrongPinsAt).to.have.length(5);
  });

  it('a manual start needs the PIN of its test ride, and a ride without one starts with any body', async () => {
    const { rideId } = await rideIn(api.ctx, 'arrived', { by: tester, pin: true });
    const start = (body?: unknown, of = rideId) => tester.post(`/test/rides/${of}/start`, body);
    expect(code(await start())).to.equal('wrong_pin');
    expect(code(await start({ pin: 'x' }))).to.equal('wrong_pin');
    const { pin } = (await tester.get(`/rides/${rideId}`)).body;
    expect((await start({ pin })).body.status).to.equal('in_progress');
    const { rideId: other } = await rideIn(api.ctx, 'arrived', { by: tester });
    expect((await start('{"pin": [', other)).body.status).to.equal('in_progress');
  });

  const press = async (rideId: string, client = '203.0.113.1') => {
    const { trackToken } = await storedRide(rideId);
    const url = `${api.url}/track/${trackToken}/help`;
    return (await fetch(url, { method: 'POST', headers: { 'X-Forwarded-For': client } })).status;
  };
  const presses = async (rideId: string) => (await storedRide(rideId)).helpAskedAt?.length ?? 0;

  it('a ride records a request for help at most once a minute, until it ends, without an event', async () => {
    for (const by of [partner, tester]) {
      const { rideId } = await rideIn(api.ctx, 'arrived', { by });
      const { seq } = await storedRide(rideId);
      expect(await Promise.all([press(rideId), press(rideId), press(rideId)])).to.deep.equal([204, 204, 204]);
      expect(await presses(rideId)).to.equal(1);
      await rides.updateOne({ _id: rideId }, { $set: { 'helpAskedAt.0': new Date(Date.now() - 61_000) } });
      await press(rideId);
      expect([await presses(rideId), (await storedRide(rideId)).seq]).to.deep.equal([2, seq]);
    }
    const { rideId } = await rideIn(api.ctx, 'completed', { by: partner });
    expect([await press(rideId), await presses(rideId)]).to.deep.equal([204, 0]);
  });

  it("MongoDB's clock, which may be set back, decides what is a repeat of a message or of a request for help", async () => {
    const { rideId } = await rideIn(api.ctx, 'arrived', { by: partner });
    const ahead = new Date(Date.now() + 3_600_000);
    const send = async () => [await write(rideId, 'Side entrance'), await press(rideId)];
    const stored = async () => {
      const { driverNotes = [], helpAskedAt = [] } = await storedRide(rideId);
      return [driverNotes.map(({ at }) => at < ahead), helpAskedAt.map((at) => at < ahead)];
    };
    await rides.updateOne({ _id: rideId }, { $set: { lastEventAt: ahead } });
    await send();
    expect(await stored()).to.deep.equal([[true], [true]]);
    await rides.updateOne({ _id: rideId }, { $set: { 'driverNotes.0.at': ahead, 'helpAskedAt.0': ahead } });
    for (let repeat = 0; repeat < 2; repeat++) await send();
    expect(await stored()).to.deep.equal([
      [false, true],
      [false, true],
    ]);
  });

  it('requests for help with an expired link or from a network with many requests are refused', async () => {
    const { rideId } = await rideIn(api.ctx, 'completed', { by: partner });
    await rides.updateOne({ _id: rideId }, { $set: { statusAt: new Date(Date.now() - 25 * 3_600_000) } });
    expect(await press(rideId)).to.equal(404);
    for (let made = 0; made < 30; made++) await press(rideId, '203.0.113.2');
    expect(await press(rideId, '203.0.113.2')).to.equal(429);
    expect(await press(rideId)).to.equal(404);
  });

  it('erasure removes PINs, messages and requests for help', async () => {
    const { rideId } = await rideIn(api.ctx, 'arrived', { by: partner, pin: true });
    await write(rideId, 'Side entrance');
    await press(rideId);
    await partner.post(`/rides/${rideId}/cancel`);
    await rides.updateOne({ _id: rideId }, { $set: { unsettled: 0 } });
    await eraseRide(rideId);
    expect(await storedRide(rideId)).not.to.have.any.keys('pinCode', 'driverNotes', 'wrongPinsAt', 'helpAskedAt');
  });
});
