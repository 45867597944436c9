import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { accountOf } from '../../shared/accounts/account.ts';
import { createKey, type NewKey, viewSigningSecret } from '../../shared/keys/manage-keys.ts';
import { RideModel, rides } from '../../shared/rides/ride.ts';
import { call, validRide } from '../support/client.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startRedisGroup } from '../support/redis-group.ts';
import { testConfig } from '../support/service.ts';
import { until } from '../support/until.ts';
import { type HostedService, startHosted } from './hosted-service.ts';
import { procedures, testedMarks } from './operations-doc.ts';

const eventsOfRide = 5;
/** Rides last seconds: polling more often would only use CPU that the rides need. */
const pollMs = 100;

describe('the procedures of docs/operations.md', function () {
  this.timeout(240_000);

  let host: HostedService;
  let receiver: Receiver;
  let hanging: Receiver;
  let scripts: Map<string, string>;
  const hasRun = new Set<string>();

  before(async () => {
    scripts = await procedures();
    receiver = await startReceiver();
    hanging = await startReceiver({ answer: () => {} });
    host = await startHosted({
      WEBHOOK_LOCAL_TARGETS: `${receiver.origin},${hanging.origin}`,
      // Rides last more than a second, so that some are active during each procedure.
      SIMULATION_SPEED: '12',
      // A short time, so that a stop does not wait for the attempt to the hanging receiver.
      SHUTDOWN_GRACE_MS: '3000',
    });
  });
  after(async () => {
    await host?.close();
    await Promise.all([receiver?.close(), hanging?.close()]);
  });

  /** Runs a procedure, with the function that the document defines for all procedures. */
  const procedure = (name: string, variables: Record<string, string> = {}): Promise<string> => {
    hasRun.add(name);
    const given = Object.entries(variables).map(([variable, value]) => `${variable}='${value}'`);
    return host.run([...given, scripts.get('restart_each'), scripts.get(name) ?? 'exit 1'].join('\n'));
  };

  async function newKey(url = receiver.url): Promise<NewKey> {
    const { _id: accountId } = await accountOf('operations@rides.example');
    const config = testConfig({ ...(await host.settings()), PORT: '0' });
    return createKey(config, { accountId, name: 'Front desk', mode: 'test', webhookUrl: url });
  }

  /** Creates a ride through the first API process that answers, like a proxy. Resolves with its id. */
  async function createRide({ key }: NewKey): Promise<string> {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    };
    for (let tries = 0; ; tries++) {
      const api = host.apis[tries % host.apis.length];
      try {
        const { status, text, body } = await call(`${api}/v1/rides`, {
          method: 'POST',
          headers,
          body: JSON.stringify(validRide),
        });
        expect(status, text).to.equal(201);
        return body.rideId;
      } catch (error) {
        if (!(error instanceof TypeError) || tries === 20) throw error;
        await setTimeout(50);
      }
    }
  }
  const createRides = (key: NewKey, count: number) => Promise.all(Array.from({ length: count }, () => createRide(key)));

  const isOver = async (rideIds: readonly string[]) =>
    (await rides.countDocuments({ _id: { $in: [...rideIds] }, status: 'completed', unsettled: 0 })) === rideIds.length;
  const receivedOf = (rideId: string) =>
    receiver.receipts.filter(({ body }) => body.rideId === rideId).map(({ headers }) => headers['x-service-sequence']);
  const inOrder = Array.from({ length: eventsOfRide }, (_, index) => String(index + 1));

  /** Waits until every ride is completed and checks that the partner got each event once and in order. */
  async function completeOnce(rideIds: readonly string[]): Promise<void> {
    await until(() => isOver(rideIds).catch(() => false), pollMs);
    for (const rideId of rideIds) expect(receivedOf(rideId), rideId).to.deep.equal(inOrder);
  }

  /** Creates five rides per second until the work is done. Resolves with their ids. Each creation must return 201. */
  async function loadDuring(keys: readonly NewKey[], work: Promise<unknown>): Promise<string[]> {
    const made: string[] = [];
    let isDone = false;
    const end = () => {
      isDone = true;
    };
    work.then(end, end);
    // This loop stays below the limit of 30 creations per minute and key.
    while (!isDone) {
      const key = keys[made.length % keys.length] as NewKey;
      if (made.length < keys.length * 25) made.push(await createRide(key));
      await setTimeout(200);
    }
    await work;
    return made;
  }

  it('SECRETS_KEY is rotated without downtime: rides continue, and signing secrets do not change', async () => {
    const keys = await Promise.all(Array.from({ length: 8 }, () => newKey()));
    const { SECRETS_KEY: before } = await host.settings();
    const rotated = procedure('rotate');
    const made = await loadDuring(keys, rotated);
    expect(await rotated).to.include('"remaining":0');
    const settings = await host.settings();
    expect(settings.SECRETS_KEY).not.to.include(before).and.not.include(',');
    const config = testConfig({ ...settings, PORT: '0' });
    for (const { keyId, signingSecret } of keys) {
      expect(await viewSigningSecret(config, keyId, 'anyone')).to.equal(signingSecret);
    }
    expect(made.length).to.be.at.least(20);
    await completeOnce(made);
  });

  it('a Redis that lost its data is recovered without losing a ride or an event', async () => {
    const made = await createRides(await newKey(), 4);
    const said = await procedure('redis');
    expect(said)
      .to.include('noeviction')
      .and.match(/Checked \d+ rides/)
      .and.include('Oldest event not sent');
    await completeOnce(made);
  });

  it('a killed MongoDB is recovered without losing a ride that was answered with 201', async () => {
    const key = await newKey();
    const made = await createRides(key, 4);
    host.killMongo();
    expect(await procedure('mongo')).to.match(/Checked \d+ rides/);
    await until(() => isOver(made).catch(() => false), pollMs);
    for (const rideId of made) {
      const received = receivedOf(rideId);
      // An attempt is repeated if its outcome was not recorded.
      expect([...new Set(received)], rideId).to.deep.equal(inOrder);
    }
    await completeOnce([await createRide(key)]);
  });

  it('an upgrade has no downtime: every creation returns 201, and every ride is completed', async () => {
    // Creates an index that the previous version had.
    await RideModel.collection.createIndex({ trackToken: 1 }, { unique: true });
    const keys = [await newKey(), await newKey(), await newKey()];
    const upgraded = procedure('upgrade');
    const made = await loadDuring(keys, upgraded);
    const said = await upgraded;
    expect(said).to.include('created the missing indexes and the check value of SECRETS_KEY');
    expect(made.length).to.be.at.least(5);
    expect(await rides.countDocuments({ keyId: { $in: keys.map(({ keyId }) => keyId) } })).to.equal(made.length);
    await completeOnce(made);
  });

  it('the partner with the hanging receiver is the first in the list of waiting events', async () => {
    const [slow, well] = [await newKey(hanging.url), await newKey()];
    const made = await createRides(well, 2);
    await createRides(slow, 20);
    const firstWaiting = async () => /KEY WITH WAITING EVENTS.*\n(\S+) +(\d+)/.exec(await procedure('slow'));
    await until(async () => Number((await firstWaiting())?.[2] ?? 0) >= 10);
    expect((await firstWaiting())?.[1]).to.equal(slow.keyId);
    await completeOnce(made);
    await rides.deleteMany({ keyId: slow.keyId });
  });

  it('a backup is restored: its rides are completed, and later rides do not exist', async () => {
    const key = await newKey();
    const [inBackup] = (await createRides(key, 1)) as [string];
    await procedure('backup');
    await until(async () => (await rides.findOne({ _id: inBackup }).catch(() => null)) !== null);
    const later = await createRide(key);
    await completeOnce([inBackup, later]);
    expect(await procedure('restore')).to.match(/Checked \d+ rides/);
    expect(await rides.findOne({ _id: later })).to.equal(null);
    await until(() => isOver([inBackup]), pollMs);
    const ids = receiver.receipts
      .filter(({ body }) => body.rideId === inBackup)
      .map(({ headers }) => headers['x-service-event-id']);
    expect(new Set(ids).size, 'resent with the same ids').to.equal(eventsOfRide);
    await completeOnce([await createRide(key)]);
  });

  it('the move to a Redis Cluster has no downtime: every event is delivered once and in order', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'rides-cluster-'));
    const cluster = await startRedisGroup('cluster', folder);
    try {
      const [, NODE = ''] = /\/\/([^,]*)/.exec(cluster.url) ?? [];
      await procedure('spread', { NODE });
      const keys = [await newKey(), await newKey(), await newKey()];
      const moved = procedure('move', { NEW_REDIS_URL: cluster.url });
      const made = await loadDuring(keys, moved);
      expect(await moved).to.match(/Checked \d+ rides/);
      await completeOnce([...made, ...(await createRides(keys[0] as NewKey, 2))]);
      const queues = await host.run(
        `redis-cli -c -u "redis://${NODE}" exists '{rides:webhooks}:webhooks:id'; redis-cli -u "redis://${NODE}" cluster nodes`,
      );
      expect(queues)
        .to.match(/^1\n/)
        .and.match(/ 0-999 \d+-16383$/m);
    } finally {
      await host.stopService();
      await cluster.stop();
      await rm(folder, { recursive: true });
    }
  });

  it('this file runs every procedure that the document marks as tested', async () => {
    expect([...hasRun, 'restart_each'].sort()).to.deep.equal([...scripts.keys()].sort());
    expect(await testedMarks()).to.equal(hasRun.size);
  });
});
