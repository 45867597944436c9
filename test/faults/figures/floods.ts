import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { percentile } from '../../bench/statistics.ts';
import type { Figure } from '../figure.ts';
import type { World } from '../world/world.ts';
import type { Flood } from './flooder.ts';
import { type HttpRequest, httpClient, smallRide } from './http-client.ts';
import { inWorld } from './in-world.ts';

const slowestHealthyMs = 200;
const longestSlowMs = 15_000;
/** Open files of a process that are not connections. Each end of a connection needs one file. */
const otherFiles = 500;
const healthyEveryMs = 25;

export const floods: Figure = {
  name: 'floods',
  goal: '10,000 idle and 1,000 slow connections: healthy requests p99 at most 200 ms, each slow one cut within 15 s',
  async measure(run) {
    const room = maxOpenFiles() - otherFiles;
    const slow = run.short ? 200 : 1_000;
    const wanted = run.short ? 2_000 : 10_000;
    const idle = Math.max(0, Math.min(wanted, Math.floor(room / 1.35) - slow));
    const forMs = run.short ? 24_000 : 60_000;
    const { measured, crashes } = await inWorld(
      { build: run.build, apis: 1, pools: [], settings: { LOG_LEVEL: 'warn' } },
      (world) => floodOne(world, idle, slow, forMs),
    );
    const { flood, healthy, failures } = measured;
    const p99 = percentile(healthy, 0.99);
    const longestMs = Math.max(...Object.values(flood.cut).map((cut) => cut.longestMs));
    const times = Object.values(flood.cut).reduce((total, cut) => total + cut.times, 0);
    const violations = [
      ...failures,
      ...(p99 > slowestHealthyMs ? [`healthy requests: p99 ${p99.toFixed(0)} ms`] : []),
      ...Object.entries(flood.cut)
        .filter(([, cut]) => cut.longestMs > longestSlowMs)
        .map(([way, cut]) => `${way}: cut after ${cut.longestMs} ms`),
      ...(flood.leastIdle < idle ? [`only ${flood.leastIdle} of ${idle} idle connections were kept open`] : []),
      ...(flood.leastSlow < slow ? [`only ${flood.leastSlow} of ${slow} slow connections were kept open`] : []),
      ...(Object.keys(flood.cut).length === 0 ? ['no slow connection was cut'] : []),
    ];
    const limited = idle < wanted ? ` (a process may open ${maxOpenFiles()} files)` : '';
    const reached =
      `p99 ${p99.toFixed(0)} ms (p50 ${percentile(healthy, 0.5).toFixed(0)}, longest ${Math.max(...healthy).toFixed(0)}) of ` +
      `${healthy.length.toLocaleString('en')} healthy requests, half of them on new connections, beside at least ` +
      `${flood.leastIdle.toLocaleString('en')} idle and ${flood.leastSlow} slow connections for ${forMs / 1_000} s${limited}; ` +
      `slow ones of ${Object.keys(flood.cut).length} kinds cut ${times.toLocaleString('en')} times, after ` +
      `${(longestMs / 1_000).toFixed(1)} s at the latest; ${flood.opened.toLocaleString('en')} connections in total`;
    return { reached, violations: [...violations, ...crashes] };
  },
};

/**
 * The limit of open files. It is the hard limit, to which Node raises its own. Without /proc, a usual value is assumed.
 */
function maxOpenFiles(): number {
  if (!fs.existsSync('/proc/self/limits')) return 10_240;
  return Number(/Max open files\s+\d+\s+(\d+)/.exec(fs.readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? 10_240);
}

async function floodOne(world: World, idle: number, slow: number, forMs: number) {
  const url = world.apis[0]?.url ?? '';
  const { key } = await world.newKey({ mode: 'live', manner: 'none' });
  const script = path.join(import.meta.dirname, 'flooder.ts');
  const args = ['--import', 'tsx', script, url, `${idle}`, `${slow}`, `${forMs}`];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, FLOOD_KEY: key },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  let output = '';
  child.stdout?.on('data', (chunk) => {
    output += chunk;
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const asked = askHealthy(url, key, ended);
  await ended;
  process.removeListener('exit', end);
  const flood = JSON.parse(output.trim().split('\n').at(-1) ?? '{}') as Flood;
  return { flood, ...(await asked) };
}

/** Sends ordinary requests at a fixed rate until the flood ends. Each time includes opening the connection. */
async function askHealthy(url: string, key: string, ended: Promise<void>) {
  const healthy: number[] = [];
  const failures: string[] = [];
  const kept = httpClient(url, 8);
  const requests: HttpRequest[] = [
    { path: '/v1', key },
    { path: '/v1/rides/ride_x', key },
    { method: 'POST', path: '/v1/rides', key, body: { ...smallRide, fare: 0 } },
    { path: '/healthz' },
  ];
  const ask = async (number: number): Promise<void> => {
    const startedAt = performance.now();
    const isNew = number % 2 === 0;
    const client = isNew ? httpClient(url) : kept;
    try {
      const { status } = await client.request(requests[number % requests.length] as HttpRequest);
      if (status >= 500) failures.push(`a healthy request was answered ${status}`);
    } catch (error) {
      failures.push(`a healthy request failed: ${(error as Error).message}`);
    }
    healthy.push(performance.now() - startedAt);
    if (isNew) client.close();
  };
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  const inFlight: Promise<void>[] = [];
  for (let number = 0; !isOver; number++) {
    inFlight.push(ask(number));
    await setTimeout(healthyEveryMs);
  }
  await Promise.all(inFlight);
  kept.close();
  return { healthy, failures };
}
