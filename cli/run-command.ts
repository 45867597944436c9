import { type Config, ConfigError, readConfig } from '../shared/base/config.ts';
import { AppError, describeError } from '../shared/base/errors.ts';
import { connectMongo, disconnectMongo } from '../shared/base/mongo/connection.ts';
import { said, UsageError } from '../shared/process/command-line.ts';

/** The settings, or how to find them, once it is known that they are needed. Undefined is the process's environment. */
export type Settings = NodeJS.ProcessEnv | (() => Promise<NodeJS.ProcessEnv>) | undefined;

/** How a command line is read, whatever it works on. */
export interface CommandLine<Args> {
  program: string;
  /** The help that a command line asks for, if it does. */
  helpFor(argv: readonly string[]): string | undefined;
  /** Throws UsageError. */
  readArguments(argv: readonly string[]): Args;
  usageInShort(argv: readonly string[]): string;
}

/** A command line that works on MongoDB alone. */
export interface MongoCommand<Args> extends CommandLine<Args> {
  /** Whether it reads or writes signing secrets. */
  needsSecretsKey: boolean;
  /** Does the work in the connected database and prints the answer. */
  run(config: Readonly<Config>, args: Args): Promise<void>;
}

/**
 * Runs a command line and resolves with the exit code: 0, or 1 with a line for each thing that is wrong, or 2 for a wrong
 * command line.
 */
export const runCommand = <Args>(
  command: MongoCommand<Args>,
  argv: readonly string[],
  settings?: Settings,
): Promise<number> => runCommandLine(command, argv, settings, (args, env) => runConnected(command, args, env));

/** The same for a command line that connects by itself: `run` gets its arguments and the settings. */
export async function runCommandLine<Args>(
  command: CommandLine<Args>,
  argv: readonly string[],
  settings: Settings,
  run: (args: Args, env: NodeJS.ProcessEnv | undefined) => Promise<void>,
): Promise<number> {
  try {
    const help = command.helpFor(argv);
    if (help) {
      console.log(help);
      return 0;
    }
    const args = command.readArguments(argv);
    await run(args, typeof settings === 'function' ? await settings() : settings);
    return 0;
  } catch (error) {
    console.error(said(command.program, problemOf(error)));
    if (!(error instanceof UsageError)) return 1;
    console.error(command.usageInShort(argv));
    return 2;
  }
}

async function runConnected<Args>(command: MongoCommand<Args>, args: Args, env?: NodeJS.ProcessEnv): Promise<void> {
  const unused = command.needsSecretsKey ? [] : (['SECRETS_KEY'] as const);
  const config = readConfig(env, { without: ['REDIS_URL', 'PUBLIC_BASE_URL', ...unused] });
  await connectMongo(config.secrets.mongoUrl);
  try {
    await command.run(config, args);
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
