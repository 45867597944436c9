import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { givenMongo } from '../../../dev/servers/given-mongo.ts';
import { startMongo } from '../../../dev/servers/mongo.ts';
import { freePort } from '../../../dev/servers/ports.ts';
import { startRedis } from '../../../dev/servers/redis-server.ts';
import { accountOf } from '../../../shared/accounts/account.ts';
import { readConfig } from '../../../shared/base/config.ts';
import { newEndpointId } from '../../../shared/base/ids.ts';
import { connectMongo, disconnectMongo } from '../../../shared/base/mongo/connect-mongo.ts';
import { type PoolName, poolNames } from '../../../shared/base/queues.ts';
import type { Mode } from '../../../shared/base/terms.ts';
import { createDriver, type NewDriver } from '../../../shared/drivers/manage-drivers.ts';
import { addEndpoint } from '../../../shared/keys/manage-endpoints.ts';
import { createKey, type NewKey, setWebhookUrl } from '../../../shared/keys/manage-keys.ts';
import { migrate } from '../../../shared/process/migrate-database.ts';
import { type ReceivedMail, startMailServer } from '../../support/mail-server.ts';
import { startRedisGroup } from '../../support/redis-group.ts';
import { startReplicaSet } from '../../support/replica-set.ts';
import { fixedServer, restartable } from '../../support/restartable.ts';
import { type ServiceProcess, serviceProcess } from '../../support/service-process.ts';
import { becomes } from '../../support/until.ts';
import { addPast, emptyPast } from '../load/past.ts';
import { seededRandom } from '../random.ts';
import { startInterruptible } from './interruptible.ts';
import { countOpenWork } from './left-to-do.ts';
import { type Manner, startReceivers } from './receivers.ts';
import { poolsOfProcesses, settingsOf, type WorldOptions } from './settings.ts';
import { layWires, type Wires } from './wires.ts';

/** A process of the service in a world. Only an API process has a usable `url`. */
export interface WorldProcess extends ServiceProcess {
  kind: 'api' | PoolName;
  url: string;
  wires?: Wires;
}

export type Car = Pick<NewDriver, 'carType' | 'seats' | 'equipment'>;

export interface FleetDriver extends Car {
  driverId: string;
  key: string;
}

type KeyWish = { mode?: Mode; manner?: Manner | 'none'; copied?: boolean };

/** Personal data of drivers. No log, queue or error may contain it. */
export const driverCanaries = { name: 'CANARY-driver', phone: '+15550007777' };

/** The whole service as real processes on loopback, with its own servers and its partners' receivers. */
export type World = Awaited<ReturnType<typeof startWorld>>;

const clockShifter = path.join(import.meta.dirname, 'shifted-clock.ts');

export async function startWorld(options: WorldOptions) {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'rides-faults-'));
  const logDir = path.join(folder, 'logs');
  await fs.mkdir(logDir);
  const given = givenMongo();
  const mongo = given
    ? fixedServer(given.url('faults'), given.drop)
    : await restartable(() => startMongo({ dataDir: path.join(folder, 'mongo') }));
  const replicaSet = options.replicated ? await startReplicaSet(mongo.url, { majorityMs: 3 }) : undefined;
  const redisGroup = options.redis && (await startRedisGroup(options.redis, path.join(folder, 'redis')));
  const redis =
    redisGroup?.nodes[0] ??
    (await restartable((url) => {
      const port = url ? Number(new URL(url).port) : undefined;
      return startRedis({ dataDir: path.join(folder, 'redis'), appendonly: true, port });
    }));
  const keys = new Map<string, NewKey>();
  const driverKeys = new Set<string>();
  const manners = new Map<string, Manner | 'none'>();
  const rolledSecrets = new Map<string, string[]>();
  const endpointSecrets = new Map<string, string>();
  const receivers = await startReceivers(
    (keyId, ofEndpoint) =>
      ofEndpoint
        ? [endpointSecrets.get(keyId) ?? '']
        : [keys.get(keyId)?.signingSecret ?? '', ...(rolledSecrets.get(keyId) ?? [])],
    seededRandom(options.seed ?? 1),
  );
  const mails: ReceivedMail[] = [];
  const mail = await startInterruptible((port) => startMailServer({}, port, mails));
  const env = settingsOf(options, {
    mongoUrl: replicaSet?.url ?? mongo.url,
    redisUrl: redisGroup?.url ?? redis.url,
    receiversOrigin: receivers.origin,
    smtpUrl: mail.url,
  });
  const config = readConfig(env);
  await connectMongo(mongo.url, { timeLimits: false });
  await migrate(config.secrets.keys);
  const account = await accountOf('faults@rides.example');
  const past = emptyPast();
  // The past is added before any process starts, so that the first run of the usage sums and of the retention finds
  // work.
  if (options.withPast) await addPast({ config, past, receivers, keys }, { isFirst: true });

  const createProcess = async (
    kind: WorldProcess['kind'],
    name: string,
    pools: readonly PoolName[] = [],
    shiftMs = 0,
  ) => {
    const wires = options.wired ? await layWires(mongo.url, redis.url, replicaSet) : undefined;
    const port = kind === 'api' ? await freePort() : 0;
    const started = serviceProcess({
      name,
      build: options.build,
      script: kind === 'api' ? 'api/main' : 'workers/main',
      args: [...pools],
      nodeArgs: shiftMs ? ['--import', 'tsx', '--import', clockShifter] : options.nodeArgs,
      env: {
        ...env,
        PORT: String(port),
        SHIFTED_CLOCK_MS: String(shiftMs),
        ...(wires && { MONGO_URL: wires.mongoUrl, REDIS_URL: wires.redisUrl }),
      },
      output: { logDir },
    });
    return Object.assign(started, { kind, url: `http://127.0.0.1:${port}`, wires }) satisfies WorldProcess;
  };
  const numbered = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
  const apis: WorldProcess[] = await Promise.all(
    numbered(options.apis ?? 2).map((n) => createProcess('api', `api-${n}`)),
  );
  const workers: WorldProcess[] = await Promise.all(
    poolsOfProcesses(options).flatMap(([first, ...more]) =>
      numbered(options.copies ?? 2).map((n) => createProcess(first, `${first}-${n}`, [first, ...more])),
    ),
  );
  let others = 0;

  const world = {
    /** The configuration of the processes. This process is connected to the same MongoDB. */
    config,
    env,
    mongo,
    redis,
    /** All Redis servers, if the world has several. `redis` is then the first of them. */
    redisGroup,
    /** The proxy in front of `mongo`, if the world is replicated. */
    replicaSet,
    apis,
    workers,
    receivers,
    /** The mail server of the service, and all mails that it accepted. */
    mail,
    mails,
    /** The account of all keys from `newKey`. */
    accountId: account._id,
    /** The old rides in the database. */
    past,
    keys,
    /** Signing secrets that a roll has replaced, by key id. Attempts in flight may still be signed with them. */
    rolledSecrets,
    /** The signing secrets of the keys' further endpoints, by key id. */
    endpointSecrets,
    /** Keys that a page of the dashboard has shown. */
    shownKeys: new Set<string>(),
    /** The kind of receiver of each key. */
    manners,
    /** The drivers' secret keys. */
    driverKeys,
    /** The folder of the processes' logs. */
    logDir,
    /** The folder of Redis's data. */
    redisDir: path.join(folder, 'redis'),
    async newDriver(car: Car): Promise<FleetDriver> {
      const made = await createDriver({ ...driverCanaries, vehicle: 'Toyota Prius, blue', plate: 'T 104', ...car });
      driverKeys.add(made.key);
      return { ...made, ...car };
    },
    /** Creates a key with this kind of receiver; `none` means no webhook URL. `copied` adds a further endpoint. */
    async newKey({ mode = 'test', manner = 'prompt', copied = false }: KeyWish = {}) {
      const key = await createKey(config, { accountId: account._id, name: 'faults', mode });
      keys.set(key.keyId, key);
      manners.set(key.keyId, manner);
      if (manner !== 'none') await setWebhookUrl(config, key.keyId, receivers.urlOf(key.keyId, manner), 'anyone');
      if (copied) {
        const endpoint = { endpointId: newEndpointId(), keyId: key.keyId, accountId: account._id };
        const events = ['offer.received', 'ride.status'] as const;
        const added = await addEndpoint(config, endpoint, { url: receivers.copyUrlOf(key.keyId), events: [...events] });
        endpointSecrets.set(key.keyId, added?.signingSecret ?? '');
      }
      return key;
    },
    /** Creates a further process. The caller starts and stops it, and adds it to `apis` or `workers` and removes it. */
    newProcess(kind: WorldProcess['kind']): Promise<WorldProcess> {
      others += 1;
      return createProcess(kind, `${kind}-other-${others}`, kind === 'api' ? [] : [kind]);
    },
    /** Creates a further worker process for all pools, whose clock is shifted. The caller starts and stops it. */
    shiftedWorkers: (name: string, shiftMs: number): Promise<WorldProcess> =>
      createProcess('bidding', name, poolNames, shiftMs),
    /**
     * Waits until no ride, resend, test event or mail has open work, at most `maxMs`. Resolves with the number of those
     * that have.
     */
    async quiet(maxMs: number) {
      const left = () => countOpenWork(past.keyIds);
      return (await becomes(async () => (await left()) === 0, maxMs, 200)) ? 0 : left();
    },
    /** Stops everything and deletes the folder. */
    async stop() {
      const running = [...apis, ...workers].filter((process) => process.isRunning);
      await Promise.all(running.map((process) => process.stop()));
      for (const { wires } of [...apis, ...workers]) wires?.close();
      receivers.close();
      await mail.close();
      await disconnectMongo();
      await (redisGroup ?? redis).stop();
      await replicaSet?.close();
      await mongo.stop();
      await fs.rm(folder, { recursive: true, force: true });
    },
  };
  const starts = await Promise.allSettled([...apis, ...workers].map((process) => process.start()));
  const failed = starts.find((start) => start.status === 'rejected');
  if (failed) {
    await world.stop();
    throw failed.reason;
  }
  return world;
}
