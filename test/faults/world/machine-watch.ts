import { setTimeout } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { serverOf } from '../../support/mongo-proxy.ts';
import { connectUpstream, type Upstream } from '../../support/upstream.ts';
import { type Fault, outside } from '../faults-log.ts';

/** Watches a run for standstills of the machine that no made fault explains. */
export type MachineWatch = ReturnType<typeof startMachineWatch>;

export interface MachineWatchOptions {
  mongoUrl: string;
  redisUrl: string;
  /** The made faults. Missing answers during them are no standstill. */
  faults: readonly Fault[];
  say?(line: string): void;
  now?(): number;
}

const everyMs = 100;
const lateMs = 400;
/** Time that the watch needs to reconnect to a server after a made fault. */
const reconnectMs = 1_000;

/** A server, or this process. `ask` resolves when it answers. */
interface WatchTarget {
  hit: 'mongo' | 'redis' | 'machine';
  ask(): Promise<unknown>;
  end(): void;
}

/**
 * Pings MongoDB and Redis every 100 ms, directly and not through wires or proxies, and checks this process's own timer.
 * Records delays of more than 400 ms: a server that does not answer this process cannot answer the service either.
 */
export function startMachineWatch(options: MachineWatchOptions) {
  const { mongoUrl, redisUrl, faults, say, now = Date.now } = options;
  const standstills: Fault[] = [];
  const stopping = new AbortController();
  let reportedUntil = 0;

  const record = (hit: WatchTarget['hit'], from: number, until: number) => {
    const made = faults
      .filter((fault) => fault.hit === hit)
      .map((fault) => ({ ...fault, until: fault.until + reconnectMs }));
    for (const span of outside({ from, until }, made)) {
      const ms = span.until - span.from;
      if (ms <= everyMs + lateMs) continue;
      standstills.push({ what: 'the machine stood still', hit, ...span });
      if (hit === 'machine' || span.from <= reportedUntil) continue;
      reportedUntil = span.until;
      say?.(`the machine stood still for ${(ms / 1_000).toFixed(1)} s`);
    }
  };

  const watch = async ({ hit, ask }: WatchTarget) => {
    let answeredAt = now();
    while (!stopping.signal.aborted) {
      await setTimeout(everyMs, undefined, { signal: stopping.signal }).catch(() => {});
      const isAnswered = !stopping.signal.aborted && (await isDone(ask()));
      if (!isAnswered && !stopping.signal.aborted) continue;
      const at = now();
      record(hit, answeredAt, at);
      answeredAt = at;
    }
  };

  const watched: WatchTarget[] = [mongoAt(mongoUrl), redisAt(redisUrl), { hit: 'machine', async ask() {}, end() {} }];
  const done = watched.map(watch);
  return {
    /** Times in which a server, or this process (`machine`), did not respond for too long. Grows until `stop`. */
    standstills,
    async stop() {
      stopping.abort();
      for (const { end } of watched) end();
      await Promise.all(done);
    },
  };
}

const isDone = (asked: Promise<unknown>): Promise<boolean> =>
  asked.then(
    () => true,
    () => false,
  );

/** A raw connection without a driver, so that a request waits until a hanging server answers. */
function mongoAt(url: string): WatchTarget {
  let connection: Upstream | undefined;
  return {
    hit: 'mongo',
    async ask() {
      connection ??= connectUpstream(serverOf(url), () => {
        connection = undefined;
      });
      await connection.ask({ ping: 1, $db: 'admin' });
    },
    end: () => connection?.end(),
  };
}

function redisAt(url: string): WatchTarget {
  const redis = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: () => 50, disconnectTimeout: 50 });
  redis.on('error', () => {});
  return { hit: 'redis', ask: () => redis.ping(), end: () => redis.disconnect() };
}
