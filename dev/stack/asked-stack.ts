import { ConfigError } from '../../shared/base/config.ts';
import { UsageError } from '../../shared/process/command-line.ts';
import { hostsOf } from './settings.ts';
import { runningStacks, type StackState } from './stack-state.ts';

/** A command's own arguments, and how to find the settings of the stack or server that it asks. */
interface Asked {
  argv: string[];
  settings(): Promise<NodeJS.ProcessEnv>;
}

/** For a command of `program` on a running stack, or on the server that the environment names. Takes `--port N` out. */
export function askedStack(program: string, args: string[]): Asked {
  const { port, argv } = takePort(args);
  return { argv, settings: () => settingsOf(program, port) };
}

/** The settings of the stack that is asked, or of the environment. Names which on standard error. */
async function settingsOf(program: string, port: number | undefined): Promise<NodeJS.ProcessEnv> {
  if (port !== undefined && !Number.isInteger(port)) throw new UsageError('--port takes a number');
  const stacks = await runningStacks();
  const stack = chosen(stacks, port);
  const { MONGO_URL } = process.env;
  if (!stack && !MONGO_URL) {
    const where = port === undefined ? 'no stack is running' : `no stack is running on port ${port}`;
    throw new ConfigError(`${where}: start one with npm run dev, or set MONGO_URL and SECRETS_KEY`);
  }
  const others = stacks.length > 1 && port === undefined ? ', the newest; --port N chooses' : '';
  const asked = stack ? `the stack on port ${stack.port}${others}` : `${hostsOf(MONGO_URL ?? '')} (MONGO_URL)`;
  console.error(`${program}: asking ${asked}`);
  return { ...process.env, SERVICE_ENV: process.env.SERVICE_ENV || 'development', ...stack?.env };
}

/** The newest, the one of `--port`, or with MONGO_URL only one that runs on that server: it knows the SECRETS_KEY. */
function chosen(stacks: StackState[], port: number | undefined): StackState | undefined {
  const { MONGO_URL, SECRETS_KEY } = process.env;
  if (MONGO_URL && SECRETS_KEY) return undefined;
  return stacks.find(
    (candidate) =>
      (port === undefined || candidate.port === port) && (!MONGO_URL || candidate.env.MONGO_URL === MONGO_URL),
  );
}

/** Takes `--port N` out of the arguments: all others are the command's. */
function takePort(args: string[]): { port?: number; argv: string[] } {
  const index = args.findIndex((arg) => arg === '--port' || arg.startsWith('--port='));
  if (index === -1) return { argv: args };
  const [option = ''] = args.slice(index, index + 1);
  const joined = option.startsWith('--port=');
  const value = joined ? option.slice('--port='.length) : args[index + 1];
  return { port: Number(value || NaN), argv: [...args.slice(0, index), ...args.slice(index + (joined ? 1 : 2))] };
}
