import { expect } from 'chai';
import { positions } from '../../../shared/drivers/positions.ts';
import { useDriverRides } from '../../support/driver-rides.ts';
import { newGatewayDriver, runDispatch, somewhere } from '../../support/drivers.ts';
import { makeDue, storedRide } from '../../support/stored-rides.ts';

describe('DELETE /requests/:rideId', () => {
  const given = useDriverRides();
  const { api, partner, openRide, offerBy, accept, requestsOf, refusal } = given;
  const { chosenDriver, askedDriver, askedDrivers } = given;

  it('a declined request leaves the list of this driver only, and a repeat changes nothing', async () => {
    const { driver, other, rideId } = await askedDrivers();
    for (let time = 0; time < 2; time++) {
      const { status, text } = await driver.remove(`/requests/${rideId}`);
      expect({ status, text }).to.deep.equal({ status: 204, text: '' });
    }
    expect(await requestsOf(driver)).to.deep.equal([]);
    expect(await requestsOf(other)).to.have.length(1);
    expect(await storedRide(rideId)).to.deep.include({ status: 'bidding', rev: 2, events: [] });
  });

  it('a declined request is not opened to the driver again, and makes room for a sixth one', async () => {
    const place = somewhere();
    const driver = await newGatewayDriver(api, { at: place });
    const rideIds: string[] = [];
    for (let made = 0; made < 6; made++) rideIds.push(await openRide(place));
    const [declined = '', sixth = ''] = [rideIds[0], rideIds[5]];
    expect(await requestsOf(driver)).to.have.length(5);
    await driver.remove(`/requests/${declined}`);
    for (const rideId of [declined, sixth]) {
      await makeDue(rideId, 'dispatch');
      await runDispatch(api.ctx, rideId);
    }
    const shown = (await requestsOf(driver)).map(({ rideId }: { rideId: string }) => rideId);
    expect(shown).to.have.members(rideIds.slice(1));
    expect((await positions.findOne({ _id: driver.driverId }))?.requests).to.have.members(rideIds.slice(1));
  });

  it("declining withdraws the driver's offer, and a later offer shows the request again", async () => {
    const { driver, rideId } = await askedDriver();
    const offerId = await offerBy(driver, rideId);
    await driver.remove(`/requests/${rideId}`);
    expect(refusal(await accept(rideId, offerId))).to.deep.equal([409, 'The offer was withdrawn']);
    expect(await requestsOf(driver)).to.deep.equal([]);
    const again = await offerBy(driver, rideId, 25);
    expect((await requestsOf(driver))[0].offer).to.include({ offerId: again, price: 25 });
  });

  it('of a decline and an accept at the same time, only the first one changes the ride', async () => {
    for (let race = 0; race < 10; race++) {
      const { driver, rideId } = await askedDriver();
      const offerId = await offerBy(driver, rideId);
      const [accepted, declined] = await Promise.all([accept(rideId, offerId), driver.remove(`/requests/${rideId}`)]);
      expect(declined.status).to.equal(204);
      const { status, asked = [], offers } = await storedRide(rideId);
      const isChosen = accepted.status === 200;
      expect(accepted.status).to.be.oneOf([200, 409]);
      expect(status).to.equal(isChosen ? 'driver_arriving' : 'bidding');
      expect(asked[0]?.declinedAt === undefined).to.equal(isChosen);
      expect(offers[0]?.withdrawnAt === undefined).to.equal(isChosen);
      expect((await driver.get('/ride')).body.ride !== null).to.equal(isChosen);
    }
  });

  it('a request stays declined if a dispatch round runs at the same time', async () => {
    const { driver, rideId } = await askedDriver();
    await makeDue(rideId, 'dispatch');
    await Promise.all([runDispatch(api.ctx, rideId), driver.remove(`/requests/${rideId}`)]);
    expect(await requestsOf(driver)).to.deep.equal([]);
    expect((await storedRide(rideId)).asked).to.have.length(1);
  });

  it('the stream of the driver no longer shows a declined request', async () => {
    const { driver, rideId } = await askedDriver();
    const stream = await driver.stream();
    try {
      expect((await stream.next())?.requests).to.have.length(1);
      expect(await stream.next()).to.deep.equal({ ride: null });
      await driver.remove(`/requests/${rideId}`);
      expect(await stream.next()).to.deep.equal({ requests: [] });
    } finally {
      await stream.close();
    }
  });

  it('declining an own or an ended ride changes nothing, and a ride that was not opened answers 404', async () => {
    const { driver, rideId } = await chosenDriver();
    expect((await driver.remove(`/requests/${rideId}`)).status).to.equal(204);
    expect((await partner.get(`/rides/${rideId}`)).body.status).to.equal('driver_arriving');
    await partner.post(`/rides/${rideId}/cancel`);
    expect((await driver.remove(`/requests/${rideId}`)).status).to.equal(204);
    const foreign = await openRide(somewhere());
    expect(refusal(await driver.remove(`/requests/${foreign}`))).to.deep.equal([404, 'Ride not found']);
  });
});
