import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import { promisify } from 'node:util';
import { usedMongo } from '../../dev/servers/given-mongo.ts';
import { compileService } from '../../dev/stack/compile-service.ts';
import { wrapped } from '../../dev/terminal/style.ts';
import { asksForHelp, parseCommandLine, UsageError } from '../../shared/process/command-line.ts';
import { startRun } from '../support/run.ts';
import type { FigureResult, FigureRun } from './figure.ts';
import { figures } from './figures.ts';
import { fuzz } from './fuzz/fuzz.ts';
import { runRounds } from './rounds/run-rounds.ts';

const usage = `Usage: npm run faults -- [--rounds N [--replica-set]]
           [--only NAME[,NAME]] [--figures]
           [--fuzz [--cases N]] [--short] [--seed N]

Tries to break the promises of the service: kills processes
and servers under load, empties Redis, and checks the result.

  --rounds N     run N rounds of faults; without any option
                 18, with --replica-set 5
  --replica-set  run the rounds on a replica set, whose
                 primary steps down
  --short        shorter outages and fewer trials
  --seed N       repeat the choices of another run, which
                 printed this seed
  --only NAME    measure only these figures
  --figures      measure every figure, about an hour
  --fuzz         send 100,000 generated requests, or --cases N

TEST_MONGO_URL=mongodb://HOST uses that MongoDB, and skips
what needs the embedded engine.

Figures
${wrapped(figures.map(({ name }) => name).join(', '), 58)
  .map((line) => `  ${line}`)
  .join('\n')}

Examples
  npm run faults -- --rounds 18 --short
  npm run faults -- --only kills,races
  npm run faults -- --fuzz --cases 20000`;

/** `npm run faults`: tries to break the promises of the service. Resolves with exit code 0 only if none was broken. */
async function main(): Promise<number> {
  if (asksForHelp(process.argv.slice(2))) {
    console.log(usage);
    return 0;
  }
  const { values } = parseCommandLine({
    options: {
      seed: { type: 'string' },
      rounds: { type: 'string' },
      cases: { type: 'string', default: '100000' },
      only: { type: 'string' },
      figures: { type: 'boolean', default: false },
      fuzz: { type: 'boolean', default: false },
      'replica-set': { type: 'boolean', default: false },
      short: { type: 'boolean', default: false },
    },
  });
  const names = values.only?.split(',') ?? [];
  const unknown = names.filter((name) => !figures.some((figure) => figure.name === name));
  if (unknown.length > 0) throw new UsageError(`unknown figure: ${unknown.join(', ')}`);
  const seed = wholeNumber('seed', values.seed ?? String(Date.now() % 1_000_000));
  const asked = figures.filter(({ name }) => (names.length > 0 ? names.includes(name) : values.figures));
  const isGiven = Boolean(process.env.TEST_MONGO_URL);
  const chosen = asked.filter(({ needsEngine }) => !(isGiven && needsEngine));
  const asksForRounds = values.rounds !== undefined || values['replica-set'] || (asked.length === 0 && !values.fuzz);
  const withRounds = asksForRounds && !isGiven;
  const skipped = asked.filter((figure) => !chosen.includes(figure)).map(({ name }) => name);
  if (asksForRounds && !withRounds) skipped.push('rounds');

  startRun();
  const mongo = await usedMongo();
  console.log(`seed: ${seed}\nbuild: ${await commit()}\n${mongo}`);
  if (skipped.length > 0) console.log(`skipped, because they need the embedded engine: ${skipped.join(', ')}`);
  const build = await compileService();
  const run: FigureRun = { build, seed, short: values.short, say };
  const parts: [name: string, goal: string, measure: () => Promise<FigureResult>][] = chosen.map((figure) => {
    return [figure.name, figure.goal, () => figure.measure(run)];
  });
  if (withRounds) {
    const rounds = wholeNumber('rounds', values.rounds ?? (values['replica-set'] ? '5' : '18'));
    const options = { rounds, longestMs: values.short ? 10_000 : 60_000, replicated: values['replica-set'] };
    parts.unshift(['rounds', 'no violation', () => runRounds(run, options)]);
  }
  if (values.fuzz) {
    const cases = wholeNumber('cases', values.cases);
    parts.push(['fuzz', 'no 5xx, no exit', () => fuzz({ ...run, cases })]);
  }
  let violations = 0;
  try {
    for (const [name, goal, measure] of parts) violations += await runPart(name, goal, measure);
  } finally {
    await fs.rm(build, { recursive: true, force: true });
  }
  console.log(`${mongo}\nviolations: ${violations}`);
  return violations === 0 ? 0 : 1;
}

/** The short hash of the measured commit, with a note if the working tree has changes. */
async function commit(): Promise<string> {
  const git = (...args: string[]) => promisify(execFile)('git', args, { cwd: import.meta.dirname });
  try {
    const { stdout: changes } = await git('status', '--porcelain');
    const { stdout: hash } = await git('rev-parse', '--short', 'HEAD');
    return hash.trim() + (changes === '' ? '' : ', changed');
  } catch {
    return 'unknown';
  }
}

/**
 * Runs one part, prints its result, and resolves with the number of violations. A part that throws counts as one
 * violation.
 */
async function runPart(name: string, goal: string, measure: () => Promise<FigureResult>): Promise<number> {
  console.log(`\n== ${name}: ${goal}`);
  const { reached, violations } = await measure().catch((error: Error) => ({
    reached: 'not measured',
    violations: [`failed with: ${error.message}`],
  }));
  for (const violation of violations.slice(0, 20)) console.log(`violation: ${violation}`);
  if (violations.length > 20) console.log(`and ${violations.length - 20} more`);
  console.log(`${name}: ${reached}`);
  return violations.length;
}

const startedAt = performance.now();

function say(line: string): void {
  console.log(`${((performance.now() - startedAt) / 1_000).toFixed(1).padStart(7)} s  ${line}`);
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`--${name} needs a whole number`);
  return Number(text);
}

process.exitCode = await main().catch((error: Error) => {
  const isUsage = error instanceof UsageError;
  console.error(`faults: ${error.message}${isUsage ? `\n${usage}` : ''}`);
  return isUsage ? 2 : 1;
});
process.exit();
