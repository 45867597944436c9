import { execFileSync, spawn } from 'node:child_process';
import { parseArgs } from 'node:util';
import { checks } from './checks.mjs';

/**
 * Runs the checks and counts them. It continues after a failure and repeats the failures at its end. It is JavaScript
 * without packages, because the first check of `.ci/run` installs the packages.
 */

const usage = `Usage: npm run check -- [--only NAME[,NAME]] [--since REV] [--ci]
       npm run check -- --list

Runs every check, or a part of them, and prints a table of their cost.

  --only NAME   runs only these checks
  --since REV   runs only the checks that the changes since REV concern,
                also those that are not committed
  --ci          runs only the checks that .ci/run runs for each change
  --list        lists the checks and what each of them proves`;

const shownLines = 80;

/** Exits with a message if the command line is wrong. */
function commandLine() {
  try {
    const { values } = parseArgs({
      options: {
        only: { type: 'string', multiple: true },
        since: { type: 'string' },
        ci: { type: 'boolean' },
        list: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    });
    const only = values.only?.flatMap((names) => names.split(','));
    const unknown = only?.find((name) => !checks.some((check) => check.name === name));
    if (unknown !== undefined) throw new Error(`there is no check named ${unknown}: --list shows them all`);
    return { ...values, only };
  } catch (error) {
    console.error(`${error.message}\n\n${usage}`);
    process.exit(2);
  }
}

/** The files that have changed since a revision, or that are new. */
function changedSince(revision) {
  const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).split('\n').filter(Boolean);
  return [...git('diff', '--name-only', revision), ...git('ls-files', '--others', '--exclude-standard')];
}

function chosenChecks({ only, since, ci }) {
  const changed = since === undefined ? undefined : changedSince(since);
  const concerns = ({ paths }) => !paths || changed.some((file) => paths.some((path) => file.startsWith(path)));
  return checks.filter(
    (check) =>
      (!only || only.includes(check.name)) &&
      (!ci || check.ci) &&
      (!changed || (changed.length > 0 && concerns(check))),
  );
}

let running;
let stoppedBy;

/** Runs a command in a process group of its own. Its output is shown, and its end is kept. */
function run(command) {
  const startedAt = performance.now();
  // bash adds up the CPU time of all processes of the command that have ended.
  const child = spawn('bash', ['-c', `(${command}\n); code=$?; times >&3; exit $code`], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
  });
  running = child;
  let output = '';
  let times = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      process.stdout.write(text);
      output = (output + text).slice(-200_000);
    });
  }
  child.stdio[3].setEncoding('utf8').on('data', (text) => {
    times += text;
  });
  return new Promise((resolve) => {
    child.on('close', (code) => {
      running = undefined;
      const cpuSeconds = [...times.matchAll(/(\d+)m([\d.]+)s/g)].reduce((sum, [, m, s]) => sum + 60 * m + Number(s), 0);
      resolve({ code, output, cpuSeconds, wallSeconds: (performance.now() - startedAt) / 1_000 });
    });
  });
}

/** The counts of mocha's summary. A pending test counts as failed. */
function countTests(output) {
  const count = (word) =>
    Number(
      output
        .match(new RegExp(`^ +(\\d+) ${word}\\b`, 'gm'))
        ?.at(-1)
        ?.match(/\d+/)?.[0] ?? 0,
    );
  return { passed: count('passing'), failed: count('failing') + count('pending') };
}

/** The failures in mocha's summary, or the last lines of another command. */
function failuresIn(output) {
  const lines = output.trimEnd().split('\n');
  const summary = lines.findLastIndex((line) => /^ +\d+ failing$/.test(line));
  return lines
    .slice(summary < 0 ? -40 : summary)
    .slice(0, shownLines)
    .join('\n');
}

function stop(signal) {
  stoppedBy = signal;
  if (!running) process.exit(1);
  const { pid } = running;
  process.kill(-pid, signal);
  setTimeout(() => process.kill(-pid, 'SIGKILL'), 4_000).unref();
}

const options = commandLine();
if (options.help) console.log(usage);
else if (options.list) for (const { name, proves } of checks) console.log(`${name.padEnd(20)}${proves}`);
else {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => stop(signal));
  const rows = [];
  const failures = [];
  for (const { name, command } of chosenChecks(options)) {
    console.log(`\n== ${name}: ${command}`);
    const { code, output, cpuSeconds, wallSeconds } = await run(command);
    if (stoppedBy) process.exit(1);
    const { passed, failed } = countTests(output);
    const isFailed = code !== 0 || failed > 0;
    if (isFailed) failures.push(`== ${name} failed (exit ${code}):\n${failuresIn(output)}\n`);
    rows.push({ name, passed, failed, isFailed, cpuSeconds, wallSeconds });
  }
  const column = (value, width = 8) => String(value).padStart(width);
  console.log(`\n${'check'.padEnd(20)}${['tests', 'CPU s', 'wall s'].map((title) => column(title)).join('')}`);
  for (const { name, passed, failed, isFailed, cpuSeconds, wallSeconds } of rows) {
    const figures = [passed + failed || '', Math.round(cpuSeconds), Math.round(wallSeconds)].map((value) =>
      column(value),
    );
    console.log(`${name.padEnd(20)}${figures.join('')}${isFailed ? '  failed' : ''}`);
  }
  for (const failure of failures) console.log(`\n${failure}`);
  // A check counts as one test more, so that a command without tests is counted too.
  const sum = (field) => rows.reduce((total, row) => total + Number(row[field]), 0);
  console.log(`\n${sum('passed') + rows.length - failures.length} passed, ${sum('failed') + failures.length} failed`);
  process.exitCode = failures.length > 0 ? 1 : 0;
}
