import { ConfigError, readConfig } from '../config.ts';
import { AppError, describeError } from '../errors.ts';
import { assertCheck } from '../keys/secrets-check.ts';
import { connectMongo, disconnectMongo } from '../mongo/connection.ts';
import { said, UsageError } from './command-line.ts';
import { commandOf, isHelpAsked, type KeysArguments, readArguments } from './keys/arguments.ts';
import { commands } from './keys/commands.ts';
import { printAnswer } from './keys/print.ts';
import { usageInShort, usageOf } from './keys/usage.ts';

/** With a wrong SECRETS_KEY these would store what no process of the service can open. */
const encrypting = ['create', 'roll-secret', 'rekey'];

/** The settings, or how to find them, once it is known that they are needed. Undefined is the process's environment. */
type Settings = NodeJS.ProcessEnv | (() => Promise<NodeJS.ProcessEnv>) | undefined;

/**
 * The keys' command line: prints the answer and resolves with the exit code, 0, or 1 with a line for each thing that is
 * wrong, or 2 for a wrong command line.
 */
export async function keysCommand(argv: readonly string[], settings?: Settings): Promise<number> {
  try {
    if (isHelpAsked(argv)) console.log(usageOf(commandOf(argv)));
    else await run(readArguments(argv), settings);
    return 0;
  } catch (error) {
    console.error(said('keys', problemOf(error)));
    if (!(error instanceof UsageError)) return 1;
    console.error(usageInShort(commandOf(argv)));
    return 2;
  }
}

async function run(args: KeysArguments, settings: Settings): Promise<void> {
  const env = typeof settings === 'function' ? await settings() : settings;
  const config = readConfig(env, { without: ['REDIS_URL', 'PUBLIC_BASE_URL'] });
  await connectMongo(config.secrets.mongoUrl);
  try {
    if (encrypting.includes(args.command)) await assertCheck(config.secrets.keys);
    printAnswer(args.command, await commands[args.command](config, args), args.json);
  } finally {
    await disconnectMongo();
  }
}

function problemOf(error: unknown): string {
  const isForeseen = [UsageError, AppError, ConfigError].some((kind) => error instanceof kind);
  if (isForeseen) return (error as Error).message;
  const { name, code } = describeError(error);
  return ['unexpected error:', name, code].filter(Boolean).join(' ');
}
