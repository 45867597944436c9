import fs from 'node:fs/promises';
import { versionOfMongo } from '../../dev/servers/given-mongo.ts';
import { wrapped } from '../../dev/terminal/style.ts';
import { asksForHelp, parseCommandLine, UsageError } from '../../shared/process/command-line.ts';
import { startRun } from '../support/run.ts';
import type { Bench } from './bench.ts';
import { measurements, needEngine } from './measurements.ts';
import { newProfiles } from './profiles.ts';
import { newProgress } from './progress.ts';
import { type Row, rowOf, tableOf } from './report.ts';
import { startStack } from './stack.ts';

const usage = `Usage: npm run bench -- [--quick] [--only NAME[,NAME]]
           [--rounds N] [--rides N] [--json FILE]
       npm run bench -- --profile NAME

Compares every path with the smallest program that does the
same durable work; see test/bench/README.md.

  --quick         less stable figures, in about 14 minutes
  --only NAME     only these measurements
  --rounds N      number of rounds (default 3; --quick 2)
  --rides N       whole rides a second (default 60)
  --json FILE     also write the rows to a file
  --profile NAME  show the CPU profile of one measurement

Measurements
${wrapped(Object.keys(measurements).join(', '), 58)
  .map((line) => `  ${line}`)
  .join('\n')}

TEST_MONGO_URL=mongodb://HOST uses that MongoDB, and skips
${needEngine.join(', ')} and all figures of
MongoDB's CPU time.

Examples
  npm run bench -- --quick
  npm run bench -- --only create,retrieve --json rows.json
  npm run bench -- --profile create`;

if (asksForHelp(process.argv.slice(2))) {
  console.log(usage);
  process.exit();
}
const { values, names: asked } = parse();
const skipped = process.env.TEST_MONGO_URL ? asked.filter((name) => needEngine.includes(name)) : [];
const names = asked.filter((name) => !skipped.includes(name));
startRun();
const progress = newProgress();
const rows: Row[] = [];
let broken = 0;

const stack = await startStack(progress.say);
const mongo = await versionOfMongo(stack.mongo.url);
progress.print(mongo);
if (skipped.length > 0) progress.print(`skipped, because they need the embedded engine: ${skipped.join(', ')}`);
const rounds = Number(values.rounds ?? (values.profile ? 1 : values.quick ? 2 : 3));
const profiles = newProfiles(values.profile !== undefined);
const { quick } = values;
const bench: Bench = { stack, quick, rounds, profiles, ridesPerSecond: Number(values.rides), say: progress.say };
for (const name of names) {
  try {
    const figures = await measurements[name](bench);
    const measured = figures.filter(({ service }) => !service.some(Number.isNaN)).map((figure) => rowOf(figure, mongo));
    rows.push(...measured);
    // Prints each table immediately and all of them at the end, so that an interrupted run has printed its results.
    if (names.length > 1) progress.print(tableOf(measured, mongo));
    if (values.json) await writeRows(values.json);
    await stack.clean();
  } catch (error) {
    // The measured work had a wrong result. The other measurements continue.
    broken += 1;
    progress.say(`${name} FAILED: ${(error as Error).stack}`);
    await stack.clean();
  }
}
progress.end();
await stack.close();

console.log(values.profile ? profiles.text() : `${tableOf(rows, mongo)}\n\n${summaryOf(rows)}`);
process.exit(broken > 0 ? 1 : 0);

function writeRows(file: string): Promise<void> {
  return fs.writeFile(file, `${JSON.stringify(rows, null, 2)}\n`);
}

function summaryOf(all: readonly Row[]): string {
  const withGoal = all.filter(({ ok }) => ok !== null);
  return `${withGoal.filter(({ ok }) => ok === false).length} of ${withGoal.length} goals missed`;
}

/** Parses the command line: the options and the chosen measurements. Exits if the command line is wrong. */
function parse() {
  try {
    const { values } = parseCommandLine({
      options: {
        quick: { type: 'boolean', default: false },
        only: { type: 'string', multiple: true, default: [] },
        rounds: { type: 'string' },
        profile: { type: 'string' },
        rides: { type: 'string', default: '60' },
        json: { type: 'string' },
      },
    });
    for (const name of ['rounds', 'rides'] as const) {
      if (!/^[1-9]\d*$/.test(values[name] ?? '1')) throw new UsageError(`--${name} needs a whole number above 0`);
    }
    // `--profile` names the only measurement to run.
    return {
      values,
      names: chooseNames(values.profile ? [values.profile] : values.only.flatMap((list) => list.split(','))),
    };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`bench: ${error.message}\n${usage}`);
    process.exit(2);
  }
}

function chooseNames(asked: string[]): (keyof typeof measurements)[] {
  const all = Object.keys(measurements) as (keyof typeof measurements)[];
  const unknown = asked.find((name) => !all.includes(name as keyof typeof measurements));
  if (unknown !== undefined) throw new UsageError(`unknown measurement: ${unknown}`);
  return asked.length > 0 ? all.filter((name) => asked.includes(name)) : all;
}
