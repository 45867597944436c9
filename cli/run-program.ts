import { type Config, ConfigError, readConfig, readValidSettings } from '../shared/base/config.ts';
import { AppError, describeError } from '../shared/base/errors.ts';
import { mongoNow } from '../shared/base/mongo/clock.ts';
import { connectMongo, disconnectMongo } from '../shared/base/mongo/connection.ts';
import { version } from '../shared/base/version.ts';
import { asksForVersion, prefixLines, UsageError } from '../shared/process/command-line.ts';
import { helpFor, usageInShort, wantsHelp } from './help.ts';
import { type Environment, type Program, readCommandLine } from './program.ts';

/** The settings, or a function that finds them when they are needed. Undefined means the environment of the process. */
export type Settings = NodeJS.ProcessEnv | (() => Promise<NodeJS.ProcessEnv>) | undefined;

/**
 * Runs a command line, prints its answer and resolves with the exit code. It is 0 on success, 1 for an error, which is
 * printed as one line per problem, or for an answer that reports a fault, and 2 for an invalid command line.
 */
export async function runProgram<Ctx>(
  program: Program<Ctx>,
  argv: readonly string[],
  settings?: Settings,
): Promise<number> {
  try {
    if (asksForVersion(argv)) {
      console.log(version);
      return 0;
    }
    if (wantsHelp(argv)) {
      console.log(helpFor(program, argv));
      return 0;
    }
    const { run, asJson, connectsAlone } = readCommandLine(program, argv);
    const env = typeof settings === 'function' ? await settings() : settings;
    let code = 0;
    const work = async (ctx: Ctx | Environment) => {
      const { answer, hasFailed, lines } = await run(ctx);
      console.log(asJson ? JSON.stringify(answer) : lines().join('\n'));
      if (hasFailed) code = 1;
    };
    await (connectsAlone ? work({ env, config: readValidSettings(env).config }) : program.connect(env, work));
    return code;
  } catch (error) {
    console.error(prefixLines(program.name, problemOf(error)));
    if (!(error instanceof UsageError)) return 1;
    console.error(usageInShort(program, argv));
    return 2;
  }
}

function problemOf(error: unknown): string {
  const isExpected = [UsageError, AppError, ConfigError].some((kind) => error instanceof kind);
  if (isExpected) return (error as Error).message;
  const { name, code } = describeError(error);
  return ['unexpected error:', name, code].filter(Boolean).join(' ');
}

/** The context of a program that only needs a connected database. */
export interface MongoContext {
  config: Readonly<Config>;
  /** The time on MongoDB's clock at the start of the command (Unix ms). */
  nowMs: number;
}

/** Connects to MongoDB only. Reads SECRETS_KEY if the program encrypts or decrypts. */
export const connectTo =
  ({ needsSecretsKey }: { needsSecretsKey: boolean }): Program<MongoContext>['connect'] =>
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
