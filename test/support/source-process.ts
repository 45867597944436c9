import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { nodeCommand } from '../../dev/servers/node-command.ts';

const root = path.join(import.meta.dirname, '..', '..');
const stopMs = 8_000;

export interface SourceProcess {
  /** Asks it to end and resolves with its exit code, or with SIGKILL where it had to be killed after 8 s. */
  stop(signal?: NodeJS.Signals): Promise<number | NodeJS.Signals | null>;
}

export interface SourceProcessOptions {
  /** `api/main.ts` or `workers/main.ts`. */
  script: string;
  args?: string[];
  env?: Record<string, string>;
  /** File descriptors; without them nothing is kept of what it prints. */
  stdout?: number;
  stderr?: number;
}

/** Starts a process of the service from its source, with the settings of `testConfig`, and waits until it serves. */
export async function startFromSource(options: SourceProcessOptions): Promise<SourceProcess> {
  const { script, args, stdout = 'ignore', stderr = 'ignore' } = options;
  const [command = '', ...commandArgs] = nodeCommand(path.join(root, script), args);
  const settings = {
    SERVICE_ENV: 'development',
    MONGO_URL: process.env.TEST_MONGO_URL,
    REDIS_URL: process.env.TEST_REDIS_URL,
    SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
  };
  const child = spawn(command, commandArgs, {
    env: { ...process.env, ...settings, ...options.env },
    stdio: ['ignore', stdout, stderr, 'ipc'],
  });
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const failed = await Promise.race([ready(child), exited]);
  if (failed) throw new Error(`${script} ended before it served: ${failed.join(' ')}`);
  return {
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      const force = setTimeout(() => child.kill('SIGKILL'), stopMs);
      const [code, killedBy] = await exited;
      clearTimeout(force);
      return code ?? killedBy;
    },
  };
}

function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.on('message', (message) => message === 'ready' && resolve());
  });
}
