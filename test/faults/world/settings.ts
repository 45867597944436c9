import { randomBytes } from 'node:crypto';
import { type PoolName, poolNames } from '../../../shared/base/queues.ts';
import type { RedisKind } from '../../support/redis-group.ts';

export interface WorldOptions {
  /** The folder of the compiled service. */
  build: string;
  /** Number of API processes; 2 by default. */
  apis?: number;
  /** The pools that run; all by default. */
  pools?: readonly PoolName[];
  /** Number of processes of each pool; 2 by default. */
  copies?: number;
  /** Runs all pools in the same process, instead of separate processes for each pool. */
  together?: boolean;
  /**
   * Settings in addition to those of every world, which are fast: a trip lasts 3 s, the bidding 8 s, and a dispatch
   * round of a live ride runs about every second.
   */
  settings?: Record<string, string>;
  /** Puts wires between each process and its servers, so that it can be killed at certain places of its work. */
  wired?: boolean;
  /** MongoDB acts as the primary of a replica set. */
  replicated?: boolean;
  /** A Redis Cluster or Sentinel group instead of one Redis. Such a world cannot be wired. */
  redis?: RedisKind;
  /** Inserts old rides into the database, which are due for the usage sums and the retention. */
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

/** Above the 15 minutes that a pickup must be ahead, so that rides for later can open soon after their creation. */
export const laterLeadMs = 16 * 60_000;

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
    // Allows people to have different client addresses (X-Forwarded-For).
    TRUSTED_PROXY_HOPS: '1',
    SIMULATION_SPEED: '5',
    BIDDING_TIMEOUT_MS: '8000',
    SCHEDULE_LEAD_MS: `${laterLeadMs}`,
    DISPATCH_ROUNDS: '3@0,6@0.5,12@1.5',
    DISPATCH_REPEAT_MS: '1000',
    ...options.settings,
  };
}
