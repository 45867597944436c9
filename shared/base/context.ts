import type { Config } from './config.ts';
import type { Logger } from './logger.ts';
import type { Queues } from './queues.ts';
import type { RedisClient } from './redis/redis-nodes.ts';
import type { Tracing } from './tracing.ts';

/** The dependencies that a process passes to all its parts. Keep it to a handful of fields. */
export interface Context {
  config: Readonly<Config>;
  log: Logger;
  redis: RedisClient;
  queues: Queues;
  /** Set only if a trace collector is configured. */
  tracing?: Tracing;
  /** The time on MongoDB's clock, in Unix ms, as this process estimates it. */
  now(): number;
  /** The time that ends claims: a forward step of the clock must not end a claim early. See `MongoClock`. */
  nowBeforeSteps(withinMs: number): number;
  close(): Promise<void>;
}
