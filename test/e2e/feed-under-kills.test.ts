import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { freePort } from '../../dev/servers/ports.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { rides } from '../../shared/rides/ride.ts';
import { enqueueNextTimer } from '../../shared/rides/ride-jobs.ts';
import { type Client, clientOf } from '../support/client.ts';
import { newRide, offerOn } from '../support/rides.ts';
import { testSettings, useTestApi } from '../support/service.ts';
import { type ServiceProcess, serviceProcess } from '../support/service-process.ts';
import { until } from '../support/until.ts';

const writers = 6;
const ridesOfEach = 6;
const testRides = 12;
const totalEvents = (writers * ridesOfEach + testRides) * 5;

describe('event feed with killed processes', () => {
  const api = useTestApi();
  let worker: ServiceProcess;
  let server: ServiceProcess;
  let port: number;

  before(async () => {
    await api.ctx.redis.flushall();
    port = await freePort();
    server = serviceProcess({ name: 'api', script: 'api/main', env: testSettings({ PORT: `${port}` }) });
    const env = testSettings({ SIMULATION_SPEED: '16' });
    worker = serviceProcess({ name: 'workers', script: 'workers/main', args: ['simulator'], env });
    await Promise.all([server.start(), worker.start()]);
  });
  after(() => Promise.all([server.kill(), worker.kill()]));

  it('a reader gets each event once and in order while others write and processes are killed', async () => {
    const partner = await api.partner('test');
    const reading = readAlong(clientOf(`http://127.0.0.1:${port}`, partner.key), totalEvents);
    const writes = [createTestRides(partner.keyId), ...Array.from({ length: writers }, () => write(partner.keyId))];
    await killInTurn();
    await Promise.all(writes);
    await until(async () => (await rides.countDocuments({ keyId: partner.keyId, status: { $nin: ended } })) === 0);
    const shown = await reading;
    expect(shown).to.deep.equal(await storedEvents(partner.keyId));
    expect(shown.length).to.equal(totalEvents);
  });

  const ended = ['completed', 'cancelled'] as const;

  /** Creates rides and runs the whole trip of each, as fast as possible. */
  async function write(keyId: string): Promise<void> {
    for (let count = 0; count < ridesOfEach; count++) {
      const rideId = await newRide(api.ctx, { keyId });
      const { offerId } = await offerOn(api.ctx, rideId);
      for (const command of [{ action: 'accept', offerId } as const, ...steps]) {
        await applyAction(api.ctx, rideId, command, 'anyone');
      }
    }
  }
  const steps = [{ action: 'arrive' }, { action: 'start' }, { action: 'complete' }] as const;

  /** Creates test rides for the worker process, and adds their lost jobs again, like the sweeper. */
  async function createTestRides(keyId: string): Promise<void> {
    const ids: string[] = [];
    for (let count = 0; count < testRides; count++) ids.push(await newRide(api.ctx, { keyId, mode: 'test' }));
    await until(async () => {
      const open = await rides.find({ _id: { $in: ids }, status: { $nin: ended } }).toArray();
      for (const ride of open) await enqueueNextTimer(api.ctx, ride);
      return open.length === 0;
    });
  }

  async function killInTurn(): Promise<void> {
    for (const victim of [worker, server]) {
      await setTimeout(300);
      await victim.kill();
      await victim.start();
    }
  }

  /**
   * Reads the feed from the last received cursor, even after lost connections, until it has `count` events. Then reads
   * once more.
   */
  async function readAlong(reader: Client, count: number): Promise<string[]> {
    const shown: string[] = [];
    let cursor = '';
    for (let isLast = false; ; isLast = shown.length >= count) {
      const answer = await reader.get(`/events?limit=7&waitSeconds=1&after=${cursor}`).catch(() => null);
      if (answer?.status !== 200) continue;
      const { events, cursor: next } = answer.body;
      shown.push(...events.map(({ rideId, seq }: { rideId: string; seq: number }) => `${rideId} ${seq}`));
      cursor = next ?? '';
      if (isLast) return shown;
    }
  }

  async function storedEvents(keyId: string): Promise<string[]> {
    const all = await rides.find({ keyId }).toArray();
    return all
      .flatMap(({ _id, events }) => events.map(({ seq, at }) => ({ _id, seq, at: at.getTime() })))
      .sort((one, other) => one.at - other.at || (one._id < other._id ? -1 : 1))
      .map(({ _id, seq }) => `${_id} ${seq}`);
  }
});
