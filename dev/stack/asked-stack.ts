import { ConfigError } from '../../shared/base/errors.ts';
import { UsageError } from '../../shared/process/command-line.ts';
import { hostsOf } from './stack-settings.ts';
import { runningStacks, type StackState } from './stack-state.ts';

/**
 * The settings of the stack on a port, of the newest stack, or of the environment, for a command of `program`. Prints
 * the selection on standard error.
 */
export async function stackSettings(program: string, asked?: string): Promise<NodeJS.ProcessEnv> {
  const port = asked === undefined ? undefined : Number(asked || NaN);
  if (port !== undefined && !Number.isInteger(port)) throw new UsageError('--port must be a number');
  const stacks = await runningStacks();
  const stack = chooseStack(stacks, port);
  const { MONGO_URL } = process.env;
  if (!stack && !MONGO_URL) {
    const where = port === undefined ? 'no stack is running' : `no stack is running on port ${port}`;
    throw new ConfigError(`${where}: start one with npm run dev, or set MONGO_URL and SECRETS_KEY`);
  }
  const others = stacks.length > 1 && port === undefined ? ', the newest; --port N selects another' : '';
  const used = stack ? `the stack on port ${stack.port}${others}` : `${hostsOf(MONGO_URL ?? '')} (MONGO_URL)`;
  console.error(`${program}: using ${used}`);
  return { ...process.env, SERVICE_ENV: process.env.SERVICE_ENV || 'development', ...stack?.env };
}

/**
 * The newest stack, or the one with the port of `--port`. With MONGO_URL it must be a stack on that server, because
 * only that stack has the server's SECRETS_KEY.
 */
function chooseStack(stacks: StackState[], port: number | undefined): StackState | undefined {
  const { MONGO_URL, SECRETS_KEY } = process.env;
  if (MONGO_URL && SECRETS_KEY) return undefined;
  return stacks.find(
    (candidate) =>
      (port === undefined || candidate.port === port) && (!MONGO_URL || candidate.env.MONGO_URL === MONGO_URL),
  );
}
