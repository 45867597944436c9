import { closestMatch } from 'leven';
import type { Config } from '../shared/base/config.ts';
import { parseCommandLine, UsageError } from '../shared/process/command-line.ts';
import { operatorName, type Recorded } from './operator.ts';

interface Option {
  type: 'string' | 'boolean';
  /** The placeholder of the option's value in the usage, such as `NAME`. */
  value?: string;
  /** True if the option is required. The usage then shows it without brackets, and `read` checks that it is given. */
  isNeeded?: true;
  /** True if the option has no effect. It is accepted, but not shown in the usage. */
  isHidden?: true;
}

const byOption = { type: 'string', value: 'NAME' } as const;

type Options = Readonly<Record<string, Option>>;

type Values<O extends Options> = { [Name in keyof O]?: O[Name]['type'] extends 'boolean' ? boolean : string };

/** The words of a command line after the command's name. */
export interface Words {
  next(): string | undefined;
  /** Returns the next word. Throws UsageError, `COMMAND needs WHAT`, if none is left. */
  need(what: string): string;
  /** Throws UsageError, `COMMAND does not accept WORD`, if a word is left over. */
  end(condition?: string): void;
}

/**
 * One command. Its texts are wrapped at 60 columns. In examples, `PROGRAM` stands for the words that start the program.
 */
interface CommandRow<Ctx, O extends Options, Args, Answer> {
  /** The description of the command in the list of commands. */
  summary: string;
  /** The argument patterns that the command accepts. The usage shows one line for each. */
  forms?: readonly string[];
  /** The options of the command. Every command also accepts `--json`. */
  options?: O;
  about: string;
  /** The rows below the help text: an explanation for each option. */
  rows?: Readonly<Record<string, string>>;
  examples: readonly string[];
  /** How the command is recorded. Default: never. A command that can be recorded shows the option `--by`. */
  recorded?: Recorded | ((args: Args) => Recorded);
  /** Reads the arguments of the command. Throws UsageError if they are invalid. */
  read(words: Words, values: Values<O>): Args;
  /**
   * Executes the command. Resolves with the answer that `--json` prints. `by` is the operator's name, '' if it is not
   * known.
   */
  run(ctx: Ctx, args: Args, by: string): Promise<Answer>;
  /** True if the exit code is 1 although the command has an answer. */
  hasFailed?(answer: Answer): boolean;
  /** Renders the answer as lines for people. */
  print(answer: Answer, ctx: Ctx): string[];
  /** True if the command connects on its own: it then gets only the `Environment`. */
  connectsAlone?: true;
}

/** What a command gets that connects on its own. */
export interface Environment {
  config: Pick<Config, 'environment'>;
  /** The settings; undefined means those of the process. */
  env: NodeJS.ProcessEnv | undefined;
}

interface Result {
  answer: object;
  hasFailed: boolean;
  lines(): string[];
}

export type Command<Ctx> = Pick<
  CommandRow<Ctx, Options, unknown, object>,
  'summary' | 'forms' | 'options' | 'about' | 'rows' | 'examples' | 'connectsAlone'
> & {
  /** Reads the command line, and returns the function that executes the command. */
  prepare(words: Words, values: Readonly<Record<string, unknown>>): (ctx: Ctx) => Promise<Result>;
};

/** Defines a command of a program that works on a `Ctx`. Infers the types of options, arguments and answer. */
export function commandOf<Ctx extends { config: Pick<Config, 'environment'> }>() {
  return <const O extends Options, Args, Answer extends object>(
    row: CommandRow<Ctx, O, Args, Answer>,
  ): Command<Ctx> => ({
    ...row,
    options: { by: row.recorded ? byOption : { ...byOption, isHidden: true }, ...row.options },
    prepare(words, values) {
      const { by: given, ...others } = values;
      // A command can have an option `by` of its own.
      const isOwn = row.options !== undefined && 'by' in row.options;
      const args = row.read(words, (isOwn ? values : others) as Values<O>);
      const { recorded = 'never' } = row;
      return async (ctx) => {
        const howRecorded = typeof recorded === 'function' ? recorded(args) : recorded;
        const by = operatorName(ctx.config, given as string | undefined, howRecorded);
        const answer = await row.run(ctx, args, by);
        return { answer, hasFailed: row.hasFailed?.(answer) ?? false, lines: () => row.print(answer, ctx) };
      };
    },
  });
}

/** A program of several commands. */
export interface Program<Ctx> {
  name: string;
  // biome-ignore lint/suspicious/noExplicitAny: a command that connects on its own has another context.
  commands: Readonly<Record<string, Command<any>>>;
  /** Help text about the options of all commands. */
  common?: string;
  examples: readonly string[];
  /** Connects to the servers in the settings, calls `work`, and disconnects. */
  connect(env: NodeJS.ProcessEnv | undefined, work: (ctx: Ctx) => Promise<void>): Promise<void>;
}

/** Reads a whole command line. Throws UsageError if it is invalid. */
export function readCommandLine<Ctx>(
  program: Program<Ctx>,
  argv: readonly string[],
): { run(ctx: Ctx | Environment): Promise<Result>; asJson: boolean; connectsAlone: boolean } {
  const ofCommands = Object.values(program.commands).flatMap(({ options = {} }) => Object.entries(options));
  const { values, positionals } = parseCommandLine({
    args: [...argv],
    allowPositionals: true,
    options: Object.fromEntries([...ofCommands, ['json', { type: 'boolean' }]] as [string, Option][]),
  });
  const [name, ...rest] = positionals;
  if (name === undefined) throw new UsageError('a command is missing');
  const command = commandNamed(program, name);
  if (!command) {
    const similar = closestMatch(name, Object.keys(program.commands), { maxDistance: 2 });
    throw new UsageError(`unknown command ${name}${similar ? `: did you mean ${similar}?` : ''}`);
  }
  const { json = false, ...given } = values;
  const foreign = Object.keys(given).find((option) => !Object.hasOwn(command.options ?? {}, option));
  if (foreign) throw new UsageError(`${name} does not accept --${foreign}`);
  const words = wordsOf(name, rest);
  const run = command.prepare(words, given);
  words.end();
  return { run, asJson: json === true, connectsAlone: command.connectsAlone === true };
}

// biome-ignore lint/suspicious/noExplicitAny: as above.
export const commandNamed = <Ctx>({ commands }: Program<Ctx>, name: string | undefined): Command<any> | undefined =>
  name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined;

function wordsOf(command: string, words: string[]): Words {
  const next = () => words.shift();
  return {
    next,
    need(what) {
      const word = next();
      if (!word) throw new UsageError(`${command} needs ${what}`);
      return word;
    },
    end(condition) {
      const [surplus] = words;
      if (surplus !== undefined)
        throw new UsageError([command, 'does not accept', surplus, condition].filter(Boolean).join(' '));
    },
  };
}

/** The help text of a program whose changes are recorded. */
export const recordedUnder = `Changes are recorded under --by NAME; the default is your
user name on this system.`;

/** Reads a time with its zone, such as 2026-11-05T09:30Z. Throws UsageError for any other text. */
export function readTime(option: string, given: string): Date {
  const hasZone = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(given);
  const at = new Date(given);
  if (!hasZone || Number.isNaN(at.getTime())) {
    throw new UsageError(`--${option} needs a time with a zone, such as 2026-11-05T09:30Z`);
  }
  return at;
}
