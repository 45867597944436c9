import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { exitCodeOf, newCommand } from '../../cli/parser.ts';
import { usedMongo } from '../../dev/servers/given-mongo.ts';
import { compileService } from '../../dev/stack/compile-service.ts';
import { UsageError } from '../../shared/process/command-line.ts';
import { say, startRun } from '../support/run.ts';
import type { FigureResult, FigureRun } from './figure.ts';
import { figures } from './figures.ts';
import { runRounds } from './rounds/run-rounds.ts';

const about = `Tries to break the promises of the service: kills processes
and servers under load, empties Redis, and checks the result.

TEST_MONGO_URL=mongodb://HOST uses that MongoDB, and skips
what needs the embedded engine.

Figures: ${figures.map(({ name }) => name).join(', ')}`;

const command = newCommand('npm run faults --', about, ['PROGRAM --rounds 18 --short', 'PROGRAM --only kills,floods'])
  .option('--rounds <N>', 'runs N rounds of faults; without any option 18, with --replica-set 5')
  .option('--replica-set', 'runs the rounds on a replica set, whose primary steps down', false)
  .option('--short', 'shorter outages and fewer trials', false)
  .option('--seed <N>', 'repeats the choices of another run, which printed this seed')
  .option('--only <NAMES>', 'measures only these figures, separated by commas')
  .option('--figures', 'measures every figure, about an hour', false);

interface Options {
  seed?: string;
  rounds?: string;
  only?: string;
  figures: boolean;
  replicaSet: boolean;
  short: boolean;
}

/** `npm run faults`: tries to break the promises of the service. Resolves with exit code 0 only if none was broken. */
async function main(): Promise<number> {
  const values = command.parse().opts<Options>();
  const names = values.only?.split(',') ?? [];
  const unknown = names.filter((name) => !figures.some((figure) => figure.name === name));
  if (unknown.length > 0) throw new UsageError(`unknown figure: ${unknown.join(', ')}`);
  const seed = wholeNumber('seed', values.seed ?? String(Date.now() % 1_000_000));
  const asked = figures.filter(({ name }) => (names.length > 0 ? names.includes(name) : values.figures));
  const isGiven = Boolean(process.env.TEST_MONGO_URL);
  const chosen = asked.filter(({ needsEngine }) => !(isGiven && needsEngine));
  const asksForRounds = values.rounds !== undefined || values.replicaSet || asked.length === 0;
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
    const rounds = wholeNumber('rounds', values.rounds ?? (values.replicaSet ? '5' : '18'));
    const options = { rounds, longestMs: values.short ? 10_000 : 60_000, replicated: values.replicaSet };
    parts.unshift(['rounds', 'no violation', () => runRounds(run, options)]);
  }
  let violations = 0;
  for (const [name, goal, measure] of parts) violations += await runPart(name, goal, measure);
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

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`--${name} needs a whole number`);
  return Number(text);
}

process.exitCode = await exitCodeOf('faults', main, () => ' (npm run faults -- --help)');
process.exit();
