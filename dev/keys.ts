import { keysCommand } from '../shared/cli/keys-command.ts';
import { runningStacks, type StackState } from './stack/stack-state.ts';

/** `npm run keys`: runs the keys command on a running stack, or on the server of MONGO_URL. */
const { port, argv } = takePort(process.argv.slice(2));
const stack = chosen(await runningStacks());
if (port !== undefined && !Number.isInteger(port)) {
  console.error('keys: --port takes a number');
  process.exitCode = 2;
} else if (!stack && !process.env.MONGO_URL) {
  const where = port === undefined ? 'no stack is running' : `no stack is running on port ${port}`;
  console.error(`keys: ${where}: start one with npm run dev, or set MONGO_URL and SECRETS_KEY`);
  process.exitCode = 1;
} else {
  // All settings are checked, though the keys command never uses Redis.
  const REDIS_URL = process.env.REDIS_URL || 'redis://127.0.0.1';
  const SERVICE_ENV = process.env.SERVICE_ENV || 'development';
  process.exitCode = await keysCommand(argv, { ...process.env, REDIS_URL, SERVICE_ENV, ...stack?.env });
}

/**
 * The newest running stack, or the one of `--port`. With MONGO_URL, only a stack on that server: it knows the SECRETS_KEY.
 */
function chosen(stacks: StackState[]): StackState | undefined {
  const { MONGO_URL, SECRETS_KEY } = process.env;
  if (MONGO_URL && SECRETS_KEY) return undefined;
  return stacks.find(
    (candidate) =>
      (port === undefined || candidate.port === port) && (!MONGO_URL || candidate.env.MONGO_URL === MONGO_URL),
  );
}

/** Takes `--port N` out of the arguments. The others belong to the keys command. */
function takePort(args: string[]): { port?: number; argv: string[] } {
  const index = args.findIndex((arg) => arg === '--port' || arg.startsWith('--port='));
  if (index === -1) return { argv: args };
  const [option = ''] = args.slice(index, index + 1);
  const joined = option.startsWith('--port=');
  const value = joined ? option.slice('--port='.length) : args[index + 1];
  return { port: Number(value), argv: [...args.slice(0, index), ...args.slice(index + (joined ? 1 : 2))] };
}
