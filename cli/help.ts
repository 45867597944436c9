import { asksForHelp } from '../shared/process/command-line.ts';
import { type Command, commandNamed, type Program } from './program.ts';

export const wantsHelp = (argv: readonly string[]): boolean => asksForHelp(argv) || argv[0] === 'help';

/** True in the compiled program. Users start it by its file, and the source through npm. */
const isCompiled = import.meta.filename.endsWith('.js');

/** The command that starts a program. */
export const invocation = (program: string): string =>
  isCompiled ? `node dist/cli/${program}.js` : `npm run -s ${program} --`;

/** The help for the command in the command line, or for the whole program if it names none. */
export function helpFor<Ctx>(program: Program<Ctx>, argv: readonly string[]): string {
  const name = commandNameIn(argv);
  const command = commandNamed(program, name);
  if (!command) return overview(program);
  const parts = [usage(program, name, command), command.about];
  if (command.rows) parts.push(rows(command.rows));
  return [...parts, examples(program.name, command.examples)].join('\n\n');
}

/** The text that follows the error for an invalid command line: the forms of the command, and how to get more help. */
export function usageInShort<Ctx>(program: Program<Ctx>, argv: readonly string[]): string {
  const name = commandNameIn(argv);
  const command = commandNamed(program, name);
  if (!command) return overview(program);
  return `${usage(program, name, command)}\nMore: ${invocation(program.name)} ${name} --help`;
}

function commandNameIn(argv: readonly string[]): string | undefined {
  const [first, second] = argv.filter((arg) => !arg.startsWith('-'));
  return first === 'help' ? second : first;
}

function overview<Ctx>({ name, commands, common = '', examples: shown }: Program<Ctx>): string {
  const summaries = Object.fromEntries(Object.entries(commands).map(([command, { summary }]) => [command, summary]));
  const ofStack = isCompiled ? '' : '\n--port N uses the npm run dev on port N, not the newest.';
  return [
    `Usage: ${invocation(name)} COMMAND`,
    rows(summaries),
    `Each command accepts --help, and --json for JSON output.\n--version prints the version.${common}${ofStack}`,
    examples(name, shown),
  ].join('\n\n');
}

const usageColumns = 60;
const indent = ' '.repeat(11);

function usage<Ctx>(program: Program<Ctx>, name: string | undefined, command: Command<Ctx>): string {
  const { forms = [''], options = {} } = command;
  const shown = Object.entries(options).filter(
    ([option, { isHidden }]) => !isHidden && !forms.some((form) => form.includes(`--${option}`)),
  );
  const optionWords = shown.map(([option, { value, isNeeded }]) => {
    const text = [`--${option}`, value].filter(Boolean).join(' ');
    return isNeeded ? text : `[${text}]`;
  });
  return forms
    .map((form, index) => {
      const [operands = '', ...needed] = form.split(/ (?=--)/);
      const words = [index === 0 ? 'Usage:' : '      ', invocation(program.name), name, operands];
      return wrapped(words.filter(Boolean).join(' '), [...needed, ...optionWords, '[--json]']);
    })
    .join('\n');
}

function wrapped(start: string, words: readonly string[]): string {
  const lines = [start];
  for (const word of words) {
    const line = `${lines.at(-1)} ${word}`;
    if (line.length <= usageColumns) lines[lines.length - 1] = line;
    else lines.push(`${indent}${word}`);
  }
  return lines.join('\n');
}

function rows(texts: Readonly<Record<string, string>>): string {
  const width = Math.max(...Object.keys(texts).map(({ length }) => length));
  return Object.entries(texts)
    .map(([label, text]) => `  ${label.padEnd(width)}  ${text.replaceAll('\n', `\n${' '.repeat(width + 4)}`)}`)
    .join('\n');
}

const examples = (program: string, texts: readonly string[]): string =>
  [
    texts.length > 1 ? 'Examples' : 'Example',
    ...texts.map((text) => `  ${text.replaceAll('PROGRAM', invocation(program))}`),
  ].join('\n');
