import { expect } from 'chai';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { Document } from '../support/op-msg.ts';
import { type ReplicaSet, startReplicaSet } from '../support/replica-set.ts';
import { offerOn, rideIn } from '../support/rides.ts';
import { startTestApi, type TestApi } from '../support/service.ts';
import { storedRide } from '../support/stored-rides.ts';
import { until } from '../support/until.ts';

describe('the API on a replica set', () => {
  let replicaSet: ReplicaSet;
  let api: TestApi;
  let commands: Document[];

  before(async () => {
    const onCommand = (command: Document) => commands.push(command);
    replicaSet = await startReplicaSet(process.env.TEST_MONGO_URL ?? '', { majorityMs: 5, onCommand });
    commands = [];
    api = await startTestApi({ MONGO_URL: replicaSet.url });
  });
  beforeEach(() => {
    commands = [];
  });
  afterEach(() => replicaSet.release());
  after(async () => {
    await api.close();
    await replicaSet.close();
  });

  const ridesInserted = (count: number) =>
    until(async () => commands.filter(({ insert }) => insert === rides.collectionName).length >= count);
  const committedReads = (count: number) =>
    until(async () => commands.filter(({ readConcern }) => readConcern?.level === 'majority').length >= count);

  it('serves every operation of the contract', async () => {
    const partner = await api.partner('live');
    const created = await partner.createRide({}, { 'idempotency-key': 'a' });
    expect((await partner.createRide({}, { 'idempotency-key': 'a' })).text).to.equal(created.text);
    const path = `/rides/${created.body.rideId}`;
    const { offerId } = await offerOn(api.ctx, created.body.rideId);
    expect((await partner.get(`${path}/offers`)).body.offers).to.have.length(1);
    expect((await partner.get(path)).body).to.include({ status: 'bidding', offersCount: 1 });
    expect((await partner.post(`${path}/accept`, { offerId })).status).to.equal(200);
    expect((await partner.post(`${path}/accept`, { offerId })).status).to.equal(200);
    expect((await partner.get(path)).body).to.include({ status: 'driver_arriving' });
    expect((await partner.post(`${path}/cancel`)).status).to.equal(200);
    expect((await partner.post(`${path}/cancel`)).status).to.equal(409);
    expect((await (await api.partner()).get(path)).status).to.equal(404);
  });

  it('answers 201 only when the majority has the ride, and makes one however often it tries', async () => {
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

  it('shows a ride as the majority has it', async () => {
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

  it('refuses nothing for the sake of a step that a failover takes back', async () => {
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

  it('refuses as soon as the majority has the step that the refusal follows from', async () => {
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

  it('makes the rides that are asked for while there is no primary, one for each request', async () => {
    const partner = await api.partner();
    const elected = replicaSet.stepDown(300);
    const answers = await Promise.all(Array.from({ length: 5 }, () => partner.createRide()));
    await elected;
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(5).fill(201));
    expect(await rides.countDocuments({ keyId: partner.keyId })).to.equal(5);
  });
});
