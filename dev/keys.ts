import { UsageError } from '../shared/cli/command-line.ts';
import { keysCommand } from '../shared/cli/keys-command.ts';
import { ConfigError } from '../shared/config.ts';
import { hostsOf } from './stack/given-servers.ts';
import { runningStacks, type StackState } from './stack/stack-state.ts';

/** `npm run keys`: the keys' command line on a running stack, or on the server that the environment names. */
const { port, argv } = takePort(process.argv.slice(2));
process.exitCode = await keysCommand(argv, settings);

/** The settings of the stack that is asked, or of the environment. Names which on standard error. */
async function settings(): Promise<NodeJS.ProcessEnv> {
  if (port !== undefined && !Number.isInteger(port)) throw new UsageError('--port takes a number');
  const stacks = await runningStacks();
  const stack = chosen(stacks);
  const { MONGO_URL } = process.env;
  if (!stack && !MONGO_URL) {
    const where = port === undefined ? 'no stack is running' : `no stack is running on port ${port}`;
    throw new ConfigError(`${where}: start one with npm run dev, or set MONGO_URL and SECRETS_KEY`);
  }
  const others = stacks.length > 1 && port === undefined ? ', the newest; --port N chooses' : '';
  const asked = stack ? `the stack on port ${stack.port}${others}` : `${hostsOf(MONGO_URL ?? '')} (MONGO_URL)`;
  console.error(`keys: asking ${asked}`);
  return { ...process.env, SERVICE_ENV: process.env.SERVICE_ENV || 'development', ...stack?.env };
}

/** The newest, the one of `--port`, or with MONGO_URL only one that runs on that server: it knows the SECRETS_KEY. */
function chosen(stacks: StackState[]): StackState | undefined {
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
