import type { Mode } from '../../shared/base/terms.ts';
import { asksForHelp, parseCommandLine, UsageError } from '../../shared/process/command-line.ts';
import { type CommandName, commandNames } from './usage.ts';

/** What stands after each command: words in this order, then options. All take --json. */
const taken: Record<CommandName, { words: string[]; options: string[] }> = {
  create: { words: [], options: ['name', 'mode', 'webhook-url', 'account'] },
  list: { words: [], options: ['account'] },
  rotate: { words: ['KEYID'], options: [] },
  revoke: { words: ['KEYID'], options: [] },
  'set-webhook': { words: ['KEYID', 'URL'], options: ['none'] },
  'roll-secret': { words: ['KEYID'], options: [] },
  rekey: { words: [], options: [] },
};

const text = { type: 'string' } as const;
const flag = { type: 'boolean', default: false } as const;
const options = { name: text, mode: text, 'webhook-url': text, account: text, none: flag, json: flag } as const;

export type KeysArguments = ReturnType<typeof readArguments>;

/** The command that a command line names; undefined for none or an unknown one. */
export function commandOf(argv: readonly string[]): CommandName | undefined {
  const [first, second] = argv.filter((arg) => !arg.startsWith('-'));
  const name = first === 'help' ? second : first;
  return commandNames.find((command) => command === name);
}

export const isHelpAsked = (argv: readonly string[]): boolean => asksForHelp(argv) || argv[0] === 'help';

/** Reads a whole command line, or throws UsageError with what is wrong with it. Name and mode are those of `create`. */
export function readArguments(argv: readonly string[]) {
  const { values, positionals } = parseCommandLine({ args: [...argv], allowPositionals: true, options });
  const [name, ...words] = positionals;
  const command = commandNames.find((known) => known === name);
  if (!command) throw new UsageError(name ? `there is no command ${name}` : 'a command is missing');
  checkTaken(command, words, values);
  if (command === 'create') checkNewKey(values);
  if (values.account !== undefined && !/^[^@\s]+@[^@\s]+$/.test(values.account))
    throw new UsageError('--account is an e-mail address');
  const { name: keyName = '', mode, ...others } = values;
  return { command, ...others, keyName, mode: mode as Mode, keyId: words[0] ?? '', url: words[1] ?? null };
}

function checkNewKey({ name, mode }: { name?: string; mode?: string }): void {
  if (!name) throw new UsageError('create needs --name NAME');
  if (mode !== 'test' && mode !== 'live') throw new UsageError('create needs --mode test or --mode live');
}

function checkTaken(command: CommandName, words: string[], values: Record<string, unknown>): void {
  const allowed = taken[command];
  const foreign = Object.keys(values).find((name) => values[name] && ![...allowed.options, 'json'].includes(name));
  if (foreign) throw new UsageError(`${command} does not take --${foreign}`);
  const wanted = values.none ? ['KEYID'] : allowed.words;
  const surplus = words[wanted.length];
  if (surplus !== undefined)
    throw new UsageError(`${command} does not take ${surplus}${values.none ? ' with --none' : ''}`);
  const missing = wanted.find((_, index) => !words[index]);
  if (missing) throw new UsageError(`${command} needs ${missing === 'KEYID' ? 'a KEYID' : 'a URL, or --none'}`);
}
