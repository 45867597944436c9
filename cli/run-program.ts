import { type Config, ConfigError, readConfig } from '../shared/base/config.ts';
import { AppError, describeError } from '../shared/base/errors.ts';
import { mongoNow } from '../shared/base/mongo/clock.ts';
import { connectMongo, disconnectMongo } from '../shared/base/mongo/connection.ts';
import { said, UsageError } from '../shared/process/command-line.ts';
import { helpFor, isHelpAsked, usageInShort } from './help.ts';
import { type Program, readCommandLine } from './program.ts';

/** The settings, or how to find them, once it is known that they are needed. Undefined is the process's environment. */
export type Settings = NodeJS.ProcessEnv | (() => Promise<NodeJS.ProcessEnv>) | undefined;

/**
 * Runs a command line, prints its answer and resolves with the exit code: 0, or 1 with a line for each thing that is wrong, or
 * 2 for a wrong command line.
 */
export async function runProgram<Place>(
  program: Program<Place>,
  argv: readonly string[],
  settings?: Settings,
): Promise<number> {
  try {
    if (isHelpAsked(argv)) {
      console.log(helpFor(program, argv));
      return 0;
    }
    const { run, asJson } = readCommandLine(program, argv);
    await program.connect(typeof settings === 'function' ? await settings() : settings, async (place) => {
      const { answer, lines } = await run(place);
      console.log(asJson ? JSON.stringify(answer) : lines().join('\n'));
    });
    return 0;
  } catch (error) {
    console.error(said(program.name, problemOf(error)));
    if (!(error instanceof UsageError)) return 1;
    console.error(usageInShort(program, argv));
    return 2;
  }
}

function problemOf(error: unknown): string {
  const isForeseen = [UsageError, AppError, ConfigError].some((kind) => error instanceof kind);
  if (isForeseen) return (error as Error).message;
  const { name, code } = describeError(error);
  return ['unexpected error:', name, code].filter(Boolean).join(' ');
}

/** A connected database, for a program that needs nothing else. */
export interface MongoPlace {
  config: Readonly<Config>;
  /** MongoDB's clock at the start of the command (Unix ms). */
  nowMs: number;
}

/** Connects to MongoDB only. Reads SECRETS_KEY if the program encrypts or decrypts. */
export const connectTo =
  ({ needsSecretsKey }: { needsSecretsKey: boolean }): Program<MongoPlace>['connect'] =>
  async (env, work) => {
    const unused = needsSecretsKey ? [] : (['SECRETS_KEY'] as const);
    const config = readConfig(env, { without: ['REDIS_URL', 'PUBLIC_BASE_URL', ...unused] });
    await connectMongo(config.secrets.mongoUrl);
    try {
      await work({ config, nowMs: (await mongoNow()).getTime() });
    } finally {
      await disconnectMongo();
    }
  };
