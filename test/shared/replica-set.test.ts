import { expect } from 'chai';
import { gatheredInsert, gatheredUpdate } from '../../shared/gather.ts';
import {
  committedReads,
  connectMongo,
  disconnectMongo,
  isOutageOfMongo,
  onBrokenConnection,
} from '../../shared/mongo.ts';
import { type Ride, rides } from '../../shared/rides/ride.ts';
import type { Document } from '../support/op-msg.ts';
import { type ReplicaSet, startReplicaSet } from '../support/replica-set.ts';

describe('a replica set', () => {
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
    const server = await startReplicaSet(process.env.TEST_MONGO_URL ?? '', { ...options, onCommand });
    servers.push(server);
    await connectMongo(server.url);
    return server;
  };
  const insert = gatheredInsert(rides);
  const update = gatheredUpdate<Ride, Pick<Ride, '_id' | 'rev'>>(rides, { rev: 1 });
  const newRides = (name: string, count: number) =>
    Array.from({ length: count }, (_, index) => ({ _id: `ride_${name}_${index}`, rev: 0 }) as Ride);
  const oneMore = ({ _id }: Ride) => update({ filter: { _id }, change: { $inc: { rev: 1 } } });
  /** Alone and together, each write goes its own way to the server. */
  const writeAll = async (name: string) => {
    const [alone, ...together] = newRides(name, 4) as [Ride, ...Ride[]];
    await insert(alone);
    await Promise.all(together.map((ride) => insert(ride)));
    await oneMore(alone);
    await Promise.all(together.map(oneMore));
    return [alone, ...together].map(({ _id }) => _id);
  };
  const concerns = () => commands.filter(({ writeConcern }) => writeConcern).map(({ writeConcern }) => writeConcern);

  for (const [title, isMongos] of [
    ['acknowledges every durable write by its majority, within a time limit', false],
    ['behind a mongos acknowledges every durable write by its majority too', true],
  ] as const) {
    it(title, async () => {
      await connect({ isMongos });
      await writeAll(isMongos ? 'sharded' : 'replicated');
      expect(concerns()).to.have.length(4);
      for (const { w, j, wtimeout, ...more } of concerns()) {
        expect([w, j, Number(wtimeout), more]).to.deep.equal(['majority', true, 1_000, {}]);
      }
      for (const { maxTimeMS } of commands.filter((command) => command.writeConcern)) {
        expect(Number(maxTimeMS)).to.equal(1_000);
      }
      expect(committedReads().readConcern).to.deep.equal({ level: 'majority' });
    });
  }

  it('says of no write of a batch that it is made while its majority lags, and keeps the connections', async () => {
    const server = await connect();
    await writeAll('lagging');
    let broken = 0;
    const forget = onBrokenConnection(() => {
      broken += 1;
    });
    server.hold();
    const written = await Promise.allSettled([
      ...newRides('unknown', 3).map((ride) => insert(ride)),
      ...newRides('lagging', 3).map(oneMore),
    ]);
    for (const outcome of written) {
      expect(outcome.status).to.equal('rejected');
      expect(isOutageOfMongo((outcome as PromiseRejectedResult).reason)).to.equal(true);
    }
    forget();
    expect(broken).to.equal(0);
  });

  it('is served again as soon as its primary is elected, without what no majority had', async () => {
    const server = await connect();
    const [rideId = ''] = await writeAll('rolled_back');
    server.hold();
    await rides.updateOne({ _id: rideId }, { $set: { rev: 99 } }, { writeConcern: { w: 1 } });
    expect(await rides.findOne({ _id: rideId }, committedReads())).to.include({ rev: 1 });
    await server.stepDown(50);
    expect(await rides.findOne({ _id: rideId })).to.include({ rev: 1 });
  });

  it('does a write once that it is sent again after its answer was lost', async () => {
    const server = await connect();
    const [rideId = ''] = await writeAll('retried');
    const slow = rides.findOneAndUpdate({ _id: rideId }, { $inc: { rev: 1 } }, { returnDocument: 'after' });
    await server.stepDown(50);
    expect((await slow)?.rev).to.equal(2);
  });
});
