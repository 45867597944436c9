import os from 'node:os';
import { type PoolName, poolNames } from '../../shared/base/queues.ts';
import { asksForHelp, parseCommandLine, UsageError } from '../../shared/process/command-line.ts';
import { type CommandName, commandNames } from './usage.ts';

const flag = { type: 'boolean', default: false } as const;
const text = { type: 'string' } as const;
const options = { json: flag, cancel: flag, send: flag, by: text, since: text, until: text, key: text } as const;

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
  /** Of `resend`: the attempts made in this stretch of time, of one key or of all. Without `send` they are only listed. */
  stretch?: { since: Date; until: Date };
  keyId?: string;
  send: boolean;
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
  const { cancel, json, send, since, until, key: keyId, by = systemUser() } = values;
  if (cancel && command !== 'ride') throw new UsageError(`${command} does not take --cancel`);
  const ofResend = Object.entries({ send, since, until, key: keyId }).find(([, value]) => value);
  if (ofResend && command !== 'resend') throw new UsageError(`${command} does not take --${ofResend[0]}`);
  const [target, surplus] = targetOf(command, words);
  if (surplus !== undefined) throw new UsageError(`${command} does not take ${surplus}`);
  const stretch = command === 'resend' ? { since: timeOf('since', since), until: timeOf('until', until) } : undefined;
  if (stretch && stretch.since >= stretch.until) throw new UsageError('--since must be before --until');
  return { command, json, cancel, by, id: '', ...target, stretch, keyId, send };
}

/** A time with its zone, such as 2026-11-05T09:30Z. */
function timeOf(option: string, given: string | undefined): Date {
  if (given === undefined) throw new UsageError(`resend needs --${option} TIME`);
  const hasZone = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(given);
  const at = new Date(given);
  if (!hasZone || Number.isNaN(at.getTime())) {
    throw new UsageError(`--${option} needs a time with its zone, such as 2026-11-05T09:30Z`);
  }
  return at;
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
    case 'resend':
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
