import { parseCommandLine, UsageError } from '../shared/process/command-line.ts';

interface Option {
  type: 'string' | 'boolean';
  /** The name of its value in the usage, such as `NAME`. */
  value?: string;
  /** The usage shows it without brackets. `read` checks it. */
  isNeeded?: true;
  /** Accepted without effect, and not shown. */
  isHidden?: true;
}

type Options = Readonly<Record<string, Option>>;

type Values<O extends Options> = { [Name in keyof O]?: O[Name]['type'] extends 'boolean' ? boolean : string };

/** The words after a command's name. */
export interface Words {
  next(): string | undefined;
  /** The next word. Throws UsageError, `COMMAND needs WHAT`, without one. */
  need(what: string): string;
  /** Throws UsageError, `COMMAND does not take WORD`, if there is another word. */
  end(condition?: string): void;
}

/** One command. Texts are wrapped at 60 columns; `PROGRAM` in an example is replaced by what starts the program. */
interface CommandRow<Place, O extends Options, Args, Answer> {
  /** Its line in the list of commands. */
  summary: string;
  /** The words after its name as the usage shows them: a line for each form. */
  forms?: readonly string[];
  /** Besides `--json`, which every command takes. */
  options?: O;
  about: string;
  /** The rows under the text of its help, by what they explain. */
  rows?: Readonly<Record<string, string>>;
  examples: readonly string[];
  /** Reads the command line. Throws UsageError. */
  read(words: Words, values: Values<O>): Args;
  /** Does the work. Resolves with the answer, as `--json` prints it. */
  run(place: Place, args: Args): Promise<Answer>;
  /** The lines that people read. */
  print(answer: Answer, place: Place): string[];
}

interface Result {
  answer: object;
  lines(): string[];
}

export type Command<Place> = Pick<
  CommandRow<Place, Options, unknown, object>,
  'summary' | 'forms' | 'options' | 'about' | 'rows' | 'examples'
> & {
  /** Reads the command line, and returns the function that does the work. */
  prepare(words: Words, values: Readonly<Record<string, unknown>>): (place: Place) => Promise<Result>;
};

/** A command of a program that works on a `Place`: options, arguments and answer have types of their own in each. */
export function commandOf<Place>() {
  return <const O extends Options, Args, Answer extends object>(
    row: CommandRow<Place, O, Args, Answer>,
  ): Command<Place> => ({
    ...row,
    prepare(words, values) {
      const args = row.read(words, values as Values<O>);
      return async (place) => {
        const answer = await row.run(place, args);
        return { answer, lines: () => row.print(answer, place) };
      };
    },
  });
}

/** A program of several commands. */
export interface Program<Place> {
  name: string;
  commands: Readonly<Record<string, Command<Place>>>;
  /** More on what all commands take. */
  common?: string;
  examples: readonly string[];
  /** Connects as the settings say, calls `work`, and disconnects. */
  connect(env: NodeJS.ProcessEnv | undefined, work: (place: Place) => Promise<void>): Promise<void>;
}

/** Reads a whole command line. Throws UsageError with what is wrong with it. */
export function readCommandLine<Place>(
  program: Program<Place>,
  argv: readonly string[],
): { run(place: Place): Promise<Result>; asJson: boolean } {
  const ofCommands = Object.values(program.commands).flatMap(({ options = {} }) => Object.entries(options));
  const { values, positionals } = parseCommandLine({
    args: [...argv],
    allowPositionals: true,
    options: Object.fromEntries([...ofCommands, ['json', { type: 'boolean' }]] as [string, Option][]),
  });
  const [name, ...rest] = positionals;
  if (name === undefined) throw new UsageError('a command is missing');
  const command = commandNamed(program, name);
  if (!command) throw new UsageError(`there is no command ${name}`);
  const { json = false, ...given } = values;
  const foreign = Object.keys(given).find((option) => !Object.hasOwn(command.options ?? {}, option));
  if (foreign) throw new UsageError(`${name} does not take --${foreign}`);
  const words = wordsOf(name, rest);
  const run = command.prepare(words, given);
  words.end();
  return { run, asJson: json === true };
}

export const commandNamed = <Place>(
  { commands }: Program<Place>,
  name: string | undefined,
): Command<Place> | undefined => (name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined);

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
        throw new UsageError([command, 'does not take', surplus, condition].filter(Boolean).join(' '));
    },
  };
}
