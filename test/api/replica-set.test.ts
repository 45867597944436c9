import { expect } from 'chai';
import { FenceModel } from '../../shared/base/mongo/durable-read.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { rides } from '../../shared/rides/ride.ts';
import { newGatewayDriver, runDispatch, somewhere } from '../support/drivers.ts';
import type { Document } from '../support/op-msg.ts';
import { describeOnEngine, useReplicaSet } from '../support/replica-set.ts';
import { rideIn } from '../support/rides.ts';
import { useTestApi } from '../support/service.ts';
import { storedRide } from '../support/stored-rides.ts';
import { until } from '../support/until.ts';

describeOnEngine('API on a replica set', () => {
  let commands: Document[] = [];
  const replicaSet = useReplicaSet({ majorityMs: 5, onCommand: (command) => commands.push(command) });
  const api = useTestApi(() => ({ MONGO_URL: replicaSet.url }));
  beforeEach(() => {
    commands = [];
  });
  afterEach(() => replicaSet.release());

  const ridesInserted = (count: number) =>
    until(async () => commands.filter(({ insert }) => insert === rides.collectionName).length >= count);
  const committedReads = (count: number) =>
    until(async () => commands.filter(({ readConcern }) => readConcern?.level === 'majority').length >= count);

  it('a creation answers 201 only once the ride is majority-committed, and retries create one ride', async () => {
    const partner = await api.partner();
    replicaSet.hold(20);
    let isAnswered = false;
    const answer = partner.createRide().finally(() => {
      isAnswered = true;
    });
    await ridesInserted(2);
    expect(isAnswered).to.equal(false);
    await replicaSet.release();
    expect((await answer).status).to.equal(201);
    expect(await rides.countDocuments({ keyId: partner.keyId })).to.equal(1);
  });

  it('retrieve shows only the majority-committed state of a ride', async () => {
    const partner = await api.partner();
    const { rideId, offer } = await rideIn(api.ctx, 'bidding', { by: partner });
    replicaSet.hold();
    const accepted = partner.post(`/rides/${rideId}/accept`, { offerId: offer.offerId });
    await until(async () => (await storedRide(rideId)).status === 'driver_arriving');
    expect((await partner.get(`/rides/${rideId}`)).body).to.include({ status: 'bidding' });
    await replicaSet.release();
    expect((await accepted).status).to.equal(200);
    expect((await partner.get(`/rides/${rideId}`)).body).to.include({ status: 'driver_arriving' });
  });

  it('a cancel is not refused because of a step that a failover rolls back', async () => {
    const partner = await api.partner('live');
    const { rideId } = await rideIn(api.ctx, 'bidding', { by: partner });
    replicaSet.hold();
    const cancelled = { status: 'cancelled', cancelledBy: 'timeout' } as const;
    await rides.updateOne({ _id: rideId }, { $set: cancelled, $inc: { rev: 1 } }, { writeConcern: { w: 1 } });
    const answer = partner.post(`/rides/${rideId}/cancel`);
    await committedReads(1);
    await replicaSet.stepDown();
    expect((await answer).status).to.equal(200);
    expect(await storedRide(rideId)).to.include({ status: 'cancelled', cancelledBy: 'partner' });
  });

  it('a cancel answers 409 as soon as the earlier cancellation is majority-committed', async () => {
    const partner = await api.partner('live');
    const { rideId } = await rideIn(api.ctx, 'bidding', { by: partner });
    replicaSet.hold();
    const first = applyAction(api.ctx, rideId, { action: 'cancel', by: 'timeout' }, 'anyone');
    await until(async () => (await storedRide(rideId)).status === 'cancelled');
    const answer = partner.post(`/rides/${rideId}/cancel`);
    await committedReads(2);
    await replicaSet.release();
    await first;
    expect((await answer).status).to.equal(409);
  });

  const terms = { price: 20, etaMinutes: 5 };
  /** Opens two rides to two drivers; the first driver makes an offer on the first ride. */
  async function askedDrivers() {
    const partner = await api.partner('live');
    const pickup = somewhere();
    const [bidder, other] = [await newGatewayDriver(api, { at: pickup }), await newGatewayDriver(api, { at: pickup })];
    const openRide = async (): Promise<string> => {
      const { rideId } = (await partner.createRide({ pickup })).body;
      await runDispatch(api.ctx, rideId);
      return rideId;
    };
    const [first, second] = [await openRide(), await openRide()];
    const { offerId } = (await bidder.post(`/requests/${first}/offers`, terms)).body;
    const accept = () => partner.post(`/rides/${first}/accept`, { offerId });
    return { bidder, other, first, second, accept };
  }
  /** Resolves with true if an answer waits for the proof that no failover can roll back its reason. */
  async function waitsForProof(answer: Promise<unknown>): Promise<boolean> {
    let isAnswered = false;
    void answer.then(() => {
      isAnswered = true;
    });
    const isFence = ({ update }: Document) => update === FenceModel.collection.collectionName;
    await until(async () => isAnswered || commands.some(isFence));
    return !isAnswered;
  }

  it('the outcome of a request shows only majority-committed state', async () => {
    const { bidder, other, first, accept } = await askedDrivers();
    replicaSet.hold();
    const accepted = accept();
    await until(async () => (await storedRide(first)).status === 'driver_arriving');
    for (const driver of [bidder, other]) {
      expect((await driver.get(`/requests/${first}`)).body).to.deep.equal({ rideId: first, outcome: 'open' });
    }
    await replicaSet.release();
    expect((await accepted).status).to.equal(200);
    expect((await bidder.get(`/requests/${first}`)).body).to.include({ outcome: 'chosen' });
    expect((await other.get(`/requests/${first}`)).body).to.include({ outcome: 'other_driver' });
  });

  it('an offer is not refused because of an accept that a failover rolls back', async () => {
    const { bidder, first, second } = await askedDrivers();
    replicaSet.hold();
    const { driver } = (await storedRide(first)).offers[0] ?? {};
    await rides.updateOne(
      { _id: first },
      { $set: { status: 'driver_arriving', driver }, $inc: { rev: 1 } },
      { writeConcern: { w: 1 } },
    );
    commands = [];
    const answer = bidder.post(`/requests/${second}/offers`, terms);
    expect(await waitsForProof(answer)).to.equal(true);
    await replicaSet.stepDown();
    // During the step-down the service cannot know whether the accept stays, so the driver must retry.
    expect((await answer).status).to.equal(503);
    expect((await bidder.post(`/requests/${second}/offers`, terms)).status).to.equal(201);
  });

  it("an offer answers 409 as soon as the accept of the driver's other offer is majority-committed", async () => {
    const { bidder, first, second, accept } = await askedDrivers();
    replicaSet.hold();
    const accepted = accept();
    await until(async () => (await storedRide(first)).status === 'driver_arriving');
    commands = [];
    const answer = bidder.post(`/requests/${second}/offers`, terms);
    expect(await waitsForProof(answer)).to.equal(true);
    await replicaSet.release();
    expect((await accepted).status).to.equal(200);
    expect((await answer).body).to.deep.equal({ error: 'The driver is on a ride' });
  });

  it('creations during an election answer 201 and create exactly one ride each', async () => {
    const partner = await api.partner();
    const elected = replicaSet.stepDown(300);
    const answers = await Promise.all(Array.from({ length: 5 }, () => partner.createRide()));
    await elected;
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(5).fill(201));
    expect(await rides.countDocuments({ keyId: partner.keyId })).to.equal(5);
  });
});
