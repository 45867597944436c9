import { expect } from 'chai';
import { eventId } from '../../../shared/base/ids.ts';
import { applyAction } from '../../../shared/rides/change-ride.ts';
import type { Command } from '../../../shared/rides/decide.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { fireTimer } from '../../support/fire-timer.ts';
import { newDriver, newRide, offerOn } from '../../support/rides.ts';
import { useTestContext } from '../../support/service.ts';
import { makeDue, storedRide } from '../../support/stored-rides.ts';

const bodyOf = (ride: Ride, seq: number) => JSON.parse(ride.events[seq - 1]?.body ?? '');

describe('the bodies of events', () => {
  const ctx = useTestContext({ TRACK_BASE_URL: 'https://track.example/map' });

  const driver = newDriver({ name: 'Noor Aziz', phone: '+12025550117', rating: 4.6, vehicle: 'Kia Rio', plate: 'A-1' });

  it('offer.received contains the offer as the API lists it, the count of offers, the fare, the track URL and the time', async () => {
    const rideId = await newRide(ctx, { fare: 25 });
    await offerOn(ctx, rideId);
    const { offerId } = await offerOn(ctx, rideId, { driver, price: 27.5, etaMinutes: 6 });
    const ride = await storedRide(rideId);
    expect(bodyOf(ride, 2)).to.deep.equal({
      event: 'offer.received',
      rideId,
      offer: {
        offerId,
        price: 27.5,
        etaMinutes: 6,
        driver: { name: 'Noor Aziz', rating: 4.6, plate: 'A-1', vehicle: 'Kia Rio' },
      },
      offersCount: 2,
      fare: 25,
      trackUrl: `https://track.example/map/${ride.trackToken}`,
      at: ride.events[1]?.at.getTime(),
      ...{ eventId: eventId(rideId, 2), sequence: 2 },
    });
  });

  it('ride.status contains the fields of the contract, with the original fare and the agreed price', async () => {
    const rideId = await newRide(ctx, { fare: 25 });
    const { offerId } = await offerOn(ctx, rideId, { driver, price: 27.5 });
    const steps: Command[] = [
      { action: 'accept', offerId },
      { action: 'arrive' },
      { action: 'start' },
      { action: 'complete' },
    ];
    for (const step of steps) await applyAction(ctx, rideId, step, 'anyone');
    const ride = await storedRide(rideId);
    for (const [index, status] of ['driver_arriving', 'arrived', 'in_progress', 'completed'].entries()) {
      expect(bodyOf(ride, index + 2)).to.deep.equal({
        event: 'ride.status',
        rideId,
        status,
        fare: 25,
        driver: { name: 'Noor Aziz', phone: '+12025550117', plate: 'A-1', vehicle: 'Kia Rio' },
        trackUrl: `https://track.example/map/${ride.trackToken}`,
        at: ride.events[index + 1]?.at.getTime(),
        agreedPrice: 27.5,
        ...{ eventId: eventId(rideId, index + 2), sequence: index + 2 },
      });
    }
  });

  it('ride.status of a cancelled ride has cancelledBy, and driver null if none was assigned', async () => {
    const rideId = await newRide(ctx, { fare: 12 });
    await applyAction(ctx, rideId, { action: 'cancel', by: 'timeout' }, 'anyone');
    const ride = await storedRide(rideId);
    expect(bodyOf(ride, 1)).to.deep.equal({
      event: 'ride.status',
      rideId,
      status: 'cancelled',
      fare: 12,
      driver: null,
      trackUrl: `https://track.example/map/${ride.trackToken}`,
      at: ride.events[0]?.at.getTime(),
      ...{ cancelledBy: 'timeout', cancelReason: 'no_offers' },
      ...{ eventId: eventId(rideId, 1), sequence: 1 },
    });
  });

  it('every event of a test ride has testMode, and no event of a live ride has it', async () => {
    const testRide = await newRide(ctx, { mode: 'test' });
    await makeDue(testRide, 'offer');
    await fireTimer(ctx, testRide, 'offer');
    await applyAction(ctx, testRide, { action: 'cancel', by: 'partner' }, 'anyone');
    const ride = await storedRide(testRide);
    expect([1, 2].map((seq) => bodyOf(ride, seq).testMode)).to.deep.equal([true, true]);

    const liveRide = await newRide(ctx, { mode: 'live' });
    await offerOn(ctx, liveRide);
    await applyAction(ctx, liveRide, { action: 'cancel', by: 'partner' }, 'anyone');
    const { events } = await storedRide(liveRide);
    expect(events).to.have.length(2);
    for (const { body } of events) expect(body).not.to.contain('testMode');
  });

  it('no event contains the passenger, the notes or the id of the driver', async () => {
    const rideId = await newRide(ctx, {
      passenger: { name: 'Canary Passenger', phone: '+12025559999' },
      notes: 'Canary notes',
    });
    const { offerId } = await offerOn(ctx, rideId, { driver });
    await applyAction(ctx, rideId, { action: 'accept', offerId }, 'anyone');
    await applyAction(ctx, rideId, { action: 'cancel', by: 'partner' }, 'anyone');
    const sent = (await storedRide(rideId)).events.map(({ body }) => body).join();
    for (const canary of ['Canary', '5559999', 'passenger', driver.driverId, 'key_'])
      expect(sent).not.to.contain(canary);
  });

  it("each event is later than the previous one, even after MongoDB's clock is set back", async () => {
    const rideId = await newRide(ctx);
    const lastEventAt = new Date(Date.now() + 60_000);
    await rides.updateOne({ _id: rideId }, { $set: { lastEventAt } });
    await offerOn(ctx, rideId);
    await offerOn(ctx, rideId);
    const ride = await storedRide(rideId);
    expect([1, 2].map((seq) => bodyOf(ride, seq).at - lastEventAt.getTime())).to.deep.equal([1, 2]);
  });
});
