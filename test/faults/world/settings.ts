import { randomBytes } from 'node:crypto';
import { type PoolName, poolNames } from '../../../shared/base/queues.ts';
import type { RedisKind } from '../../support/redis-group.ts';

export interface WorldOptions {
  /** The folder of the compiled service. */
  build: string;
  /** Processes of the API; 2 by default. */
  apis?: number;
  /** Which pools run, and how many processes each has; all, and 2, by default. */
  pools?: readonly PoolName[];
  copies?: number;
  /** One process for all of these pools, rather than some for each. */
  together?: boolean;
  /**
   * Beyond the settings of every world, which are quick: a trip takes 3 s, a bidding 8 s, and a live ride is opened to more
   * drivers each second.
   */
  settings?: Record<string, string>;
  /** Puts wires between each process and its servers, by which it can be killed at any place of its work. */
  wired?: boolean;
  /** Makes MongoDB the primary of a replica set for every process. */
  replicated?: boolean;
  /** MongoDB's clock can be set: `mongo` is a SteppableMongo. Linux only. */
  hasSteppableMongo?: boolean;
  /** Servers that take each other's place, rather than one Redis. Such a world has no wires. */
  redis?: RedisKind;
  /** The database holds old rides, which are due for the sums of usage and for the retention. */
  withPast?: boolean;
  /** Further arguments of Node, for every process. */
  nodeArgs?: string[];
  seed?: number;
}

/** The pools of each worker process. */
export function poolsOfProcesses({ pools = poolNames, together }: WorldOptions): [PoolName, ...PoolName[]][] {
  const [first, ...more] = pools;
  return together && first ? [[first, ...more]] : pools.map((pool) => [pool]);
}

interface Addresses {
  mongoUrl: string;
  redisUrl: string;
  receiversOrigin: string;
  smtpUrl: string;
}

export function settingsOf(options: WorldOptions, { mongoUrl, redisUrl, receiversOrigin, smtpUrl }: Addresses) {
  return {
    SERVICE_ENV: 'development',
    MONGO_URL: mongoUrl,
    REDIS_URL: redisUrl,
    SECRETS_KEY: randomBytes(32).toString('base64'),
    PUBLIC_BASE_URL: 'https://rides.example',
    WEBHOOK_LOCAL_TARGETS: receiversOrigin,
    SMTP_URL: smtpUrl,
    MAIL_FROM: 'Rides <rides@rides.example>',
    // People come from addresses of their own.
    TRUSTED_PROXY_HOPS: '1',
    SIMULATION_SPEED: '5',
    BIDDING_TIMEOUT_MS: '8000',
    DISPATCH_ROUNDS: '3@0,6@0.5,12@1.5',
    DISPATCH_REPEAT_MS: '1000',
    ...options.settings,
  };
}
