import type { Config } from '../shared/base/config.ts';
import { UsageError } from '../shared/process/command-line.ts';
import type { Recorded } from './operator.ts';

type Camel<Name> = Name extends `${infer First}-${infer Rest}` ? `${First}${Capitalize<Camel<Rest>>}` : Name;
type NameOf<Flags> = Flags extends `--${infer Name} <${string}`
  ? Camel<Name>
  : Flags extends `--${infer Name}`
    ? Camel<Name>
    : never;
type ValueOf<Flags> = Flags extends `${string}<${string}` ? string : true;

/** Options by their flags, such as `--name <NAME>`, each with its explanation. */
type Options = Readonly<Record<string, string>>;

/** The values of the options, by name: `webhookUrl` for `--webhook-url <URL>`. */
type Values<Needed, Optional> = { [Flags in keyof Needed as NameOf<Flags>]: ValueOf<Flags> } & {
  [Flags in keyof Optional as NameOf<Flags>]?: ValueOf<Flags>;
};

/** One command. In examples, `PROGRAM` stands for the words that start the program. */
interface CommandRow<Ctx, Needed, Optional, Args, Answer> {
  /** The description of the command in the list of commands. */
  summary: string;
  /** The words after the command's name, such as `<KEYID> [URL]`; those in brackets are optional. */
  operands?: string;
  needed?: Needed;
  /** The optional options. Every command also accepts `--json` and `--by`. */
  options?: Optional;
  about: string;
  examples: readonly string[];
  /** How the command is recorded. Default: never. Only the help of a command that can be recorded shows `--by`. */
  recorded?: Recorded | ((args: Args) => Recorded);
  /** Reads the options and operands of the command. Throws UsageError if they are invalid. */
  read(values: Values<Needed, Optional>, ...operands: string[]): Args;
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

// biome-ignore lint/suspicious/noExplicitAny: each command has other arguments and another answer.
export type ProgramCommand = CommandRow<any, Options, Options, any, any>;

/** Defines a command of a program that works on a `Ctx`. Infers the types of options, arguments and answer. */
export const commandOf =
  <Ctx>() =>
  // biome-ignore lint/complexity/noBannedTypes: no options.
  <const Needed = {}, const Optional = {}, Args = null, Answer extends object = object>(
    row: CommandRow<Ctx, Needed, Optional, Args, Answer>,
  ): ProgramCommand =>
    row as unknown as ProgramCommand;

/** A program of several commands. */
export interface Program<Ctx> {
  name: string;
  commands: Readonly<Record<string, ProgramCommand>>;
  examples: readonly string[];
  /** Connects to the servers in the settings, calls `work`, and disconnects. */
  connect(env: NodeJS.ProcessEnv | undefined, work: (ctx: Ctx) => Promise<void>): Promise<void>;
}

/** The command that starts a program. Users start the compiled program by its file, and the source through npm. */
export const invocation = (program: string): string =>
  import.meta.filename.endsWith('.js') ? `node dist/cli/${program}.js` : `npm run -s ${program} --`;

/** Reads a time with its zone, such as 2026-11-05T09:30Z. Throws UsageError for any other text. */
export function readTime(option: string, given: string): Date {
  const [, day] = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.exec(given) ?? [];
  const at = new Date(given);
  // `Date` turns February 30 into a day in March.
  if (!day || Number.isNaN(at.getTime()) || !new Date(day).toISOString().startsWith(day)) {
    throw new UsageError(`--${option} needs a time with a zone, such as 2026-11-05T09:30Z`);
  }
  return at;
}
