import { ConfigError } from '../../shared/base/config.ts';
import { UsageError } from '../../shared/process/command-line.ts';
import { hostsOf } from './settings.ts';
import { runningStacks, type StackState } from './stack-state.ts';

/** The arguments of a command without `--port`, and the settings of the selected stack or server. */
interface Selection {
  argv: string[];
  settings(): Promise<NodeJS.ProcessEnv>;
}

/** Selects the stack for a command of `program`: a running one, or the server in the environment. */
export function selectStack(program: string, args: string[]): Selection {
  const { port, argv } = extractPort(args);
  return { argv, settings: () => settingsOf(program, port) };
}

/** The settings of the selected stack, or of the environment. Prints the selection on standard error. */
async function settingsOf(program: string, port: number | undefined): Promise<NodeJS.ProcessEnv> {
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

/** Separates `--port N` from the command's own arguments. */
function extractPort(args: string[]): { port?: number; argv: string[] } {
  const index = args.findIndex((arg) => arg === '--port' || arg.startsWith('--port='));
  if (index === -1) return { argv: args };
  const [option = ''] = args.slice(index, index + 1);
  const joined = option.startsWith('--port=');
  const value = joined ? option.slice('--port='.length) : args[index + 1];
  return { port: Number(value || NaN), argv: [...args.slice(0, index), ...args.slice(index + (joined ? 1 : 2))] };
}
