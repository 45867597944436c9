import fs from 'node:fs/promises';
import { wrapped } from '../../dev/terminal/style.ts';
import { asksForHelp, parseCommandLine, UsageError } from '../../shared/process/command-line.ts';
import type { Bench } from './bench.ts';
import { measurements } from './measurements.ts';
import { newProfiles } from './profiles.ts';
import { newProgress } from './progress.ts';
import { type Row, rowOf, tableOf } from './report.ts';
import { startStack } from './stack.ts';

const usage = `Usage: npm run bench -- [--quick] [--only NAME[,NAME]]
           [--rounds N] [--rides N] [--json FILE]
       npm run bench -- --profile NAME

Measures every path beside the least that could do the same
durable work; test/bench/README.md says how.

  --quick         less steady figures, in 4 min, not 15
  --only NAME     these measurements
  --rounds N      so many rounds, not 3 (2 with --quick)
  --rides N       whole rides a second, not 60
  --json FILE     writes the rows to a file, too
  --profile NAME  where one measurement's CPU time goes

Measurements
${wrapped(Object.keys(measurements).join(', '), 58)
  .map((line) => `  ${line}`)
  .join('\n')}

Examples
  npm run bench -- --quick
  npm run bench -- --only create,retrieve --json rows.json
  npm run bench -- --profile create`;

if (asksForHelp(process.argv.slice(2))) {
  console.log(usage);
  process.exit();
}
const { values, names } = read();
const progress = newProgress();
const rows: Row[] = [];
let broken = 0;

const stack = await startStack(progress.say);
const ended = endOnSignal(stack);
const rounds = Number(values.rounds ?? (values.profile ? 1 : values.quick ? 2 : 3));
const profiles = newProfiles(values.profile !== undefined);
const { quick } = values;
const bench: Bench = { stack, quick, rounds, profiles, ridesPerSecond: Number(values.rides), say: progress.say };
for (const name of names) {
  try {
    const measured = (await measurements[name](bench)).map(rowOf);
    rows.push(...measured);
    // Shown at once, and all again at the end: a run that is cut off has told what it knew.
    if (names.length > 1) progress.print(tableOf(measured));
    if (values.json) await writeRows(values.json);
    await stack.clean();
  } catch (error) {
    if (ended()) break;
    // What was done wrong has no speed. The others are still measured.
    broken += 1;
    progress.say(`${name} FAILED: ${(error as Error).stack}`);
    await stack.clean();
  }
}
progress.end();
await stack.close();

console.log(values.profile ? profiles.text() : `${tableOf(rows)}\n\n${summaryOf(rows)}`);
process.exit(broken > 0 || ended() ? 1 : 0);

function writeRows(file: string): Promise<void> {
  return fs.writeFile(file, `${JSON.stringify(rows, null, 2)}\n`);
}

function summaryOf(all: readonly Row[]): string {
  const withGoal = all.filter(({ ok }) => ok !== null);
  return `${withGoal.filter(({ ok }) => ok === false).length} of ${withGoal.length} goals missed`;
}

/** The options, and the measurements that they choose. Ends the process where the command line is wrong. */
function read() {
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
      if (!/^[1-9]\d*$/.test(values[name] ?? '1')) throw new UsageError(`--${name} takes a whole number above 0`);
    }
    // What is profiled is measured once, and alone.
    return {
      values,
      names: chosen(values.profile ? [values.profile] : values.only.flatMap((list) => list.split(','))),
    };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`bench: ${error.message}\n${usage}`);
    process.exit(2);
  }
}

function chosen(asked: string[]): (keyof typeof measurements)[] {
  const all = Object.keys(measurements) as (keyof typeof measurements)[];
  const unknown = asked.find((name) => !all.includes(name as keyof typeof measurements));
  if (unknown !== undefined) throw new UsageError(`there is no measurement ${unknown}`);
  return asked.length > 0 ? all.filter((name) => asked.includes(name)) : all;
}

/** Whoever interrupts it is shown what is known so far, and nothing is left running. */
function endOnSignal({ stopPrograms }: { stopPrograms(): Promise<void> }): () => boolean {
  let isEnded = false;
  const end = () => {
    if (isEnded) process.exit(1);
    isEnded = true;
    void stopPrograms();
  };
  process.on('SIGINT', end);
  process.on('SIGTERM', end);
  return () => isEnded;
}
