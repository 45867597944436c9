import { existsSync } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { givenMongo } from './servers/given-mongo.ts';
import { portProblem } from './servers/ports.ts';
import { endStaleRedis } from './servers/redis-server.ts';
import { createLogView } from './stack/logs.ts';
import type { Scale } from './stack/scale.ts';
import { aborted, endSignal } from './stack/signals.ts';
import type { Stack } from './stack/stack.ts';
import { overview } from './stack/stack-overview.ts';
import { dataDirOf, removeState, runningStacks, type StackState, writeState } from './stack/stack-state.ts';
import { createMovingLine } from './terminal/moving-line.ts';
import { styled } from './terminal/style.ts';

type StartOptions = { port: number; fresh: boolean; json: boolean; scale: Scale };

/** Processes that a killed stack has left behind end within this time. */
const leftoverTimeoutMs = 4_000;

/** `npm run dev`: runs the whole service until a signal comes or its output is closed. */
export async function start({ port, fresh, json, scale }: StartOptions): Promise<void> {
  const ending = endSignal();
  const startedAt = Date.now();
  const screen = createMovingLine(json ? process.stderr : process.stdout);
  const logs = createLogView(screen.print);
  const dataDir = dataDirOf(port);
  // MONGO_URL names a database that is kept, so it comes first.
  const given = process.env.MONGO_URL ? undefined : givenMongo();
  try {
    await checkPort(port, process.env.HOST || '127.0.0.1');
    if (fresh) await deleteData(dataDir, screen.print);
    // Imported late, because it loads half of the service: the checks above report their errors before that.
    const { startStack } = await import('./stack/stack.ts');
    if (given) process.env.MONGO_URL = given.url('dev');
    const stack = await startStack({
      port,
      dataDir,
      keepQueues: true,
      scale,
      say: (line) => screen.print(styled('accent', `>>> ${line}`)),
      progress: screen.show,
      onLine: json ? (_name, line) => console.log(line) : logs.line,
    });
    try {
      screen.show('');
      const seconds = ((Date.now() - startedAt) / 1_000).toFixed(1);
      if (!ending.aborted) await announce(stack, port, `is ready after ${seconds} s`, screen.print);
      await aborted(ending);
      screen.show('stopping');
    } finally {
      await removeState(dataDir);
      await stack.stop();
    }
  } finally {
    await given?.drop();
    logs.end();
    screen.end();
  }
}

async function checkPort(port: number, host: string): Promise<void> {
  const stack = (await runningStacks()).find((running) => running.port === port);
  if (stack) throw new Error(`a stack is running on port ${port} (process ${stack.pid}): choose another with --port`);
  const deadline = Date.now() + leftoverTimeoutMs;
  const isLeftover = existsSync(path.join(dataDirOf(port), 'stack.json'));
  let problem = await portProblem(port, host);
  while (problem === 'EADDRINUSE' && isLeftover && Date.now() < deadline) {
    await sleep(100);
    problem = await portProblem(port, host);
  }
  if (problem === 'EADDRINUSE') throw new Error(`port ${port} is in use: choose another with --port`);
  if (problem === 'EACCES') throw new Error(`port ${port} needs root privileges: choose another with --port`);
  if (problem) throw new Error(`HOST ${host} is not an address of this machine (${problem})`);
}

/** Deletes the stack's data, but not the data in MONGO_URL and REDIS_URL nor the key that decrypts it. */
async function deleteData(dataDir: string, print: (line: string) => void): Promise<void> {
  await endStaleRedis(path.join(dataDir, 'redis'));
  const { MONGO_URL, REDIS_URL } = process.env;
  if (MONGO_URL) print('--fresh does not empty the database of MONGO_URL');
  if (REDIS_URL) print('--fresh does not empty the Redis of REDIS_URL');
  const deleted = MONGO_URL ? path.join(dataDir, 'redis') : dataDir;
  await fs.rm(deleted, { recursive: true, force: true });
}

async function announce(stack: Stack, port: number, state: string, print: (line: string) => void): Promise<void> {
  const dataDir = dataDirOf(port);
  const { testKey } = await import('./stack/test-key.ts');
  const key = await testKey(stack.env, dataDir, stack.url);
  const { shownSettings } = await import('../shared/base/config.ts');
  const env = Object.fromEntries(
    shownSettings(stack.env).map(({ name }) => [name, stack.env[name]]),
  ) as StackState['env'];
  const { url, servers, metricsPorts } = stack;
  const startedAt = new Date().toISOString();
  const stackState = { pid: process.pid, port, url, startedAt, servers, metricsPorts, env };
  await writeState(dataDir, stackState);
  const last = '  Press Ctrl-C to stop; npm run dev -- status shows this again.';
  print([...overview({ ...stackState, key, state }), last, ''].join('\n'));
}
