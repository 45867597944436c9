import { setTimeout } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { serverOf } from '../../support/mongo-proxy.ts';
import { connectUpstream, type Upstream } from '../../support/upstream.ts';
import { type Fault, outside } from '../faults-log.ts';

/** What the machine did to a run by itself, beside the faults that the run made. */
export interface MachineWatch {
  /** Times in which a server, or this process (`machine`), did nothing for too long. It grows until `stop`. */
  standstills: Fault[];
  stop(): Promise<void>;
}

export interface MachineWatchOptions {
  mongoUrl: string;
  redisUrl: string;
  /** The faults that are made: what is missing during them is their doing. */
  faults: readonly Fault[];
  say?(line: string): void;
  now?(): number;
}

const everyMs = 100;
const lateMs = 400;
/** After a made fault this watch needs a moment to reach the server again. */
const reconnectMs = 1_000;

/** One of those that are watched. `ask` resolves when it answers. */
interface Watched {
  hit: 'mongo' | 'redis' | 'machine';
  ask(): Promise<unknown>;
  end(): void;
}

/**
 * Asks MongoDB and Redis every 100 ms for a sign of life, past all wires and proxies, and looks at this process's own timer.
 * What comes over 400 ms late is noted: a server that does not answer this process cannot answer the service either.
 */
export function startMachineWatch(options: MachineWatchOptions): MachineWatch {
  const { mongoUrl, redisUrl, faults, say, now = Date.now } = options;
  const standstills: Fault[] = [];
  const stopping = new AbortController();
  let toldUntil = 0;

  const note = (hit: Watched['hit'], from: number, until: number) => {
    const made = faults
      .filter((fault) => fault.hit === hit)
      .map((fault) => ({ ...fault, until: fault.until + reconnectMs }));
    for (const stretch of outside({ from, until }, made)) {
      const ms = stretch.until - stretch.from;
      if (ms <= everyMs + lateMs) continue;
      standstills.push({ what: 'the machine stood still', hit, ...stretch });
      if (hit === 'machine' || stretch.from <= toldUntil) continue;
      toldUntil = stretch.until;
      say?.(`the machine stood still for ${(ms / 1_000).toFixed(1)} s`);
    }
  };

  const watch = async ({ hit, ask }: Watched) => {
    let answeredAt = now();
    while (!stopping.signal.aborted) {
      await setTimeout(everyMs, undefined, { signal: stopping.signal }).catch(() => {});
      const isAnswered = !stopping.signal.aborted && (await isDone(ask()));
      if (!isAnswered && !stopping.signal.aborted) continue;
      const at = now();
      note(hit, answeredAt, at);
      answeredAt = at;
    }
  };

  const watched: Watched[] = [mongoAt(mongoUrl), redisAt(redisUrl), { hit: 'machine', async ask() {}, end() {} }];
  const done = watched.map(watch);
  return {
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

/** A connection without a driver: it waits for as long as the server hangs. */
function mongoAt(url: string): Watched {
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

function redisAt(url: string): Watched {
  const redis = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: () => 50, disconnectTimeout: 50 });
  redis.on('error', () => {});
  return { hit: 'redis', ask: () => redis.ping(), end: () => redis.disconnect() };
}
