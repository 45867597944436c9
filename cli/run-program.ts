import { InvalidArgumentError, Option } from 'commander';
import { type Config, readConfig, readValidSettings } from '../shared/base/config.ts';
import { AppError, ConfigError, describeError } from '../shared/base/errors.ts';
import { mongoNow } from '../shared/base/mongo/clock.ts';
import { connectMongo, disconnectMongo } from '../shared/base/mongo/connect-mongo.ts';
import { version } from '../shared/base/version.ts';
import { UsageError } from '../shared/process/command-line.ts';
import { operatorName } from './operator.ts';
import { exitCodeOf, newCommand, withHelp } from './parser.ts';
import { type Environment, invocation, type Program } from './program.ts';

/**
 * The settings, or a function that finds them for the `--port` that was given. Undefined means the environment of the
 * process.
 */
export type Settings = NodeJS.ProcessEnv | ((port?: string) => Promise<NodeJS.ProcessEnv>) | undefined;

/** Prints the answer of a command. `lines` are for people. */
type Show = (answer: object, lines: string[], asJson: boolean) => void;

const print: Show = (answer, lines, asJson) => console.log(asJson ? JSON.stringify(answer) : lines.join('\n'));

/**
 * Runs a command line, prints its answer and resolves with the exit code. It is 0 on success, 1 for an error, which is
 * printed as one line per problem, or for an answer that reports a fault, and 2 for an invalid command line.
 */
export function runProgram<Ctx>(
  program: Program<Ctx>,
  argv: readonly string[],
  settings?: Settings,
  show = print,
): Promise<number> {
  const start = invocation(program.name);
  const root = newCommand(start, aboutPrograms, program.examples).usage('COMMAND');
  root
    .version(version, '--version', 'prints the version')
    .helpCommand('help [COMMAND]', 'prints the help of a command');
  let code = 0;
  for (const [name, row] of Object.entries(program.commands)) {
    const { needed = {}, options = {}, operands = '', recorded = 'never' } = row;
    const command = withHelp(root.command(`${name} ${operands}`), start, row.about, row.examples).summary(row.summary);
    command.usage([operands, ...Object.keys(needed), '[options]'].filter(Boolean).join(' '));
    for (const [flags, text] of Object.entries(needed)) command.requiredOption(flags, text, notEmpty);
    for (const [flags, text] of Object.entries(options)) command.option(flags, text);
    const by = new Option('--by <NAME>', 'the operator to record; default: your user name');
    if (!('--by <NAME>' in options)) command.addOption(by.hideHelp(recorded === 'never'));
    if (typeof settings === 'function') command.option('--port <N>', 'uses the npm run dev on port N, not the newest');
    command.option('--json', 'prints one line of JSON').action(async () => {
      const { json = false, port, ...values } = command.opts();
      const args = row.read(values, ...command.args);
      const env = typeof settings === 'function' ? await settings(port) : settings;
      const work = async (ctx: Ctx | Environment) => {
        const { config } = ctx as Environment;
        const operator = operatorName(config, values.by, typeof recorded === 'function' ? recorded(args) : recorded);
        const answer = await row.run(ctx, args, operator);
        show(answer, row.print(answer, ctx), json);
        if (row.hasFailed?.(answer)) code = 1;
      };
      await (row.connectsAlone ? work({ env, config: readValidSettings(env).config }) : program.connect(env, work));
    });
  }
  const main = async () => {
    if (argv.length === 0) throw new UsageError('a command is missing');
    await root.parseAsync(argv, { from: 'user' });
    return code;
  };
  const hint = () => {
    const command = root.commands.find((each) => each.name() === argv[0]);
    const [usage] = (command ?? root).helpInformation().split('\n\n');
    return `\n${usage}\nMore: ${[start, command?.name(), '--help'].filter(Boolean).join(' ')}`;
  };
  return exitCodeOf(program.name, main, hint, problemOf);
}

const aboutPrograms = `Each command accepts --help, and --json for JSON output.
Changes are recorded under --by NAME; the default is your
user name on this system.`;

function notEmpty(value: string): string {
  if (value === '') throw new InvalidArgumentError('It is empty.');
  return value;
}

function problemOf(error: Error): string {
  if (error instanceof AppError || error instanceof ConfigError) return error.message;
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
