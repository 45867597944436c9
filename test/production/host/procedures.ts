import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { accountOf } from '../../../shared/accounts/account.ts';
import { connectMongo, disconnectMongo } from '../../../shared/base/mongo/connect-mongo.ts';
import { build } from '../../../shared/base/version.ts';
import { createKey, type NewKey, viewSigningSecret } from '../../../shared/keys/manage-keys.ts';
import { countHeld } from '../../../shared/rides/held-rides.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { startRedisGroup } from '../../support/redis-group.ts';
import { testConfig } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { pageScript, scripts, testedMarks } from '../operations-doc.ts';
import { createRideAt, createRidesDuring } from './created-rides.ts';
import { type Form, type Host, operator, startHost } from './host.ts';

const eventsOfRide = 5;
/** Rides last seconds: polling more often would only use CPU that the rides need. */
const pollMs = 100;
/** The pools that test rides need. */
const services = ['api-1', 'api-2', 'simulator-1', 'webhooks-1', 'webhooks-slow-1'];

/** Tests the procedures of docs/operations.md on a host of this form. */
export function testProcedures(form: Form): void {
  let host: Host;
  let receiver: Receiver;
  let hanging: Receiver;
  const tested = new Set<string>();

  before(async () => {
    receiver = await startReceiver();
    hanging = await startReceiver({ answer: () => {} });
    const settings = {
      WEBHOOK_LOCAL_TARGETS: `${receiver.origin},${hanging.origin}`,
      // Rides last more than a second, so that some are active during each procedure.
      SIMULATION_SPEED: '12',
      // A short time, so that a stop does not wait for the attempt to the hanging receiver.
      SHUTDOWN_GRACE_MS: '3000',
    };
    host = await startHost(form, { settings, services });
  });
  after(async () => {
    await host?.close();
    await Promise.all([receiver?.close(), hanging?.close()]);
  });

  async function procedure(name: string, variables: Record<string, string> = {}): Promise<string> {
    tested.add(name);
    return host.run(await pageScript(name), variables);
  }
  const versionsThatRun = () =>
    Promise.all(
      host.operatorsPorts().map(async (url) => {
        const answer = await fetch(`${url}/healthz`);
        return ((await answer.json()) as { version: string }).version;
      }),
    );

  async function newKey(url = receiver.url): Promise<NewKey> {
    const { _id: accountId } = await accountOf('operations@rides.example');
    const config = testConfig({ ...(await host.settings()), PORT: '0' });
    return createKey(config, { accountId, name: 'Front desk', mode: 'test', webhookUrl: url });
  }

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

  const createRide = (key: NewKey) => createRideAt(host.apis, key);
  const createRides = (key: NewKey, count: number) => Promise.all(Array.from({ length: count }, () => createRide(key)));
  const loadDuring = (keys: readonly NewKey[], work: Promise<unknown>) => createRidesDuring(host.apis, keys, work);

  it(`${form}: SECRETS_KEY is rotated without downtime: rides continue, and signing secrets do not change`, async () => {
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

  it(`${form}: a Redis that lost its data is recovered without losing a ride or an event`, async () => {
    const made = await createRides(await newKey(), 4);
    const said = await procedure('redis');
    expect(said)
      .to.include('noeviction')
      .and.match(/Checked \d+ rides/)
      .and.include('Oldest event not sent');
    await completeOnce(made);
  });

  it(`${form}: a killed MongoDB is recovered without losing a ride that was answered with 201`, async () => {
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

  it(`${form}: an upgrade and a rollback have no downtime: every creation returns 201, and every ride is completed`, async () => {
    const [before, after] = [build.release, '99.1.0'];
    host.publish(after);
    const built = await procedure(`build-${form}`, { REPOSITORY: 'anywhere' });
    expect(built.trim().split('\n').at(-1)).to.equal(after);
    expect(new Set(await versionsThatRun())).to.deep.equal(new Set([before]));

    // New keys for each, because a key may create 30 rides in a minute.
    const newKeys = () => Promise.all(Array.from({ length: 8 }, () => newKey()));
    const startsBefore = host.processes.starts.length;
    const upgraded = procedure('upgrade', { VERSION: after });
    const made = await loadDuring(await newKeys(), upgraded);
    expect(await upgraded).to.include('created the missing indexes and the check value of SECRETS_KEY');
    const running = await versionsThatRun();
    expect(running.map((version) => version.split('+')[0])).to.deep.equal(services.map(() => after));
    // A build for Docker records its commit.
    expect(running[0]).to.equal(form === 'compose' ? `${after}+abc1234` : after);

    const isApi = () => host.processes.starts.slice(startsBefore).map((name) => /api[@-]/.test(name));
    const [workersFirst, apiFirst] = [
      [false, false, false, true, true],
      [true, true, false, false, false],
    ];
    expect(isApi(), 'the workers restart before the API').to.deep.equal(workersFirst);
    const back = procedure('rollback', { OLD_VERSION: before });
    const later = await loadDuring(await newKeys(), back);
    await back;
    expect(new Set(await versionsThatRun())).to.deep.equal(new Set([before]));
    expect(isApi(), 'the API restarts before the workers').to.deep.equal([...workersFirst, ...apiFirst]);
    expect(Math.min(made.length, later.length)).to.be.at.least(5);
    await completeOnce([...made, ...later]);
  });

  it(`${form}: an upgrade to a version that was not built changes nothing`, async () => {
    const error = await procedure('upgrade', { VERSION: '99.2.0' }).catch((reason: Error) => reason);
    expect(error).to.be.instanceOf(Error);
    expect(new Set(await versionsThatRun())).to.deep.equal(new Set([build.release]));
  });

  it(`${form}: a backup beside load is restored: rides under way are held until they are resumed, and later rides do not exist`, async () => {
    const BACKUP = join(host.root, 'backup/2026-11-05');
    const NEW_MONGO_URL = host.servers.MONGO.replace(/\w+(?=\?)/, 'restored');
    await host.run(await pageScript('backup-key'));
    const keys = await Promise.all(Array.from({ length: 4 }, () => newKey()));
    const backup = procedure('backup', { BACKUP });
    const made = await loadDuring(keys, backup);
    expect(await backup).to.include('encrypted');
    const later = await createRide(keys[0] as NewKey);
    await completeOnce([...made, later]);

    expect(await procedure('restore', { BACKUP, NEW_MONGO_URL })).to.include('No reference is broken.');
    await disconnectMongo();
    await connectMongo(NEW_MONGO_URL);
    const held = await countHeld();
    expect(held, 'rides under way in the backup').to.be.above(0);
    expect(await rides.findOne({ _id: later })).to.equal(null);

    expect(await procedure('resume'))
      .to.include(`Released ${held} rides`)
      .and.match(/Checked \d+ rides/);
    const copied = (await rides.find({ _id: { $in: made } }).toArray()).map(({ _id }) => _id);
    await until(() => isOver(copied).catch(() => false), pollMs);
    for (const rideId of copied) {
      const ofRide = receiver.receipts.filter(({ body }) => body.rideId === rideId);
      const ids = new Set(ofRide.map(({ headers }) => headers['x-service-event-id']));
      expect(ids.size, 'resent with the same ids').to.equal(eventsOfRide);
    }
    const entries: { action: string; by?: string }[] = JSON.parse(await host.run('ops audit --json'));
    expect(entries.find(({ action }) => action === 'restored')?.by).to.equal(operator);
    await completeOnce([await createRide(keys[1] as NewKey)]);
  });

  it(`${form}: the partner with the hanging receiver is the first in the list of waiting events`, async () => {
    const [slow, well] = [await newKey(hanging.url), await newKey()];
    const made = await createRides(well, 2);
    await createRides(slow, 20);
    const firstWaiting = async () => /KEY WITH WAITING EVENTS.*\n(\S+) +(\d+)/.exec(await procedure('slow'));
    await until(async () => Number((await firstWaiting())?.[2] ?? 0) >= 10);
    expect((await firstWaiting())?.[1]).to.equal(slow.keyId);
    await completeOnce(made);
    await rides.deleteMany({ keyId: slow.keyId });
  });

  it(`${form}: the move to a Redis Cluster has no downtime: every event is delivered once and in order`, async () => {
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
      await host.processes.stopAll();
      await cluster.stop();
      await rm(folder, { recursive: true });
    }
  });

  it(`${form}: these tests run every procedure that the document marks as tested`, async () => {
    expect([...tested].sort()).to.deep.equal([`build-${form}`, ...scripts.procedures].sort());
    expect(await testedMarks()).to.equal(scripts.procedures.length);
  });
}
