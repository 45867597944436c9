import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { queuePrefix } from '../../shared/base/queues.ts';
import { connectRedis, redisReady } from '../../shared/base/redis/redis.ts';
import { startSweeper } from '../../workers/periodic/sweeper/sweeper.ts';
import { useFolder } from '../support/folder.ts';
import { useReceiver } from '../support/receiver.ts';
import { ask, type RedisKind, startRedisGroup } from '../support/redis-group.ts';
import type { Restartable } from '../support/restartable.ts';
import { offerOn, rideIn } from '../support/rides.ts';
import { endBidding, jobFor, makeDue, storedRide } from '../support/stored-rides.ts';
import { until } from '../support/until.ts';
import { useStarted } from '../support/use-started.ts';
import { useTestService } from '../support/workers.ts';

const wholeTrip = ['offer.received', 'driver_arriving', 'arrived', 'in_progress', 'completed'];
const kinds: Record<RedisKind, string> = {
  cluster: 'a Redis Cluster',
  sentinel: 'a Redis with Sentinel',
};

for (const [kind, title] of Object.entries(kinds) as [RedisKind, string][]) {
  describe(`with ${title}`, () => {
    const folder = useFolder();
    const group = useStarted(async () => {
      const started = await startRedisGroup(kind, folder.path);
      return { ...started, close: started.stop };
    });
    const receiver = useReceiver();
    const service = useTestService(() => ({
      SIMULATION_SPEED: '20',
      WEBHOOK_LOCAL_TARGETS: receiver.origin,
      REDIS_URL: group.url,
    }));
    useStarted(async () => ({ close: startSweeper(service.ctx).stop }));

    async function expectWholeTrip(rideId: string): Promise<void> {
      await until(async () => {
        const { status, unsettled } = await storedRide(rideId);
        return status === 'completed' && unsettled === 0;
      });
      const receipts = receiver.receipts.filter(({ body }) => body.rideId === rideId);
      expect(receipts.map(({ body }) => body.status ?? body.event)).to.deep.equal(wholeTrip);
    }

    it('a test ride completes, with every event once and in order', async () => {
      const partner = await service.partner('test', receiver.url);
      const { status, body } = await partner.createRide();
      expect(status).to.equal(201);
      await expectWholeTrip(body.rideId);
    });

    it('the creation limit counts exactly, and repeated creations only once', async () => {
      const partner = await service.partner();
      const created = Array.from({ length: 32 }, (_, index) =>
        partner.createRide(undefined, index < 3 ? { 'Idempotency-Key': 'the-same' } : undefined),
      );
      const statuses = (await Promise.all(created)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 201)).to.have.length(32);
      expect((await partner.createRide()).status).to.equal(429);
    });

    it('the client signs in with the user and the password of REDIS_URL', async () => {
      for (const node of group.nodes) {
        await ask(node, 'ACL', 'SETUSER', 'service', 'on', '>100%secret', '~*', '&*', '+@all');
      }
      const url = group.url.replace('://', '://service:100%25secret@');
      const redis = connectRedis(url, service.ctx.log);
      await redisReady(redis, 10_000);
      expect(await redis.call('ACL', 'WHOAMI')).to.equal('service');
      redis.disconnect();
    });

    it('rides complete after a primary lost its data and was restarted at once', async () => {
      const partner = await service.partner('test', receiver.url);
      const created = await Promise.all([partner.createRide(), partner.createRide()]);
      const victim = await primaryOfSimulator();
      await ask(victim, 'FLUSHALL');
      await victim.kill();
      await victim.start();
      for (const { body } of created) await expectWholeTrip(body.rideId);
    });

    it('rides can be created after a primary was killed, and complete after its replica was promoted', async () => {
      const partner = await service.partner('test', receiver.url);
      const earlier = await partner.createRide();
      const victim = await primaryOfSimulator();
      await victim.kill();
      const created = await Promise.all([partner.createRide(), partner.createRide()]);
      expect(created.map(({ status }) => status)).to.deep.equal([201, 201]);
      for (const { body } of [earlier, ...created]) await expectWholeTrip(body.rideId);
      // With Sentinel, the test ends here, because Sentinel needs 10 s to make the old primary a replica, and no later
      // test needs that.
      if (kind === 'sentinel') return;
      await victim.start();
      await group.whole();
    });

    if (kind === 'cluster') {
      describe('without the shard of the queues `simulator` and `mail` and of the sweeper lease', () => {
        let missing: Restartable[] = [];
        before(async () => {
          for (const node of group.nodes) await ask(node, 'CONFIG', 'SET', 'cluster-require-full-coverage', 'no');
          const primary = await primaryOfSimulator();
          missing = [primary, await replicaOf(primary)];
          await Promise.all(missing.map((node) => node.kill()));
        });
        it('while one shard is down, rides can be created and their events are delivered', async () => {
          const partner = await service.partner('live', receiver.url);
          const { status, body } = await partner.createRide();
          expect(status).to.equal(201);
          await offerOn(service.ctx, body.rideId);
          await received(body.rideId, 'offer.received');
        });

        it('while one shard is down, the sweeper adds lost jobs of the queues on other shards', async () => {
          const partner = await service.partner('live', receiver.url);
          const { body } = await partner.createRide();
          await (await jobFor(service.ctx, 'bidding', { rideId: body.rideId, timer: 'expire' }))?.remove();
          // `endBidding` is repeated, because a running dispatch round overwrites the timers with those that it read.
          await until(async () => {
            await endBidding(body.rideId);
            return (await storedRide(body.rideId)).status === 'cancelled';
          });
          await received(body.rideId, 'cancelled');
        });

        it('while one shard is down, a trip without progress is cancelled', async () => {
          const { rideId } = await rideIn(service.ctx, 'in_progress');
          await until(async () => {
            await makeDue(rideId, 'stall');
            return (await storedRide(rideId)).status === 'cancelled';
          });
        });

        it('test rides complete after the missing shard is back', async () => {
          const partner = await service.partner('test', receiver.url);
          for (const node of missing) await node.start();
          await group.whole();
          await expectWholeTrip((await partner.createRide()).body.rideId);
        });
      });
    }

    async function received(rideId: string, name: string): Promise<void> {
      const isWanted = ({ body }: { body: Record<string, unknown> }) =>
        body.rideId === rideId && (body.status ?? body.event) === name;
      await until(async () => receiver.receipts.some(isWanted));
    }

    async function replicaOf(primary: Restartable): Promise<Restartable> {
      const port = new URL(primary.url).port;
      for (const node of group.nodes) {
        if ((await ask(node, 'INFO', 'replication')).includes(`master_port:${port}\r`)) return node;
      }
      throw new Error('the primary has no replica');
    }

    if (kind === 'sentinel') {
      it('nothing is printed while a sentinel is unavailable', async () => {
        const [sentinel] = group.sentinels;
        const printed: unknown[] = [];
        const { error } = console;
        console.error = (...args) => printed.push(args);
        try {
          await sentinel?.kill();
          await refusals(Number(new URL(sentinel?.url ?? '').port), 10);
        } finally {
          console.error = error;
        }
        expect(printed).to.deep.equal([]);
        await sentinel?.start();
      });
    }

    /** Resolves after `count` connections of this process to a port were refused. */
    async function refusals(port: number, count: number): Promise<void> {
      let refused = 0;
      const watch = (message: unknown) =>
        (message as { socket: Socket }).socket.once('error', (error) => {
          if ('port' in error && error.port === port) refused += 1;
        });
      subscribe('net.client.socket', watch);
      await until(async () => refused >= count);
      unsubscribe('net.client.socket', watch);
    }

    /** The primary that holds the jobs of test rides. */
    async function primaryOfSimulator(): Promise<Restartable> {
      const { redis } = service.ctx;
      const slot = Number(await redis.call('CLUSTER', 'KEYSLOT', queuePrefix('simulator')).catch(() => -1));
      const address = 'slots' in redis ? redis.slots[slot]?.[0] : undefined;
      const [only] = await group.primaries();
      const found = address ? group.nodes.find(({ url }) => url.endsWith(address)) : only;
      if (!found) throw new Error('no primary has the queue');
      return found;
    }
  });
}
