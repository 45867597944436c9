import { newCommand } from '../../cli/parser.ts';
import { UsageError } from '../../shared/process/command-line.ts';
import type { Area } from './start-fleet.ts';

export interface FleetArguments {
  /** The number of drivers; undefined with --keys. */
  drivers?: number;
  /** The file of `--keys`. */
  keys?: string;
  area: Area;
  seed: number;
  speed: number;
  url?: string;
  /** The port of the `npm run dev` to use; undefined means the newest one. */
  port?: string;
}

/** Reads the command line. Throws UsageError if it is invalid. */
export function readArguments(argv: readonly string[], env: NodeJS.ProcessEnv): FleetArguments {
  const about = `Runs simulated drivers against the drivers' API until
Ctrl-C: they go online, report positions, bid and drive
their rides. Some counter the fare, some withdraw, few
cancel. At the end they cancel their rides and go offline.`;
  const args = newCommand('npm run fleet --', about, [
    'PROGRAM --drivers 200 --area 57.7,11.95,4',
    'PROGRAM --drivers 20 --area -33.87,151.21,3 \\\n    --seed 7 --speed 20',
    'PROGRAM --keys drivers.txt \\\n    --area 52.52,13.4,8 --url https://rides.example',
  ])
    .usage('--drivers <N> --area <LAT,LNG,KM> [options]')
    .option(
      '--drivers <N>',
      'number of drivers, 1 to 5000. They are created on the running npm run dev and revoked at the end',
      (text) => wholeNumber('drivers', text, 1, 5_000),
    )
    .option('--keys <FILE>', 'uses existing drivers instead: one key per line')
    .requiredOption('--area <LAT,LNG,KM>', 'where they wait: position and radius', parseArea)
    .option(
      '--seed <N>',
      'repeats a run: the same seed gives the same drivers and choices',
      (text) => wholeNumber('seed', text, 0, 999_999_999),
      Date.now() % 1_000_000,
    )
    .option('--speed <N>', 'N times faster than real life; default: SIMULATION_SPEED, or 1')
    .option('--url <BASE>', "the service's address, for example of a proxy in front of it", parseUrl)
    .option('--port <N>', 'uses the npm run dev on port N, not the newest one')
    .parse(argv, { from: 'user' })
    .opts<Omit<FleetArguments, 'speed'> & { speed?: string }>();
  if (args.keys !== undefined && args.drivers !== undefined) throw new UsageError('use either --drivers or --keys');
  if (args.keys !== undefined && args.url === undefined) throw new UsageError('--keys needs --url');
  if (args.keys === undefined && args.drivers === undefined) throw new UsageError('--drivers is missing');
  return { ...args, speed: parseSpeed(args.speed ?? (env.SIMULATION_SPEED || '1')) };
}

function parseArea(value: string): Area {
  const parts = value.split(',');
  const [lat = Number.NaN, lng = Number.NaN, km = Number.NaN] = parts.map((part) => (part.trim() ? Number(part) : NaN));
  const isArea = parts.length === 3 && Math.abs(lat) <= 90 && Math.abs(lng) <= 180 && km > 0 && km <= 1_000;
  if (!isArea) throw new UsageError('--area must be LAT,LNG,KM, such as 57.7,11.95,4');
  return { lat, lng, km };
}

function wholeNumber(name: string, value: string, least: number, most: number): number {
  const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= least && number <= most)) {
    throw new UsageError(`--${name} must be a whole number from ${least} to ${most}`);
  }
  return number;
}

function parseSpeed(value: string): number {
  const speed = Number(value);
  if (!(speed > 0 && speed <= 1_000)) throw new UsageError('--speed must be a number above 0, up to 1000');
  return speed;
}

function parseUrl(value: string): string {
  const isHttp = URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
  if (!isHttp) throw new UsageError('--url must be an address such as http://127.0.0.1:4100');
  return value.replace(/\/+$/, '');
}
