import { expect } from 'chai';
import type { Point } from '../../../shared/base/great-circle.ts';
import { revokeDriver, rotateDriverKey, suspendDriver } from '../../../shared/drivers/manage-drivers.ts';
import { useDriverRides } from '../../support/driver-rides.ts';
import { newGatewayDriver, somewhere } from '../../support/drivers.ts';
import type { EventStream } from '../../support/event-stream.ts';

describe('streams of drivers', () => {
  const { api, partner, openRide } = useDriverRides();
  const opened: EventStream[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((stream) => stream.close()));
  });

  async function streamOf(driver: { stream(): Promise<EventStream> }): Promise<EventStream> {
    const stream = await driver.stream();
    opened.push(stream);
    return stream;
  }
  /** Creates a driver with a stream that has sent the current state. */
  async function following(at: Point) {
    const driver = await newGatewayDriver(api, { at });
    const stream = await streamOf(driver);
    expect(await stream.next()).to.deep.equal({ requests: [] });
    expect(await stream.next()).to.deep.equal({ ride: null });
    return { ...driver, next: stream.next };
  }
  const offer = { price: 20, etaMinutes: 5 };

  it("a driver's stream starts with the events `requests` and `ride`", async () => {
    const place = somewhere();
    const driver = await newGatewayDriver(api, { at: place });
    const rideId = await openRide(place);
    const stream = await streamOf(driver);
    expect(stream.status).to.equal(200);
    expect(stream.headers.get('content-type')).to.match(/^text\/event-stream/);
    expect(stream.headers.get('cache-control')).to.equal('no-store, no-transform');
    expect(await stream.next()).to.deep.equal((await driver.get('/requests')).body);
    expect(await stream.next()).to.deep.equal({ ride: null });
    const response = await fetch(`${api.url}/drivers/v1/stream`, { headers: { 'x-api-key': driver.key } });
    const reader = response.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    expect(new TextDecoder().decode(value)).to.match(/^event: requests\ndata: \{"requests":\[.*\n\n/);
    expect(new TextDecoder().decode(value)).to.include(rideId);
    await reader?.cancel();
  });

  it("a driver's stream shows a new request, the driver's own offer, and the end of the request", async () => {
    const place = somewhere();
    const driver = await following(place);
    const rideId = await openRide(place);
    expect((await driver.next()).requests[0]).to.include({ rideId });
    const { offerId } = (await driver.post(`/requests/${rideId}/offers`, offer)).body;
    expect((await driver.next()).requests[0].offer).to.include({ offerId });
    await driver.remove(`/requests/${rideId}/offers/${offerId}`);
    expect((await driver.next()).requests[0]).not.to.have.property('offer');
    await partner.post(`/rides/${rideId}/cancel`);
    expect(await driver.next()).to.deep.equal({ requests: [] });
  });

  it('the stream shows the ride to the chosen driver, and removes the request for the others', async () => {
    const place = somewhere();
    const [winner, loser] = [await following(place), await following(place)];
    const rideId = await openRide(place);
    expect((await winner.next()).requests).to.have.length(1);
    expect((await loser.next()).requests).to.have.length(1);
    const { offerId } = (await winner.post(`/requests/${rideId}/offers`, offer)).body;
    expect((await winner.next()).requests[0]).to.have.property('offer');
    await partner.post(`/rides/${rideId}/accept`, { offerId });
    expect(await winner.next()).to.deep.equal({ requests: [] });
    expect((await winner.next()).ride).to.include({ rideId, status: 'driver_arriving', agreedPrice: 20 });
    expect(await loser.next()).to.deep.equal({ requests: [] });
    await winner.post('/ride/arrive', { rideId });
    expect((await winner.next()).ride).to.include({ status: 'arrived' });
    await partner.post(`/rides/${rideId}/cancel`);
    expect(await winner.next()).to.deep.equal({ ride: null });
  });

  for (const [name, end] of [
    ['suspended', suspendDriver],
    ['revoked', revokeDriver],
    ['given a new key', rotateDriverKey],
  ] as const) {
    it(`a driver's stream ends when the driver is ${name}, without showing later rides`, async () => {
      const place = somewhere();
      const driver = await following(place);
      await end(driver.driverId);
      await openRide(place);
      expect(await driver.next()).to.equal(null);
      expect((await driver.stream()).status).to.equal(401);
    });
  }

  it('each driver can have five streams; the sixth answers 429', async () => {
    const driver = await newGatewayDriver(api);
    const statuses = [];
    for (let count = 0; count < 6; count++) statuses.push((await streamOf(driver)).status);
    expect(statuses).to.deep.equal([200, 200, 200, 200, 200, 429]);
    expect((await streamOf(await newGatewayDriver(api))).status).to.equal(200);
  });

  it("a driver's stream shows changes even if their wake-up is lost, because it also polls", async () => {
    const place = somewhere();
    const driver = await following(place);
    const publish = api.ctx.redis.publish;
    api.ctx.redis.publish = (async () => 0) as typeof publish;
    try {
      const rideId = await openRide(place);
      expect((await driver.next()).requests[0]).to.include({ rideId });
    } finally {
      api.ctx.redis.publish = publish;
    }
  });
});
