import type { NewDriver } from '../../shared/drivers/manage-drivers.ts';
import { asksForHelp, parseCommandLine, UsageError } from '../../shared/process/command-line.ts';
import { type CommandName, commandNames } from './usage.ts';

const text = { type: 'string' } as const;
const options = {
  name: text,
  phone: text,
  vehicle: text,
  plate: text,
  'car-type': text,
  seats: text,
  rating: text,
  json: { type: 'boolean', default: false },
} as const;

export interface DriversArguments {
  command: CommandName;
  json: boolean;
  /** Of every command but `create` and `list`. */
  driverId: string;
  /** Of `create`. */
  driver: NewDriver;
}

/** The command that a command line names; undefined for none or an unknown one. */
export function commandOf(argv: readonly string[]): CommandName | undefined {
  const [first, second] = argv.filter((arg) => !arg.startsWith('-'));
  const name = first === 'help' ? second : first;
  return commandNames.find((command) => command === name);
}

export const isHelpAsked = (argv: readonly string[]): boolean => asksForHelp(argv) || argv[0] === 'help';

/** Reads a whole command line, or throws UsageError with what is wrong with it. */
export function readArguments(argv: readonly string[]): DriversArguments {
  const { values, positionals } = parseCommandLine({ args: [...argv], allowPositionals: true, options });
  const [name, driverId = '', ...surplus] = positionals;
  const command = commandNames.find((known) => known === name);
  if (!command) throw new UsageError(name ? `there is no command ${name}` : 'a command is missing');
  const { json, ...fields } = values;
  const takesId = command !== 'create' && command !== 'list';
  const unwanted = takesId ? surplus[0] : positionals[1];
  if (unwanted !== undefined) throw new UsageError(`${command} does not take ${unwanted}`);
  if (takesId && !driverId) throw new UsageError(`${command} needs a DRIVERID`);
  const [foreign] = command === 'create' ? [] : Object.keys(fields);
  if (foreign) throw new UsageError(`${command} does not take --${foreign}`);
  return { command, json, driverId, driver: newDriver(command, fields) };
}

type Fields = { [name in Exclude<keyof typeof options, 'json'>]?: string };

function newDriver(command: CommandName, fields: Fields): NewDriver {
  const needed = ['name', 'phone', 'vehicle', 'plate', 'car-type', 'seats'] as const;
  const missing = command === 'create' && needed.find((field) => !fields[field]);
  if (missing) throw new UsageError(`create needs --${missing}`);
  const { name = '', phone = '', vehicle = '', plate = '', seats, rating } = fields;
  return {
    name,
    phone,
    vehicle,
    plate,
    carType: fields['car-type'] as NewDriver['carType'],
    seats: numberIn('seats', seats) ?? 0,
    rating: numberIn('rating', rating),
  };
}

function numberIn(option: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (value.trim() === '' || !Number.isFinite(Number(value))) throw new UsageError(`--${option} takes a number`);
  return Number(value);
}
