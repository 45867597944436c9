import fs from 'node:fs/promises';
import { exitCodeOf } from '../cli/parser.ts';
import { ConfigError } from '../shared/base/errors.ts';
import { UsageError } from '../shared/process/command-line.ts';
import { showFigures } from './fleet/figures.ts';
import { type FleetArguments, readArguments } from './fleet/fleet-arguments.ts';
import { Refusal } from './fleet/gateway-client.ts';
import { startFleet } from './fleet/start-fleet.ts';
import { stackSettings } from './stack/asked-stack.ts';
import { aborted, endSignal } from './stack/signals.ts';
import { reachableHost } from './stack/stack-settings.ts';

/**
 * `npm run fleet`: runs simulated drivers on a running stack, or with the keys of existing drivers on another service.
 */
process.exitCode = await exitCodeOf('fleet', main, () => ' (npm run fleet -- --help)', problemOf);
process.exit();

async function main(): Promise<number> {
  const args = readArguments(process.argv.slice(2), process.env);
  const ending = endSignal();
  if (args.keys !== undefined && args.url !== undefined) {
    await drive(args, args.url, await readKeysFile(args.keys), ending);
    return 0;
  }
  const env = await stackSettings('fleet', args.port);
  const url = args.url ?? `http://${reachableHost(env.HOST)}:${env.PORT || 4100}`;
  // Imported late, because it loads the MongoDB driver: an invalid command line is reported before that.
  const { dismissDrivers, hireDrivers } = await import('./fleet/hire.ts');
  const { withDatabase } = await import('./stack/database.ts');
  await withDatabase(env.MONGO_URL ?? '', async () => {
    const hired = await hireDrivers(args.drivers ?? 0, args.seed);
    const keys = hired.map(({ key }) => key);
    const dismiss = () => dismissDrivers(hired.map(({ driverId }) => driverId));
    await drive(args, url, keys, ending).finally(dismiss);
  });
  return 0;
}

/** Drives until a signal arrives or the output is closed. */
async function drive(
  { area, seed, speed }: FleetArguments,
  url: string,
  keys: readonly string[],
  ending: AbortSignal,
): Promise<void> {
  console.error(`fleet: ${keys.length} drivers at ${url}, seed ${seed}; press Ctrl-C to stop`);
  const options = { url, keys, area, seed, drivingSpeed: speed, thinkingSpeed: speed };
  const fleet = await startFleet(options, ending);
  const endLine = showFigures(fleet.figures);
  await aborted(ending);
  await fleet.stop();
  endLine();
  const { lastError } = fleet.figures;
  if (lastError) console.error(`fleet: last error: ${lastError}`);
  console.error('fleet: all drivers are offline');
}

async function readKeysFile(file: string): Promise<string[]> {
  const text = await fs.readFile(file, 'utf8').catch(({ code }) => {
    throw new UsageError(`--keys: ${file} cannot be read (${code})`);
  });
  const keys = text.split('\n').flatMap((line) => line.trim() || []);
  const wrong = keys.findIndex((key) => !key.startsWith('svc_driver_'));
  if (wrong >= 0) throw new UsageError(`--keys: entry ${wrong + 1} of ${file} is not a driver's key`);
  if (keys.length === 0) throw new UsageError(`--keys: ${file} has no key`);
  return keys;
}

function problemOf(error: Error): string {
  if (error instanceof ConfigError || error instanceof Refusal) return error.message;
  const { code } = (error.cause ?? error) as { code?: string };
  return code ? `the service does not answer (${code})` : error.message;
}
