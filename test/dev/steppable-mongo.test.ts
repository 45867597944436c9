import { expect } from 'chai';
import mongoose from 'mongoose';
import { describeOnLinux, type SteppableMongo, startSteppableMongo } from '../support/steppable-mongo.ts';

describeOnLinux('a MongoDB engine with a settable clock', function () {
  // The first start on a machine may have to fetch packages.
  this.timeout(120_000);

  let mongo: SteppableMongo;
  let client: mongoose.mongo.MongoClient;
  before(async () => {
    mongo = await startSteppableMongo();
    client = await mongoose.mongo.MongoClient.connect(mongo.url);
  });
  after(async () => {
    await client?.close();
    await mongo?.close();
  });

  const aheadMs = async () => {
    const before = Date.now();
    const [clock] = await client
      .db()
      .aggregate<{ now: Date }>([{ $documents: [{}] }, { $set: { now: '$$NOW' } }])
      .toArray();
    const now = clock?.now.getTime() ?? 0;
    return { least: now - Date.now(), most: now + 1 - before };
  };

  for (const ms of [8_000, -8_000, 3_600_000, -3_600_000, 250, 0]) {
    it(`MongoDB is ${ms} ms ahead of this machine from the next command on`, async () => {
      await mongo.setClock(ms);
      const { least, most } = await aheadMs();
      expect(least).to.be.at.most(ms);
      expect(most).to.be.at.least(ms);
    });
  }

  it('MongoDB keeps its clock and its data across a kill', async () => {
    await mongo.setClock(-3_600_000);
    const rides = client.db().collection<{ _id: number }>('rides');
    await rides.insertOne({ _id: 1 }, { writeConcern: { w: 1, journal: true } });
    await mongo.kill();
    await mongo.start();
    expect(await rides.findOne({ _id: 1 })).to.deep.equal({ _id: 1 });
    expect((await aheadMs()).most).to.be.below(0);
  });
});
