import { expect } from 'chai';
import { mongoNow } from '../../../shared/base/mongo/clock.ts';
import { isOutageOfMongo } from '../../../shared/base/mongo/outage.ts';
import { readFeed } from '../../../shared/rides/feed/event-feed.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { writeLimitMs } from '../../../shared/rides/write-change.ts';
import { onceInsteadOf } from '../../support/failing-mongo.ts';
import { ageEvents } from '../../support/feed.ts';
import { describeOnEngine, startReplicaSet } from '../../support/replica-set.ts';
import { newRide, offerOn, rideWithEvents } from '../../support/rides.ts';
import { testContext, useTestContext } from '../../support/service.ts';
import { storedRide } from '../../support/stored-rides.ts';
import { until } from '../../support/until.ts';

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
