import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { onFreePort } from '../../dev/servers/ports.ts';
import { type RedisOptions, startRedis } from '../../dev/servers/redis-server.ts';
import { scaled } from './machine-speed.ts';
import { type Restartable, restartable } from './restartable.ts';
import { until } from './until.ts';

/** Redis servers with failover: a cluster, or a primary and a replica with sentinels. */
export interface RedisGroup {
  /** The address of the group, as in REDIS_URL. */
  url: string;
  /** The servers that hold data: primaries and replicas. */
  nodes: readonly Restartable[];
  sentinels: readonly Restartable[];
  primaries(): Promise<Restartable[]>;
  /** For a node that was killed or hangs: resolves when another node has replaced it and all others know that. */
  replaced(node: Restartable): Promise<void>;
  /** Resolves when every node runs and each primary has an up-to-date replica. */
  whole(): Promise<void>;
  stop(): Promise<void>;
}

export type RedisKind = 'cluster' | 'sentinel';

export const startRedisGroup = (kind: RedisKind, folder: string): Promise<RedisGroup> =>
  kind === 'cluster' ? startRedisCluster(folder) : startRedisSentinels(folder);

/** A node is replaced after this time without an answer. */
const downMs = 1_000;
const replicaArgs = ['--repl-diskless-sync-delay', '0', '--repl-ping-replica-period', '1'];
const everyMs = 50;

/** A Redis Cluster of three primaries, each with a replica. */
async function startRedisCluster(folder: string): Promise<RedisGroup> {
  const started = await Promise.all(
    Array.from({ length: 6 }, (_, index) => startClusterNode(join(folder, `node-${index}`), replicaArgs)),
  );
  const nodes = started.map(({ node }) => node);
  const cluster = (index: number, ...command: (string | number)[]) => ask(nodes[index], 'CLUSTER', ...command);
  const slots = 16_384;
  const firstSlot = (primary: number) => Math.ceil((primary * slots) / 3);
  for (const primary of [0, 1, 2]) {
    await cluster(primary, 'ADDSLOTSRANGE', firstSlot(primary), firstSlot(primary + 1) - 1);
    await cluster(primary, 'SET-CONFIG-EPOCH', primary + 1);
  }
  for (const { node, busPort } of started) await cluster(0, 'MEET', '127.0.0.1', portOf(node), busPort);
  for (const primary of [0, 1, 2]) {
    const id = await cluster(primary, 'MYID');
    // Repeats the command, because the replica refuses it until it knows the primary.
    await until(
      () =>
        cluster(primary + 3, 'REPLICATE', id).then(
          () => true,
          () => false,
        ),
      everyMs,
    );
  }
  const group = groupOf(nodes, 3, async (living) => {
    const infos = await Promise.all(living.map((node) => ask(node, 'CLUSTER', 'INFO')));
    return infos.every((info) => info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:6'));
  });
  await group.whole();
  const url = `redis-cluster://${nodes.slice(0, 3).map(addressOf).join()}`;
  return { ...group, sentinels: [], url, stop: () => stopAll(nodes) };
}

/** Starts a cluster node without slots. It communicates with the other nodes on `busPort`. */
export function startClusterNode(
  dataDir: string,
  args: string[] = [],
): Promise<{ node: Restartable; busPort: number }> {
  return onFreePort(async (busPort) => {
    const settings = {
      'cluster-enabled': 'yes',
      'cluster-announce-ip': '127.0.0.1',
      'cluster-node-timeout': downMs,
      'cluster-port': busPort,
    };
    const given = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, `${value}`]);
    return { node: await dataNode(dataDir, [...given, ...args]), busPort };
  });
}

/** A primary with a replica, and three sentinels. */
async function startRedisSentinels(folder: string): Promise<RedisGroup> {
  const first = await dataNode(join(folder, 'node-0'), replicaArgs);
  const second = await dataNode(join(folder, 'node-1'), [
    ...replicaArgs,
    '--replicaof',
    '127.0.0.1',
    `${portOf(first)}`,
  ]);
  const nodes = [first, second];
  const sentinels = await Promise.all(
    [1, 2, 3].map(async (number) => {
      const dataDir = join(folder, `sentinel-${number}`);
      const file = `${dataDir}.conf`;
      const settings = [
        `monitor ${name} 127.0.0.1 ${portOf(first)} 2`,
        `down-after-milliseconds ${name} ${downMs}`,
        `failover-timeout ${name} 3000`,
      ];
      await writeFile(file, settings.map((setting) => `sentinel ${setting}\n`).join(''));
      return restartableRedis({ dataDir, args: [file, '--sentinel'] });
    }),
  );
  const group = groupOf(nodes, 1, async (living) => {
    const named = await Promise.all(sentinels.map((each) => ask(each, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name)));
    const quorums = await Promise.all(sentinels.map((each) => ask(each, 'SENTINEL', 'CKQUORUM', name).catch(() => '')));
    const roles = await Promise.all(living.map(roleOf));
    const primary = living[roles.findIndex(({ isPrimary }) => isPrimary)];
    const agree = named.every((address) => address.endsWith(`,${portOf(primary)}`));
    return agree && quorums.every((answer) => answer.startsWith('OK 3 usable'));
  });
  await group.whole();
  const url = `redis-sentinel://${sentinels.map(addressOf).join()}/${name}`;
  return { ...group, sentinels, url, stop: () => stopAll([...sentinels, ...nodes]) };
}

const name = 'rides';

const dataNode = (dataDir: string, args: string[]): Promise<Restartable> =>
  restartableRedis({ dataDir, appendonly: true, args });

const restartableRedis = (options: RedisOptions): Promise<Restartable> =>
  restartable((url) => startRedis({ ...options, port: url ? portOf({ url }) : undefined }));

/** `isAgreed`: true if the running nodes, or their sentinels, agree on the state of the group. */
function groupOf(
  nodes: readonly Restartable[],
  primaryCount: number,
  isAgreed: (living: readonly Restartable[]) => Promise<boolean>,
): Pick<RedisGroup, 'nodes' | 'primaries' | 'replaced' | 'whole'> {
  const primariesAmong = async (living: readonly Restartable[]) => {
    const roles = await Promise.all(living.map(roleOf));
    return living.filter((_, index) => roles[index]?.isPrimary);
  };
  /** Ignores errors, because a node may still be starting. */
  const become = (isSo: () => Promise<boolean>) => until(() => isSo().catch(() => false), everyMs);
  return {
    nodes,
    primaries: () => primariesAmong(nodes),
    replaced(node) {
      const others = nodes.filter((other) => other !== node);
      return become(async () => (await primariesAmong(others)).length === primaryCount && (await isAgreed(others)));
    },
    whole: () =>
      become(async () => {
        const roles = await Promise.all(nodes.map(roleOf));
        const primaries = roles.filter(({ isPrimary }) => isPrimary);
        const inStep = roles.filter((role) => (role.isPrimary ? role.hasReplica : role.isInStep));
        return primaries.length === primaryCount && inStep.length === nodes.length && isAgreed(nodes);
      }),
  };
}

async function roleOf(node: Restartable) {
  const info = await ask(node, 'INFO', 'replication');
  return {
    isPrimary: info.includes('role:master'),
    hasReplica: /^slave\d+:.*state=online/m.test(info),
    isInStep: info.includes('master_link_status:up'),
  };
}

/**
 * Sends a command to one server and resolves with its reply; the items of a list are joined by commas. Rejects if the
 * server does not answer.
 */
export async function ask(node: Pick<Restartable, 'url'> | undefined, ...[command = '', ...args]: (string | number)[]) {
  const redis = new Redis(portOf(node), {
    retryStrategy: null,
    commandTimeout: scaled(5_000),
    maxRetriesPerRequest: 0,
  });
  redis.on('error', () => {});
  try {
    return String(await redis.call(`${command}`, args));
  } finally {
    redis.disconnect();
  }
}

const portOf = (node: Pick<Restartable, 'url'> | undefined): number => Number(new URL(node?.url ?? '').port);
const addressOf = (node: Restartable): string => `127.0.0.1:${portOf(node)}`;

async function stopAll(nodes: readonly Restartable[]): Promise<void> {
  await Promise.all(
    nodes.map(async (node) => {
      await node.kill().catch(() => {});
      await node.stop();
    }),
  );
}
