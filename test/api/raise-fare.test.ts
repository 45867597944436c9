import { expect } from 'chai';
import { dispatchedRide, newGatewayDriver, somewhere } from '../support/drivers.ts';
import { nextOf } from '../support/event-stream.ts';
import { offerOn } from '../support/rides.ts';
import { usePartner, useTestApi } from '../support/service.ts';
import { storedRide } from '../support/stored-rides.ts';

describe('POST /rides/:rideId/fare', () => {
  const api = useTestApi();
  const partner = usePartner(api, 'live');

  const raise = (rideId: string, fare: unknown) => partner.post(`/rides/${rideId}/fare`, { fare });
  const newRideAt = async (fare: number): Promise<string> => (await partner.createRide({ fare })).body.rideId;

  it('raising the fare sends no event, and keeps the offers', async () => {
    const rideId = await newRideAt(20);
    await offerOn(api.ctx, rideId, { price: 24 });
    const { status, body } = await raise(rideId, 23.5);
    expect(status).to.equal(200);
    expect(body).to.deep.equal({ success: true, rideId, status: 'bidding', fare: 23.5 });
    expect((await partner.get(`/rides/${rideId}`)).body).to.include({ fare: 23.5, offersCount: 1 });
    expect((await partner.get(`/rides/${rideId}/offers`)).body.offers[0].price).to.equal(24);
    const ride = await storedRide(rideId);
    expect(ride.seq).to.equal(1);
    expect(ride.fareRaisedAt).to.be.within(ride.createdAt, new Date(api.ctx.now()));
    expect(ride.timers.map(({ name }) => name)).to.have.members(['expire', 'dispatch']);
    await offerOn(api.ctx, rideId, { price: 30 });
    expect(JSON.parse((await storedRide(rideId)).events[1]?.body ?? '').fare).to.equal(23.5);
  });

  it('concurrent raises end with the highest fare', async () => {
    const rideId = await newRideAt(20);
    const answers = await Promise.all([24, 21, 30, 26, 22, 28].map((fare) => raise(rideId, fare)));
    for (const { status } of answers) expect(status).to.be.oneOf([200, 409]);
    expect((await storedRide(rideId)).fare).to.equal(30);
  });

  it('raising the fare does not change the answer to a repeated creation', async () => {
    const under = { 'idempotency-key': 'raised' };
    const first = await partner.createRide({ fare: 20 }, under);
    await raise(first.body.rideId, 22);
    await raise(first.body.rideId, 24);
    expect((await partner.createRide({ fare: 20 }, under)).text).to.equal(first.text);
  });

  it('drivers who were asked see the raised fare in the list of requests and in the stream', async () => {
    const place = somewhere();
    const driver = await newGatewayDriver(api, { at: place });
    const rideId = await dispatchedRide(api.ctx, place, { keyId: partner.keyId, fare: 20 });
    const stream = await driver.stream();
    expect((await stream.next()).requests).to.have.length(1);
    await raise(rideId, 27.5);
    await nextOf(stream, ({ requests }) => requests?.[0].fare === 27.5);
    expect((await driver.get('/requests')).body.requests[0].fare).to.equal(27.5);
    await stream.close();
  });
});
