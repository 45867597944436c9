import path from 'node:path';
import { queueBoardPath } from '../../web/operators/queue-board-path.ts';
import { styled } from '../terminal/style.ts';
import { devEmail, mailBoxPath, messageBoxPath } from './local-pages.ts';
import { reachableHost } from './stack-settings.ts';
import { dataDirOf, runningStacks, type StackState, workerEnvFile } from './stack-state.ts';
import type { TestKey } from './test-key.ts';

type Overview = Pick<StackState, 'url' | 'port' | 'env' | 'servers' | 'metricsPorts'> & {
  key?: TestKey;
  /** The state of the stack, such as `is ready after 5.1 s`. */
  state: string;
};

/** The addresses, keys and servers of a running stack, in lines of at most 80 characters. */
export function overview({ url, port, env, servers, metricsPorts, key, state }: Overview): string[] {
  const data = path.relative(process.cwd(), dataDirOf(port));
  const server = (given: string, folder: string) => given || `its own, data in ${data}/${folder}`;
  const ownOrigin = new URL(url).origin;
  const targets = env.WEBHOOK_LOCAL_TARGETS?.split(',').filter((target) => target !== ownOrigin);
  const rows = {
    API: accent(`${url}/v1`),
    Dashboard: accent(`${url}/dashboard`),
    'Sign in as': `${accent(devEmail)}, with the code from ${env.SMTP_URL ? 'the mail' : 'Mail'}`,
    "Driver's page": accent(`${url}/drive`),
    Docs: accent(`${url}/docs`),
    'Text messages': accent(`${url}${messageBoxPath}`),
    Mail: env.SMTP_URL ? 'goes to the server of SMTP_URL' : accent(`${url}${mailBoxPath}`),
    'Queue board': accent(`${url}${queueBoardPath}`),
    Metrics: `${accent(`http://${reachableHost(env.OPS_HOST)}:PORT/metrics`)}, with PORT of:${portsOf(metricsPorts)}`,
    'Test key': accent(key?.key ?? 'rotated or revoked; the next start creates a new one'),
    'Key id': key?.keyId ?? '-',
    'Signing secret': accent(key?.signingSecret ?? '-'),
    'Webhook URL': key?.webhookUrl ?? `none; npm run -s keys -- set-webhook ${key?.keyId ?? 'KEYID'} URL`,
    'Local receiver': targets?.join(',') || 'this stack; WEBHOOK_LOCAL_TARGETS=http://HOST:PORT adds yours',
    MongoDB: server(servers.mongo, 'mongo'),
    Redis: server(servers.redis, 'redis'),
  };
  return [
    '',
    `  ${styled('strong', 'Ride Partner API')}  ${state}`,
    '',
    ...Object.entries(rows).map(([name, value]) => `  ${name.padEnd(14)}  ${value}`),
    '',
    '  A first ride, from another terminal:',
    '',
    `KEY=${key?.key ?? 'svc_test_...'}`,
    `curl -s ${url}/v1/rides -H "Authorization: Bearer $KEY" \\`,
    `  -H 'Content-Type: application/json' -d '{ "fare": 24.5,`,
    `  "pickup": { "lat": 57.6997, "lng": 11.9523 },`,
    `  "destination": { "lat": 57.7074, "lng": 11.9385 } }'`,
    '',
  ];
}

/** The name and port of each process, as further lines of the overview. */
const portsOf = (ports: Record<string, number>): string =>
  Object.entries(ports)
    .map(([name, port]) => `${name} ${port}`)
    .sort()
    .join(', ')
    .replaceAll(/(.{1,60}(?:,|$)) ?/g, `\n${' '.repeat(18)}$1`);

const accent = (text: string) => styled('accent', text);

/** `npm run dev -- status`: prints the overview of the newest running stack, or of the stack on a port. */
export async function showStatus(port?: number): Promise<void> {
  const stack = (await runningStacks()).find((running) => port === undefined || running.port === port);
  if (!stack) {
    const where = port === undefined ? '' : ` on port ${port}`;
    throw new Error(`no stack is running${where}: start one with npm run dev`);
  }
  const { currentTestKey } = await import('./test-key.ts');
  const key = await currentTestKey(stack.env, dataDirOf(stack.port));
  const since = new Date(stack.startedAt).toTimeString().slice(0, 5);
  const state = (await answers(stack.url)) ? `running since ${since}` : 'NOT RESPONDING';
  for (const line of overview({ ...stack, key, state: `${state} (process ${stack.pid})` })) console.log(line);
  const settings = path.relative(process.cwd(), workerEnvFile(dataDirOf(stack.port)));
  console.log(`  One more worker process, from another terminal. It needs the settings in this
  file, which only you can read:

node --env-file=${settings} \\
  --import tsx workers/main.ts webhooks
`);
}

async function answers(url: string): Promise<boolean> {
  return fetch(`${url}/healthz`, { signal: AbortSignal.timeout(2_000) }).then(
    ({ ok }) => ok,
    () => false,
  );
}
