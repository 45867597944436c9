import fs from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { isPortFree } from './servers/ports.ts';
import { endStaleRedis } from './servers/stale-redis.ts';
import { isOfQueueBoard, readable } from './stack/log-lines.ts';
import { queueBoardPath } from './stack/queue-board.ts';
import { aborted, endSignal } from './stack/signals.ts';
import { type Stack, startStack } from './stack/stack.ts';
import { removeState, runningStacks, stacksDir, writeState } from './stack/stack-state.ts';
import { freshTestKey } from './stack/test-key.ts';

const usage = 'usage: npm run dev -- [--port 4100] [--fresh]';
const say = (line: string) => console.log(line);
const exampleRide = JSON.stringify({
  pickup: { lat: 40.758, lng: -73.9855 },
  destination: { lat: 40.7128, lng: -74.006 },
  fare: 24.5,
});

try {
  await run(readArguments());
  process.exit(0);
} catch (error) {
  console.error(`dev: ${(error as Error).message}`);
  process.exit(1);
}

async function run({ port, fresh }: { port: number; fresh: boolean }): Promise<void> {
  const dataDir = path.join(stacksDir, String(port));
  await checkPort(port);
  if (fresh) await empty(dataDir);

  const ending = endSignal();
  say('starting MongoDB, Redis, the API and the workers');
  const stack = await startStack({
    port,
    dataDir,
    keepQueues: true,
    say: (line) => say(`>>> ${line}`),
    onLine: (name, line) => {
      if (!isOfQueueBoard(line)) say(readable(name, line));
    },
  });
  try {
    if (!ending.aborted) await announce(stack, port, dataDir);
    await aborted(ending);
    say('stopping');
  } finally {
    await removeState(dataDir);
    await stack.stop();
  }
}

function readArguments(): { port: number; fresh: boolean } {
  try {
    const { values } = parseArgs({ options: { port: { type: 'string' }, fresh: { type: 'boolean', default: false } } });
    const port = Number(values.port ?? (process.env.PORT || 4100));
    if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Error('the port must be from 1 to 65535');
    return { port, fresh: values.fresh };
  } catch (error) {
    const [line] = (error as Error).message.split('. To specify');
    console.error(`dev: ${line} (${usage})`);
    process.exit(2);
  }
}

async function checkPort(port: number): Promise<void> {
  const stack = (await runningStacks()).find((running) => running.port === port);
  if (stack) throw new Error(`a stack is running on port ${port} (process ${stack.pid}): choose another with --port`);
  const isFree = await isPortFree(port, process.env.HOST || '127.0.0.1');
  if (!isFree) throw new Error(`port ${port} is in use: choose another with --port`);
}

/** What belongs to somebody else's server stays: its data, and the key that is needed to read it. */
async function empty(dataDir: string): Promise<void> {
  await endStaleRedis(path.join(dataDir, 'redis'));
  const { MONGO_URL } = process.env;
  if (MONGO_URL) say('--fresh leaves the database of MONGO_URL as it is');
  const own = MONGO_URL ? path.join(dataDir, 'redis') : dataDir;
  await fs.rm(own, { recursive: true, force: true });
}

async function announce(stack: Stack, port: number, dataDir: string): Promise<void> {
  const key = await freshTestKey(stack);
  const env = Object.fromEntries(Object.entries(stack.env).filter(([name]) => isForCommands(name))) as never;
  await writeState(dataDir, { pid: process.pid, port, startedAt: new Date().toISOString(), env });
  say(`
ready ${stack.url}

queues    ${stack.url}${queueBoardPath}
test key  ${key}
more keys npm run -s keys -- create --name NAME --mode test --json
data      ${path.relative(process.cwd(), dataDir)} (--fresh starts empty)
try       curl -s ${stack.url}/v1/rides -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${exampleRide}'
`);
}

/** The settings that a command such as `npm run keys` must share with the services. */
function isForCommands(name: string): boolean {
  return /^(SERVICE_ENV|HOST|PORT|(MONGO|REDIS)_URL|(PUBLIC|TRACK)_BASE_URL|SECRETS_KEY|WEBHOOK_LOCAL_TARGETS)$/.test(
    name,
  );
}
