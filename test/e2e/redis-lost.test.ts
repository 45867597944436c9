import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { RunningServer } from '../../dev/servers/processes.ts';
import { startRedis } from '../../dev/servers/redis-server.ts';
import { poolNames } from '../../shared/base/queues.ts';
import { createDriver, suspendDriver } from '../../shared/drivers/manage-drivers.ts';
import { startSweeper } from '../../workers/periodic/sweeper/sweeper.ts';
import { person } from '../support/drivers.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { newDriver, rideIn } from '../support/rides.ts';
import type { TestApi } from '../support/service.ts';
import { makeDue, statusesSent, storedRide } from '../support/stored-rides.ts';
import { until } from '../support/until.ts';
import { startTestService } from '../support/workers.ts';

const wholeTrip = ['offer.received', 'driver_arriving', 'arrived', 'in_progress', 'completed'];

/** Closes everything that a test has started, in reverse order, even after a failure. */
function cleanups() {
  const open: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of open.splice(0).reverse()) await close();
  });
  return (close: () => Promise<unknown>) => void open.push(close);
}

describe('outages of Redis', () => {
  const atTheEnd = cleanups();

  /** Expects a completed ride whose events were all received once and in order. */
  async function expectWholeTrip(rideId: string, receiver: Receiver): Promise<void> {
    await until(async () => {
      const { status, unsettled } = await storedRide(rideId);
      return status === 'completed' && unsettled === 0;
    });
    const receipts = receiver.receipts.filter(({ body }) => body.rideId === rideId);
    expect(receipts.map(({ body }) => body.status ?? body.event)).to.deep.equal(wholeTrip);
    expect(receipts.map(({ headers }) => headers['x-service-sequence'])).to.deep.equal(['1', '2', '3', '4', '5']);
    const ride = await storedRide(rideId);
    expect(statusesSent(ride)).to.deep.equal(wholeTrip);
    expect(ride.events.map(({ delivery }) => delivery?.outcome)).to.deep.equal(Array(5).fill('delivered'));
  }

  async function serviceWithSweeper(receiver: Receiver, settings: Record<string, string> = {}): Promise<TestApi> {
    const service = await startTestService({
      SIMULATION_SPEED: '20',
      WEBHOOK_LOCAL_TARGETS: receiver.origin,
      ...settings,
    });
    atTheEnd(() => service.close());
    const sweeper = startSweeper(service.ctx);
    atTheEnd(() => sweeper.stop());
    return service;
  }

  it('a test ride completes, with every event once and in order, if Redis is emptied during an attempt', async () => {
    let service: TestApi | undefined;
    const receiver = await startReceiver({
      answer: async (response, { body }) => {
        if (body.status === 'driver_arriving') await service?.ctx.redis.flushall();
        response.end();
      },
    });
    atTheEnd(() => receiver.close());
    service = await serviceWithSweeper(receiver);
    const partner = await service.partner('test', receiver.url);
    const { body } = await partner.createRide();
    await expectWholeTrip(body.rideId, receiver);
  });

  describe('unavailable Redis', () => {
    let folder: string;
    let redis: RunningServer;
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'rides-redis-'));
      atTheEnd(() => rm(folder, { recursive: true, force: true }));
      redis = await startRedis({ dataDir: folder, appendonly: true });
      atTheEnd(() => redis.stop());
    });

    const restart = async (options: { appendonly: boolean }) => {
      redis = await startRedis({ dataDir: folder, port: Number(new URL(redis.url).port), ...options });
    };

    it('without Redis, a trip without progress and the ride of a suspended driver are cancelled', async () => {
      const receiver = await startReceiver();
      atTheEnd(() => receiver.close());
      const { ctx } = await serviceWithSweeper(receiver, { REDIS_URL: redis.url });
      await redis.stop();
      const stalled = await rideIn(ctx, 'in_progress');
      await makeDue(stalled.rideId, 'stall');
      const { driverId } = await createDriver(person);
      const driven = await rideIn(ctx, 'arrived', { offers: [{ driver: newDriver({ driverId }) }] });
      await suspendDriver(driverId);
      const cancelledBy = async (rideId: string) => (await storedRide(rideId)).cancelledBy;
      await until(async () => (await cancelledBy(stalled.rideId)) === 'timeout');
      await until(async () => (await cancelledBy(driven.rideId)) === 'driver');
      await restart({ appendonly: true });
      // Waits for the connection, because BullMQ cannot close a worker while it reconnects.
      await until(async () => {
        const clients = await ctx.redis.client('LIST').catch(() => '');
        return `${clients}`.split('cmd=bzpopmin').length > poolNames.length;
      });
    });

    for (const [data, appendonly] of [
      ['with its data', true],
      ['without its data', false],
    ] as const) {
      it(`a ride can be created without Redis, and completes after Redis is back ${data}`, async () => {
        const receiver = await startReceiver();
        atTheEnd(() => receiver.close());
        const service = await serviceWithSweeper(receiver, { REDIS_URL: redis.url });
        const partner = await service.partner('test', receiver.url);
        // Creates a ride before the outage, and waits until its first event is delivered.
        const earlier = await partner.createRide(undefined, { 'X-Service-Test-Scenario': 'no_auto_accept' });
        const [first] = await receiver.received(1);

        await redis.stop();
        const created = await partner.createRide();
        expect(created.status).to.equal(201);
        const accepted = await partner.post(`/rides/${earlier.body.rideId}/accept`, {
          offerId: first?.body.offer.offerId,
        });
        expect(accepted.status).to.equal(200);
        await restart({ appendonly });

        await expectWholeTrip(created.body.rideId, receiver);
        await expectWholeTrip(earlier.body.rideId, receiver);
      });
    }
  });
});
