import type { Config } from './config.ts';
import type { Logger } from './logger.ts';
import type { Queues } from './queues.ts';
import type { RedisClient } from './redis/redis-nodes.ts';
import type { Tracing } from './tracing.ts';

/** The dependencies of every part of a process. It stays a handful of fields: it is no container. */
export interface Context {
  config: Readonly<Config>;
  log: Logger;
  redis: RedisClient;
  queues: Queues;
  /** Only where the settings name a collector of traces. */
  tracing?: Tracing;
  /** The time on MongoDB's clock, in Unix ms, as this process estimates it. */
  now(): number;
  /** See `MongoClock`: for ends of claims, which a step of the clock must not bring forward. */
  nowBeforeSteps(withinMs: number): number;
  close(): Promise<void>;
}
