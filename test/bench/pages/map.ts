import http from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { encodeLine, lengthKm, pathAlong } from '../../../shared/rides/path.ts';
import { legBetween } from '../../../shared/rides/position.ts';
import { cornerRoad } from '../../support/router.ts';
import type { Measurement } from '../bench.ts';
import { newKeys } from '../data/keys.ts';
import { insertRides, tripRide } from '../data/rides.ts';
import { cpuByProgram } from '../rides/cpu-by-program.ts';
import { percentile } from '../statistics.ts';
import { timeOf } from './time-of.ts';

const requestsPerSecond = 50;

/**
 * Viewers of one ride whose car drives along a road, each with a stream that gets the car's position every 2 s. Measures their CPU cost in the
 * API's process, and the latency of partners' requests at the same time.
 */
export const map: Measurement = async ({ stack, quick, say }) => {
  const viewers = 1_000;
  const seconds = quick ? 10 : 30;
  const api = await stack.startApi({ MAX_STREAMS_PER_CLIENT: String(viewers), MAX_STREAMS_PER_RIDE: String(viewers) });
  const [key] = await newKeys(1, 'test');
  if (!key) throw new Error('map: no key');
  const ride = tripRide(key, 'in_progress');
  const startAt = new Date();
  ride.leg = legBetween(ride.pickup, ride.destination, startAt, 3_600_000);
  // Its line has almost 4 kB, the most that a ride stores.
  const road = cornerRoad(ride.pickup, ride.destination, 650);
  const km = lengthKm(pathAlong(road));
  ride.route = { to: 'destination', at: startAt, road: { line: encodeLine(road), km, seconds: 3_600 } };
  await insertRides([ride]);

  const base = `http://127.0.0.1:${api.ready}`;
  const agent = new http.Agent({ keepAlive: true });
  const retrieve = () =>
    timeOf(`${base}/v1/rides/${ride._id}`, { agent, headers: { Authorization: `Bearer ${key.key}` } });
  say('requests without viewers');
  const without = await latencies(retrieve, seconds);
  say(`${viewers.toLocaleString('en-US')} viewers of one ride`);
  const streams = await openStreams(`${base}/track/${ride.trackToken}/events`, viewers);
  await setTimeout(3_000);
  const received = streams.received();
  const cpu = await cpuByProgram(stack, [api]);
  await setTimeout(seconds * 1_000);
  const { perSecondMs, othersShare } = await cpu.stop();
  const perViewer = (streams.received() - received) / viewers / seconds;
  say('requests with viewers');
  const withViewers = await latencies(retrieve, seconds);
  const open = streams.open();
  streams.close();
  agent.destroy();
  if (open < viewers) throw new Error(`map: only ${open} of ${viewers} streams are open`);
  const apiMs = perSecondMs.find(([name]) => name === api.name)?.[1] ?? Number.NaN;
  const name = `${viewers.toLocaleString('en-US')} viewers of one ride`;
  return [
    { name: `${name}, CPU of the API`, unit: '% of a core', service: [apiMs / 10], goal: '<= 25', others: othersShare },
    { name: `${name}, states a second to each`, unit: 'a second', service: [perViewer], goal: '>= 0.45' },
    {
      name: `${name}, a retrieval beside them, p99`,
      unit: 'ms',
      service: [percentile(withViewers, 0.99)],
      goal: '<= 100',
    },
    { name: 'no viewers, a retrieval, p99', unit: 'ms', service: [percentile(without, 0.99)] },
  ];
};

/** Sends requests at a fixed rate for `seconds`. Resolves with their times in ms. */
export async function latencies(request: () => Promise<number>, seconds: number): Promise<number[]> {
  const count = seconds * requestsPerSecond;
  const asked: Promise<number>[] = [];
  for (const startedAt = performance.now(); asked.length < count; ) {
    const dueAt = startedAt + (asked.length * 1_000) / requestsPerSecond;
    await setTimeout(Math.max(0, dueAt - performance.now()));
    asked.push(request());
  }
  return Promise.all(asked);
}

async function openStreams(url: string, count: number) {
  let received = 0;
  const open = new Set<http.IncomingMessage>();
  const agent = new http.Agent({ maxSockets: Number.POSITIVE_INFINITY });
  const one = () =>
    new Promise<void>((resolve, reject) => {
      http
        .get(url, { agent }, (response) => {
          if (response.statusCode !== 200)
            return reject(new Error(`map: a stream was answered ${response.statusCode}`));
          open.add(response);
          response.once('close', () => open.delete(response));
          response.on('error', () => {});
          response.on('data', (chunk: Buffer) => {
            if (chunk.includes('data: ')) received += 1;
          });
          resolve();
        })
        .once('error', reject);
    });
  for (let opened = 0; opened < count; opened += 50) await Promise.all(Array.from({ length: 50 }, one));
  return {
    received: () => received,
    open: () => open.size,
    close: () => {
      for (const response of open) response.destroy();
    },
  };
}
