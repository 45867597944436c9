import { expect } from 'chai';
import { eventId } from '../../../shared/base/ids.ts';
import { mongoNow } from '../../../shared/base/mongo/clock.ts';
import { isOutageOfMongo } from '../../../shared/base/mongo/outage.ts';
import { applyAction } from '../../../shared/rides/apply-action.ts';
import type { Command } from '../../../shared/rides/decide.ts';
import { readFeed } from '../../../shared/rides/feed/event-feed.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { writeLimitMs } from '../../../shared/rides/write-change.ts';
import { onceInsteadOf } from '../../support/failing-mongo.ts';
import { ageEvents } from '../../support/feed.ts';
import { fireTimer } from '../../support/fire-timer.ts';
import { describeOnEngine, startReplicaSet } from '../../support/replica-set.ts';
import { newDriver, newRide, offerOn, rideWithEvents } from '../../support/rides.ts';
import { testContext, useTestContext } from '../../support/service.ts';
import { makeDue, storedRide } from '../../support/stored-rides.ts';
import { until } from '../../support/until.ts';

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

describe('the time of an event', () => {
  const ctx = useTestContext();

  it('an event that would be written 2 s after its time is decided again', async () => {
    const rideId = await newRide(ctx);
    const before = await mongoNow();
    const { find } = rides;
    // Simulates a write that comes 2 s after the read.
    onceInsteadOf(rides, 'find', (...args) => {
      const cursor = find.apply(rides, args as never) as unknown as { toArray(): Promise<{ now: Date }[]> };
      const late = (read: { now: Date }) => ({ ...read, now: new Date(read.now.getTime() - writeLimitMs) });
      return { toArray: async () => (await cursor.toArray()).map(late) };
    });
    await offerOn(ctx, rideId);
    const { events } = await storedRide(rideId);
    expect(events).to.have.lengthOf(1);
    expect(events[0]?.at).to.be.at.least(before);
  });
});

describe('an event that is too late for the feed', () => {
  const ctx = useTestContext();

  it('an event that is too late for the feed is not sent to MongoDB but decided again', async () => {
    const rideId = await newRide(ctx);
    const { updateOne } = rides;
    const { now } = performance;
    let tries = 0;
    onceInsteadOf(rides, 'updateOne', async (...args) => {
      tries += 1;
      // Simulates a write that has waited for a connection.
      performance.now = () => now.call(performance) + 2_000;
      try {
        return await updateOne.apply(rides, args as never);
      } catch (error) {
        expect((error as Error).name).to.equal('SendLimitPassed');
        throw error;
      } finally {
        performance.now = now;
      }
    });
    await offerOn(ctx, rideId);
    expect(tries).to.equal(1);
    const { events, rev } = await storedRide(rideId);
    expect({ events: events.length, rev }).to.deep.equal({ events: 1, rev: 1 });
  });
});

describeOnEngine('the event feed on a replica set', () => {
  it('the feed never shows an event that a failover rolls back, and shows the committed events afterwards', async () => {
    const engine = await testContext();
    await engine.close();
    const replicaSet = await startReplicaSet(process.env.TEST_RUN_MONGO_URL ?? '');
    const ctx = await testContext({ MONGO_URL: replicaSet.url });
    try {
      const keyId = `key_${Date.now()}`;
      const kept = await rideWithEvents(ctx, { keyId }, 1);
      await ageEvents(kept);
      replicaSet.hold(50);
      const lost = await rideWithEvents(ctx, { keyId }, 1).catch(() => null);
      await rides.updateMany({ keyId }, { $set: { 'events.0.at': new Date(1_000) } }).catch(() => {});
      const outcome = await readFeed(keyId, null, 10, Date.now() - 3_000).catch(({ name }: Error) => name);
      expect(lost).to.equal(null);
      expect(outcome).to.be.a('string');
      await replicaSet.stepDown();
      let shown: string[] | undefined;
      await until(async () => {
        const page = await readFeed(keyId, null, 10, Date.now() - 3_000).catch((error) => {
          // An outage is allowed: the MongoDB driver then noticed the failover only during the read.
          if (!isOutageOfMongo(error)) throw error;
        });
        shown = page?.events.map(({ rideId }) => rideId);
        return shown !== undefined;
      });
      expect(shown).to.deep.equal([kept]);
    } finally {
      await ctx.close();
      await replicaSet.close();
    }
  });
});
