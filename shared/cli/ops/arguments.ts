import os from 'node:os';
import { type PoolName, poolNames } from '../../queues.ts';
import { asksForHelp, parseCommandLine, UsageError } from '../command-line.ts';
import { type CommandName, commandNames } from './usage.ts';

const flag = { type: 'boolean', default: false } as const;
const options = { json: flag, cancel: flag, by: { type: 'string' } } as const;

/** What can be suspended. */
export const kinds = ['account', 'key', 'driver'] as const;
export type Kind = (typeof kinds)[number];

export interface OpsArguments {
  command: CommandName;
  json: boolean;
  /** Who does it, for the audit. */
  by: string;
  /** Of `pause` and `resume`. */
  pool?: PoolName;
  /** Of `suspend` and `resume`. */
  kind?: Kind;
  /** The id of what is suspended or resumed, or of the ride. */
  id: string;
  /** Of `ride`. */
  cancel: boolean;
}

/** The command that a command line names; undefined for none or an unknown one. */
export function commandOf(argv: readonly string[]): CommandName | undefined {
  const [first, second] = argv.filter((arg) => !arg.startsWith('-'));
  const name = first === 'help' ? second : first;
  return commandNames.find((command) => command === name);
}

export const isHelpAsked = (argv: readonly string[]): boolean => asksForHelp(argv) || argv[0] === 'help';

/** Reads a whole command line, or throws UsageError with what is wrong with it. */
export function readArguments(argv: readonly string[]): OpsArguments {
  const { values, positionals } = parseCommandLine({ args: [...argv], allowPositionals: true, options });
  const [name, ...words] = positionals;
  const command = commandNames.find((known) => known === name);
  if (!command) throw new UsageError(name ? `there is no command ${name}` : 'a command is missing');
  const { cancel, json, by = systemUser() } = values;
  if (cancel && command !== 'ride') throw new UsageError(`${command} does not take --cancel`);
  const [target, surplus] = targetOf(command, words);
  if (surplus !== undefined) throw new UsageError(`${command} does not take ${surplus}`);
  return { command, json, cancel, by, id: '', ...target };
}

/** The name of the system's user. In a container the user may have none. */
function systemUser(): string {
  try {
    return os.userInfo().username;
  } catch {
    return `user ${process.getuid?.()}`;
  }
}

type Target = Pick<OpsArguments, 'pool' | 'kind'> & { id?: string };

/** What a command is for, and the first word after it. */
function targetOf(command: CommandName, [first, second, third]: readonly string[]): [Target, string | undefined] {
  const pool = poolNames.find((known) => known === first);
  const kind = kinds.find((known) => known === first);
  switch (command) {
    case 'queues':
    case 'sweep':
      return [{}, first];
    case 'ride':
    case 'erase':
      if (!first) throw new UsageError(`${command} needs a RIDEID`);
      return [{ id: first }, second];
    case 'pause':
      if (!pool) throw new UsageError(unknown(first, `pause needs a POOL: ${poolNames.join(' ')}`, 'pool'));
      return [{ pool }, second];
    case 'resume':
      if (pool) return [{ pool }, second];
      break;
    case 'suspend':
      break;
  }
  if (!kind) throw new UsageError(unknown(first, `${command} needs what: ${kinds.join(', ')}`, 'kind'));
  if (!second) throw new UsageError(`${command} ${kind} needs an ID`);
  return [{ kind, id: second }, third];
}

const unknown = (given: string | undefined, needed: string, what: string): string =>
  given === undefined ? needed : `there is no ${what} ${given}; ${needed}`;
