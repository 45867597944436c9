import { performance } from 'node:perf_hooks';
import { answer } from '../measured/ipc.ts';
import { percentile } from '../statistics.ts';
import { httpConnection } from './http-connection.ts';

/**
 * Closed load: each connection sends one request after the other, until the time is over or all requests are used up.
 */
export type ClosedLoad = {
  port: number;
  connections: number;
  seconds: number;
  /** Requests as raw HTTP, sent in turn. */
  requests: string[];
  /** How often each request may be sent. Creations need this, because their keys have a creation limit. */
  usesOfEach?: number;
};

/**
 * Open load: requests are due at a fixed rate, even if earlier ones are not answered. A request waits for a free
 * connection.
 */
export type OpenLoad = { port: number; connections: number; requests: string[]; phases: Phase[] };
export type Phase = { perSecond: number; seconds: number };

export type LoadResult = {
  operations: number;
  seconds: number;
  statuses: Record<string, number>;
  /** Number of answers with a Retry-After header. */
  withRetryAfter: number;
  p50Ms: number;
  p99Ms: number;
};

answer('closed', closedLoad);
answer('open', openLoad);
process.send?.('ready');

async function closedLoad({ port, connections, seconds, requests, usesOfEach = Infinity }: ClosedLoad) {
  const wire = requests.map((request) => Buffer.from(request));
  const tally = newTally();
  const open = Array.from({ length: connections }, () => httpConnection(port));
  const most = wire.length * usesOfEach;
  const startedAt = performance.now();
  const endAt = startedAt + seconds * 1_000;
  let sent = 0;
  await Promise.all(
    open.map(
      (connection) =>
        new Promise<void>((resolve) => {
          const next = () => {
            const sentAt = performance.now();
            if (sentAt >= endAt || sent >= most) return resolve();
            connection.send(wire[sent++ % wire.length] as Buffer, (reply) => {
              tally.add(reply, performance.now() - sentAt);
              // Not in the same tick: a connection that breaks immediately would cause endless recursion.
              if (reply.status === 0) setImmediate(next);
              else next();
            });
          };
          next();
        }),
    ),
  );
  const result = tally.result((performance.now() - startedAt) / 1_000);
  for (const connection of open) connection.close();
  return result;
}

/** A request counts for the phase in which it was due. Its latency counts from its due time. */
async function openLoad({ port, connections, requests, phases }: OpenLoad): Promise<LoadResult[]> {
  const wire = requests.map((request) => Buffer.from(request));
  const idle = Array.from({ length: connections }, () => httpConnection(port));
  const open = [...idle];
  const waiting: { dueAt: number; tally: Tally }[] = [];
  let sent = 0;
  let inFlight = 0;
  const sendWaiting = () => {
    while (waiting.length > 0 && idle.length > 0) {
      const { dueAt, tally } = waiting.shift() as (typeof waiting)[number];
      const connection = idle.pop() as (typeof idle)[number];
      inFlight += 1;
      connection.send(wire[sent++ % wire.length] as Buffer, (reply) => {
        inFlight -= 1;
        tally.add(reply, performance.now() - dueAt);
        idle.push(connection);
        if (waiting.length > 0) setImmediate(sendWaiting);
      });
    }
  };
  const tallies: Tally[] = [];
  let phaseAt = performance.now();
  for (const { perSecond, seconds } of phases) {
    const tally = newTally();
    tallies.push(tally);
    for (let number = 0; number < perSecond * seconds; ) {
      const now = performance.now();
      for (; number < perSecond * seconds && phaseAt + (number * 1_000) / perSecond <= now; number++) {
        waiting.push({ dueAt: phaseAt + (number * 1_000) / perSecond, tally });
      }
      sendWaiting();
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    phaseAt += seconds * 1_000;
  }
  while (waiting.length > 0 || inFlight > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  for (const connection of open) connection.close();
  return tallies.map((tally, index) => tally.result((phases[index] as Phase).seconds));
}

type Tally = ReturnType<typeof newTally>;

function newTally() {
  const statuses: Record<string, number> = {};
  const latencies: number[] = [];
  let withRetryAfter = 0;
  return {
    add({ status, retryAfter }: { status: number; retryAfter: boolean }, latencyMs: number) {
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (retryAfter) withRetryAfter += 1;
      latencies.push(latencyMs);
    },
    result: (seconds: number): LoadResult => ({
      operations: latencies.length,
      seconds,
      statuses,
      withRetryAfter,
      p50Ms: percentile(latencies, 0.5),
      p99Ms: percentile(latencies, 0.99),
    }),
  };
}
