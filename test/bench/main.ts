import fs from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { Bench } from './bench.ts';
import { measurements } from './measurements.ts';
import { newProfiles } from './profiles.ts';
import { newProgress } from './progress.ts';
import { type Row, rowOf, tableOf } from './report.ts';
import { startStack } from './stack.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    rounds: { type: 'string' },
    profile: { type: 'string' },
    rides: { type: 'string', default: '60' },
    json: { type: 'string' },
  },
});

// What is profiled is measured once, and alone.
const names = chosen(values.profile ? [values.profile] : values.only.flatMap((list) => list.split(',')));
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
    const figures = await measurements[name](bench);
    rows.push(...figures.map(rowOf));
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
if (values.json) await fs.writeFile(values.json, `${JSON.stringify(rows, null, 2)}\n`);
process.exit(broken > 0 || ended() ? 1 : 0);

function summaryOf(all: readonly Row[]): string {
  const withGoal = all.filter(({ ok }) => ok !== null);
  return `${withGoal.filter(({ ok }) => ok === false).length} of ${withGoal.length} goals missed`;
}

function chosen(asked: string[]): (keyof typeof measurements)[] {
  const all = Object.keys(measurements) as (keyof typeof measurements)[];
  const unknown = asked.find((name) => !all.includes(name as keyof typeof measurements));
  if (unknown === undefined) return asked.length > 0 ? all.filter((name) => asked.includes(name)) : all;
  console.error(`there is no measurement ${unknown}: there are ${all.join(', ')}`);
  process.exit(1);
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
