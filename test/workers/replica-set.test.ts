import { expect } from 'chai';
import { isOutageOfMongo } from '../../shared/base/mongo/outage.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { deliver, newKey } from '../support/deliveries.ts';
import { fireTimer } from '../support/fire-timer.ts';
import type { Document } from '../support/op-msg.ts';
import { useReceiver } from '../support/receiver.ts';
import { describeOnEngine, useReplicaSet } from '../support/replica-set.ts';
import { rideWithEvents } from '../support/rides.ts';
import { useTestContext } from '../support/service.ts';
import { storedRide } from '../support/stored-rides.ts';
import { until } from '../support/until.ts';

describeOnEngine('a worker on a replica set', () => {
  let commands: Document[] = [];
  const replicaSet = useReplicaSet({ onCommand: (command) => commands.push(command) });
  const receiver = useReceiver();
  const ctx = useTestContext(() => ({ MONGO_URL: replicaSet.url, WEBHOOK_LOCAL_TARGETS: receiver.origin }));
  beforeEach(() => {
    commands = [];
  });
  afterEach(() => replicaSet.release());

  const rideWith = async (events: number) => rideWithEvents(ctx, await newKey(ctx, receiver.url), events);

  it('a worker sends no event that a failover rolls back, also with many rides in one batch', async () => {
    const rideIds = await Promise.all(Array.from({ length: 3 }, () => rideWith(1)));
    for (const rideId of rideIds) await deliver(ctx, rideId, 1);
    replicaSet.hold();
    const cancelled = rideIds.map((rideId) =>
      applyAction(ctx, rideId, { action: 'cancel', by: 'driver' }, 'anyone').catch((error) => error),
    );
    await until(async () => (await Promise.all(rideIds.map(storedRide))).every(({ seq }) => seq === 2));
    const delivered = rideIds.map((rideId) => deliver(ctx, rideId, 2).catch((error) => error));
    await until(async () => (await Promise.all(rideIds.map(storedRide))).every(({ claim }) => claim));
    await replicaSet.stepDown();
    await Promise.all([...cancelled, ...delivered]);
    expect(commands.some(({ ops = [] }) => ops.length > 1 && ops[0].updateMods[0]?.$set.claim)).to.equal(true);
    expect(receiver.receipts.map(({ body }) => body.event)).to.deep.equal(rideIds.map(() => 'offer.received'));
  });

  it('a worker records the outcome again after a failover rolled it back, without a second attempt', async () => {
    const rideId = await rideWith(1);
    // The majority starts to lag as soon as the receiver has the event.
    receiver.answerWith((response) => {
      replicaSet.hold(20);
      response.end();
    });
    const delivered = deliver(ctx, rideId, 1);
    // Waits for the second write of the outcome. The first one succeeded on the primary, but its reply was a write
    // concern error, because no majority has it.
    await until(async () => commands.filter(({ updates }) => updates?.[0].u.$set?.settledSeq).length >= 2);
    await replicaSet.stepDown();
    expect(await delivered).to.include({ result: 'delivered' });
    expect(await storedRide(rideId)).to.include({ settledSeq: 1, unsettled: 0 });
    expect(receiver.receipts).to.have.length(1);
  });

  it('a timer treats a ride state without a majority as an outage, so its job waits and continues later', async () => {
    const rideId = await rideWith(1);
    replicaSet.hold();
    const cancelled = applyAction(ctx, rideId, { action: 'cancel', by: 'driver' }, 'anyone').catch((error) => error);
    await until(async () => (await storedRide(rideId)).status === 'cancelled');
    const error = await fireTimer(ctx, rideId, 'expire').catch((thrown) => thrown);
    expect(isOutageOfMongo(error)).to.equal(true);
    await replicaSet.release();
    await cancelled;
    expect(await fireTimer(ctx, rideId, 'expire')).to.deep.equal({ result: 'stale' });
  });
});
