import { asksForHelp } from '../shared/process/command-line.ts';
import { type Command, commandNamed, type Program } from './program.ts';

export const isHelpAsked = (argv: readonly string[]): boolean => asksForHelp(argv) || argv[0] === 'help';

/** The compiled program is started by its file, the source by npm. */
const isCompiled = import.meta.filename.endsWith('.js');

/** The words that start a program. */
export const invocation = (program: string): string =>
  isCompiled ? `node dist/cli/${program}.js` : `npm run -s ${program} --`;

/** The help of the command that a command line names; without one, of the program. */
export function helpFor<Place>(program: Program<Place>, argv: readonly string[]): string {
  const name = commandIn(argv);
  const command = commandNamed(program, name);
  if (!command) return overview(program);
  const parts = [usage(program, name, command), command.about];
  if (command.rows) parts.push(rows(command.rows));
  return [...parts, examples(program.name, command.examples)].join('\n\n');
}

/** What follows a wrong command line: the forms of its command, and where there is more. */
export function usageInShort<Place>(program: Program<Place>, argv: readonly string[]): string {
  const name = commandIn(argv);
  const command = commandNamed(program, name);
  if (!command) return overview(program);
  return `${usage(program, name, command)}\nMore: ${invocation(program.name)} ${name} --help`;
}

function commandIn(argv: readonly string[]): string | undefined {
  const [first, second] = argv.filter((arg) => !arg.startsWith('-'));
  return first === 'help' ? second : first;
}

function overview<Place>({ name, commands, common = '', examples: shown }: Program<Place>): string {
  const summaries = Object.fromEntries(Object.entries(commands).map(([command, { summary }]) => [command, summary]));
  const ofStack = isCompiled ? '' : '\n--port N asks the npm run dev of that port, not the newest.';
  return [
    `Usage: ${invocation(name)} COMMAND`,
    rows(summaries),
    `Each takes --help, and --json for one line of JSON.${common}${ofStack}`,
    examples(name, shown),
  ].join('\n\n');
}

const usageColumns = 60;
const indent = ' '.repeat(11);

function usage<Place>(program: Program<Place>, name: string | undefined, command: Command<Place>): string {
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
      const start = `${index === 0 ? 'Usage:' : '      '} ${invocation(program.name)} ${[name, form].filter(Boolean).join(' ')}`;
      return wrapped(start, [...optionWords, '[--json]']);
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
