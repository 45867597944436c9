import { expect } from 'chai';
import mongoose from 'mongoose';
import { rides } from '../../../shared/rides/ride.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { deliver, insteadOf, useDeliveries } from '../../support/deliveries.ts';
import { withLogLines } from '../../support/log-lines.ts';
import { jobFor, storedRide } from '../../support/stored-rides.ts';

describe('an outcome that cannot be recorded', () => {
  let restoreWrites = () => {};
  const { receiver, ctx, rideWith } = useDeliveries();
  afterEach(async () => {
    restoreWrites();
    await stopRefusing();
  });

  /**
   * Makes MongoDB refuse a value on these rides: another ride already has the value, and a unique index forbids
   * duplicates.
   */
  const refuse = async (field: string, taken: object, rideIds: readonly string[]) => {
    const partialFilterExpression = { isRefused: true };
    await rides.createIndex({ [field]: 1 }, { name: 'refusal', unique: true, partialFilterExpression });
    await rides.insertOne({ _id: 'taken', isRefused: true, ...taken } as never);
    await rides.updateMany({ _id: { $in: [...rideIds] } }, { $set: { isRefused: true } as never });
  };
  const stopRefusing = async () => {
    await rides.dropIndex('refusal').catch(() => {});
    await rides.deleteOne({ _id: 'taken' });
    await rides.updateMany({ isRefused: true } as never, { $unset: { isRefused: '' } as never });
  };
  const refuseStatus503 = (...rideIds: string[]) =>
    refuse('events.delivery.httpStatus', { events: [{ delivery: { httpStatus: 503 } }] }, rideIds);
  const heldForMs = ({ claim }: Ride) => (claim ? claim.until.getTime() - claim.at.getTime() : 0);

  it('if MongoDB refuses to record a delivery, a minimal record is stored and the next event is sent', async () => {
    receiver.answerWith((response) => response.writeHead(503).end());
    const rideId = await rideWith(2);
    await refuseStatus503(rideId);
    const logged = withLogLines(ctx);
    expect(await deliver(logged.ctx, rideId, 1)).to.include({ result: 'failed' });
    const ride = await storedRide(rideId);
    expect(ride).to.include({ settledSeq: 1, unsettled: 1 }).and.not.to.have.property('claim');
    const { delivery } = ride.events[0] ?? {};
    expect(delivery).to.include({ outcome: 'failed', reason: 'unrecordable' });
    expect(delivery).to.have.all.keys('outcome', 'reason', 'durationMs', 'at');
    expect(await jobFor(ctx, 'webhooks', { rideId, seq: 2 })).not.to.equal(undefined);
    expect(logged.errors()).not.to.have.length(0);
    expect(JSON.stringify(logged.lines)).not.to.include(receiver.url);
  });

  it('a delivery that MongoDB refuses does not block the other writes of its batch', async () => {
    const rideIds = await Promise.all(Array.from({ length: 8 }, () => rideWith(1)));
    const [refused = ''] = rideIds;
    await refuseStatus503(refused);
    receiver.answerWith((response, { body }) => response.writeHead(body.rideId === refused ? 503 : 200).end());
    await Promise.all(rideIds.map((rideId) => deliver(ctx, rideId, 1, { pool: 'webhooks-slow' })));
    for (const rideId of rideIds) {
      const outcome = rideId === refused ? 'failed' : 'delivered';
      expect((await storedRide(rideId)).events[0]?.delivery).to.include({ outcome });
    }
  });

  it('if MongoDB refuses the minimal record too, a later run sends the event after a pause', async () => {
    const rideId = await rideWith(1);
    await refuse('settledSeq', { settledSeq: 1 }, [rideId]);
    const logged = withLogLines(ctx);
    expect(await deliver(logged.ctx, rideId, 1)).to.deep.equal({ result: 'not recorded' });
    const ride = await storedRide(rideId);
    expect(ride).to.include({ settledSeq: 0, unsettled: 1 });
    expect(heldForMs(ride)).to.be.at.least(15_000);
    expect(logged.errors().map(({ msg }) => msg)).to.include('MongoDB refuses the outcome of a delivery');
    expect(logged.errors().length).to.be.at.most(3);
  });

  it('a pool stops even while MongoDB is unavailable; after the claim expires, another run continues', async () => {
    const rideId = await rideWith(1);
    const stop = new AbortController();
    let tries = 0;
    restoreWrites = insteadOf('settling', () => {
      if (++tries === 3) stop.abort();
      return Promise.reject(new mongoose.mongo.MongoNetworkError('connection lost'));
    });
    expect(await deliver(ctx, rideId, 1, { stopping: stop.signal })).to.deep.equal({ result: 'not recorded' });
    expect(tries).to.equal(3);
    const ride = await storedRide(rideId);
    expect(ride).to.include({ settledSeq: 0, unsettled: 1 });
    expect(heldForMs(ride)).to.equal(12_000);
  });
});
