import { expect } from 'chai';
import mongoose from 'mongoose';
import { batchedInsert, batchedUpdate, batchedWrite } from '../../../shared/base/mongo/batch.ts';
import { connectMongo, disconnectMongo, onBrokenConnection } from '../../../shared/base/mongo/connect-mongo.ts';
import { committedReads } from '../../../shared/base/mongo/durability.ts';
import { isOutageOfMongo } from '../../../shared/base/mongo/outage.ts';
import type { Document } from '../../support/op-msg.ts';
import { describeOnEngine, type ReplicaSet, startReplicaSet } from '../../support/replica-set.ts';

interface Counted {
  _id: string;
  count: number;
  isNoted?: boolean;
}

describeOnEngine('a replica set', () => {
  const counts = mongoose.connection.collection<Counted>('counts') as unknown as mongoose.mongo.Collection<Counted>;
  let commands: Document[];
  let servers: ReplicaSet[];

  beforeEach(() => {
    commands = [];
    servers = [];
  });
  afterEach(async () => {
    await disconnectMongo();
    await Promise.all(servers.map((server) => server.close()));
  });

  const connect = async (options: { isMongos?: boolean; majorityMs?: number } = {}) => {
    const onCommand = (command: Document) => commands.push(command);
    const server = await startReplicaSet(process.env.TEST_RUN_MONGO_URL ?? '', { ...options, onCommand });
    servers.push(server);
    await connectMongo(server.url);
    return server;
  };
  const insert = batchedInsert(counts);
  const update = batchedUpdate<Counted, Counted>(counts, { count: 1 });
  const write = batchedWrite<Counted>(counts);
  const several = (name: string, count: number): Counted[] =>
    Array.from({ length: count }, (_, index) => ({ _id: `${name}_${index}`, count: 0 }));
  const oneMore = ({ _id }: Pick<Counted, '_id'>) => update({ filter: { _id }, change: { $inc: { count: 1 } } });
  const note = ({ _id }: Pick<Counted, '_id'>) => write({ filter: { _id }, change: { $set: { isNoted: true } } });
  /** Single and batched writes use different commands, so this sends both kinds. */
  const writeAll = async (name: string) => {
    const [alone, ...together] = several(name, 4) as [Counted, ...Counted[]];
    await insert(alone);
    await Promise.all(together.map((one) => insert(one)));
    await oneMore(alone);
    await Promise.all(together.map(oneMore));
    await note(alone);
    await Promise.all(together.map(note));
    return [alone, ...together].map(({ _id }) => _id);
  };
  const concerns = () => commands.filter(({ writeConcern }) => writeConcern).map(({ writeConcern }) => writeConcern);

  for (const [title, isMongos] of [
    ['every durable write is acknowledged by the majority, within a time limit', false],
    ['behind a mongos, every durable write is acknowledged by the majority', true],
  ] as const) {
    it(title, async () => {
      await connect({ isMongos });
      await writeAll(isMongos ? 'sharded' : 'replicated');
      expect(concerns()).to.have.length(6);
      for (const { w, j, wtimeout, ...more } of concerns()) {
        expect([w, j, Number(wtimeout), more]).to.deep.equal(['majority', true, 1_000, {}]);
      }
      for (const { maxTimeMS } of commands.filter((command) => command.writeConcern)) {
        expect(Number(maxTimeMS)).to.equal(1_000);
      }
      expect(committedReads().readConcern).to.deep.equal({ level: 'majority' });
    });
  }

  it('no write of a batch is confirmed while the majority lags', async () => {
    const server = await connect();
    await writeAll('lagging');
    server.hold(20);
    const written = await Promise.allSettled([
      ...several('unknown', 3).map((one) => insert(one)),
      ...several('lagging', 3).map(oneMore),
      ...several('lagging', 3).map(note),
    ]);
    for (const outcome of written) {
      expect(outcome.status).to.equal('rejected');
      expect(isOutageOfMongo((outcome as PromiseRejectedResult).reason)).to.equal(true);
    }
  });

  it('no single write is confirmed while the majority lags', async () => {
    const server = await connect();
    const [id = ''] = await writeAll('lagging_alone');
    for (const writeOne of [oneMore, note, () => insert({ _id: 'unknown_alone', count: 0 })]) {
      server.hold(20);
      const error = await writeOne({ _id: id }).then(
        () => null,
        (thrown) => thrown,
      );
      expect(isOutageOfMongo(error)).to.equal(true);
      await server.release();
    }
  });

  it('a write to a lagging majority fails with a write concern error, not with a closed connection', async () => {
    const server = await connect();
    const [id = ''] = await writeAll('late');
    let broken = 0;
    const forget = onBrokenConnection(() => {
      broken += 1;
    });
    server.hold(20);
    const error = await oneMore({ _id: id }).catch((thrown) => thrown);
    forget();
    expect([error.name, broken]).to.deep.equal(['MongoWriteConcernError', 0]);
    const { wtimeout } = concerns().at(-1) ?? {};
    expect(mongoose.connection.getClient().options.socketTimeoutMS).to.be.above(Number(wtimeout));
  });

  it('after an election, a replica set is used again at once, without the writes that no majority had', async () => {
    const server = await connect();
    const [id = ''] = await writeAll('rolled_back');
    server.hold();
    await counts.updateOne({ _id: id }, { $set: { count: 99 } }, { writeConcern: { w: 1 } });
    expect(await counts.findOne({ _id: id }, committedReads())).to.include({ count: 1 });
    await server.stepDown(50);
    expect(await counts.findOne({ _id: id })).to.include({ count: 1 });
  });

  it('a committed read finds a document at any time, also while the majority receives a change of it', async () => {
    const server = await connect();
    await insert({ _id: 'always', count: 0 });
    const read = async () => (await counts.findOne({ _id: 'always' }, committedReads()))?.count;
    const rounds = 50;
    let isOver = false;
    const found: unknown[] = [];
    const readers = Array.from({ length: 5 }, async () => {
      while (!isOver) found.push(await read());
    });
    for (let round = 0; round < rounds; round++) {
      server.hold();
      await counts.updateOne({ _id: 'always' }, { $inc: { count: 1 } }, { writeConcern: { w: 1 } });
      expect(await read()).to.equal(round);
      await server.release();
      expect(await read()).to.equal(round + 1);
    }
    isOver = true;
    await Promise.all(readers);
    expect(found).not.to.include(undefined);
  });

  it('a write is applied once even if the driver resends it after a lost answer', async () => {
    const server = await connect();
    const [id = ''] = await writeAll('retried');
    const slow = counts.findOneAndUpdate({ _id: id }, { $inc: { count: 1 } }, { returnDocument: 'after' });
    await server.stepDown(50);
    expect((await slow)?.count).to.equal(2);
  });
});
