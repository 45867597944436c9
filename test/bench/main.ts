import { InvalidArgumentError } from 'commander';
import { newCommand, optionsOf } from '../../cli/parser.ts';
import { versionOfMongo } from '../../dev/servers/given-mongo.ts';
import { UsageError } from '../../shared/process/command-line.ts';
import { say, startRun } from '../support/run.ts';
import type { Bench } from './bench.ts';
import { measurements, needEngine } from './measurements.ts';
import { newProfiles } from './profiles.ts';
import { type Figure, reachesGoal, tableOf } from './report.ts';
import { startStack } from './stack.ts';

type Measurement = keyof typeof measurements;
const allMeasurements = Object.keys(measurements) as Measurement[];
const about = `Compares every path with the smallest program that does the
same durable work; see test/bench/README.md.

TEST_MONGO_URL=mongodb://HOST uses that MongoDB, and skips
${needEngine.join(', ')} and all figures of
MongoDB's CPU time.

Measurements: ${allMeasurements.join(', ')}`;

const command = newCommand('npm run bench --', about, [
  'PROGRAM --quick',
  'PROGRAM --only create,retrieve',
  'PROGRAM --profile create',
])
  .option('--quick', 'less stable figures, in about 14 minutes', false)
  .option('--only <NAMES>', 'only these measurements, separated by commas', chooseNames)
  .option('--rounds <N>', 'number of rounds; default: 3, with --quick 2', positive)
  .option('--rides <N>', 'whole rides a second; default: 60', positive, 60)
  .option('--profile <NAME>', 'shows the CPU profile of only this measurement', chooseNames);

interface Options {
  quick: boolean;
  only?: Measurement[];
  rounds?: number;
  rides: number;
  profile?: Measurement[];
}
const values = await optionsOf<Options>('bench', command);
const asked = values.profile ?? values.only ?? allMeasurements;
const skipped = process.env.TEST_MONGO_URL ? asked.filter((name) => needEngine.includes(name)) : [];
const names = asked.filter((name) => !skipped.includes(name));
startRun();
const figures: Figure[] = [];
let broken = 0;

const stack = await startStack(say);
const mongo = await versionOfMongo(stack.mongo.url);
console.log(mongo);
if (skipped.length > 0) console.log(`skipped, because they need the embedded engine: ${skipped.join(', ')}`);
const rounds = values.rounds ?? (values.profile ? 1 : values.quick ? 2 : 3);
const profiles = newProfiles(values.profile !== undefined);
const { quick } = values;
const bench: Bench = { stack, quick, rounds, profiles, ridesPerSecond: values.rides, say };
for (const name of names) {
  try {
    const measured = (await measurements[name](bench)).filter(({ service }) => !service.some(Number.isNaN));
    figures.push(...measured);
    // Prints each table immediately and all of them at the end, so that an interrupted run has printed its results.
    if (names.length > 1) console.log(tableOf(measured, mongo));
    await stack.clean();
  } catch (error) {
    // The measured work had a wrong result. The other measurements continue.
    broken += 1;
    say(`${name} FAILED: ${(error as Error).stack}`);
    await stack.clean();
  }
}
await stack.close();

console.log(values.profile ? profiles.text() : `${tableOf(figures, mongo)}\n\n${summary()}`);
process.exit(broken > 0 ? 1 : 0);

function summary(): string {
  const reached = figures.map(reachesGoal).filter((isReached) => isReached !== undefined);
  return `${reached.filter((isReached) => !isReached).length} of ${reached.length} goals missed`;
}

function positive(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('It must be a whole number above 0.');
  return Number(text);
}

/** The named measurements, in the order in which they are measured. */
function chooseNames(list: string): Measurement[] {
  const asked = list.split(',');
  const unknown = asked.find((name) => !allMeasurements.includes(name as Measurement));
  if (unknown !== undefined) throw new UsageError(`unknown measurement: ${unknown}`);
  return allMeasurements.filter((name) => asked.includes(name));
}
