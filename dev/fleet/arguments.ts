import { parseCommandLine, UsageError } from '../../shared/process/command-line.ts';
import type { Area } from './fleet.ts';

export const usage = `Usage: npm run fleet -- --drivers N --area LAT,LNG,KM
           [--seed N] [--speed N] [--url BASE] [--port N]
       npm run fleet -- --keys FILE --area LAT,LNG,KM
           [--seed N] [--speed N] --url BASE

Runs N simulated drivers against the drivers' API until
Ctrl-C: they go online, report positions, bid and drive their
rides. Some counter the fare, some withdraw, few cancel. At
the end they cancel their rides and go offline.

  --drivers N         number of drivers, 1 to 5000. They are
                      created on the running npm run dev and
                      revoked at the end
  --area LAT,LNG,KM   where they wait: position and radius
  --seed N            repeats a run: the same seed gives the
                      same drivers and choices
  --speed N           N times faster than real life; default:
                      SIMULATION_SPEED, or 1
  --url BASE          the service's address, for example of
                      a proxy in front of it
  --port N            uses the npm run dev on port N, not the
                      newest one
  --keys FILE         uses existing drivers: one key per line

Examples
  npm run fleet -- --drivers 200 --area 57.7,11.95,4
  npm run fleet -- --drivers 20 --area=-33.87,151.21,3 \\
    --seed 7 --speed 20
  npm run fleet -- --keys drivers.txt \\
    --area 52.52,13.4,8 --url https://rides.example`;

export interface FleetArguments {
  /** The number of drivers; undefined with --keys. */
  drivers?: number;
  keysFile?: string;
  area: Area;
  seed: number;
  speed: number;
  url?: string;
}

const text = { type: 'string' } as const;
const options = { drivers: text, area: text, seed: text, speed: text, url: text, keys: text } as const;
const maxDrivers = 5_000;

/** Reads the command line, or throws UsageError. */
export function readArguments(args: readonly string[], env: NodeJS.ProcessEnv): FleetArguments {
  const { values } = parseCommandLine({ args: withJoinedArea(args), options });
  if (values.keys !== undefined && values.drivers !== undefined) throw new UsageError('use either --drivers or --keys');
  if (values.keys !== undefined && values.url === undefined) throw new UsageError('--keys needs --url');
  if (values.keys === undefined && values.drivers === undefined) throw new UsageError('--drivers is missing');
  return {
    ...(values.keys === undefined && { drivers: wholeNumber('drivers', values.drivers, 1, maxDrivers) }),
    keysFile: values.keys,
    area: parseArea(values.area),
    seed: wholeNumber('seed', values.seed ?? String(Date.now() % 1_000_000), 0, 999_999_999),
    speed: parseSpeed(values.speed ?? (env.SIMULATION_SPEED || '1')),
    url: values.url && parseUrl(values.url),
  };
}

/** Joins the area option with its value, because the parser would read a negative latitude as an option. */
function withJoinedArea(args: readonly string[]): string[] {
  const at = args.indexOf('--area');
  const value = args[at + 1];
  if (at < 0 || value === undefined || !/^-\d/.test(value)) return [...args];
  return [...args.slice(0, at), `--area=${value}`, ...args.slice(at + 2)];
}

function parseArea(value: string | undefined): Area {
  if (value === undefined) throw new UsageError('--area is missing');
  const parts = value.split(',');
  const [lat = Number.NaN, lng = Number.NaN, km = Number.NaN] = parts.map((part) => (part.trim() ? Number(part) : NaN));
  const isArea = parts.length === 3 && Math.abs(lat) <= 90 && Math.abs(lng) <= 180 && km > 0 && km <= 1_000;
  if (!isArea) throw new UsageError('--area must be LAT,LNG,KM, such as 57.7,11.95,4');
  return { lat, lng, km };
}

function wholeNumber(name: string, value: string | undefined, least: number, most: number): number {
  const number = /^\d{1,9}$/.test(value ?? '') ? Number(value) : Number.NaN;
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
