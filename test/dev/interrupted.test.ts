import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { constants } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { exitOf, isAlive } from '../../dev/servers/processes.ts';
import { scaled } from '../support/machine-speed.ts';
import { descendantsOf, runFolder } from '../support/run.ts';
import { until } from '../support/until.ts';

const servers = ['mongo-engine.ts', 'redis-server'];
const tests = [...servers, 'mocha/lib/nodejs/worker.cjs'];
const processes = [...servers, '/api/main.js'];

/** Each command is interrupted as soon as it has processes whose command lines contain these texts. */
const runs: [command: string, signal: 'SIGINT' | 'SIGTERM', target: 'npm' | 'group', running: string[]][] = [
  ['test', 'SIGTERM', 'npm', tests],
  ['test:pages', 'SIGTERM', 'npm', tests],
  ['test:stack', 'SIGINT', 'npm', tests],
  ['test:stack', 'SIGINT', 'group', tests],
  ['test:browser', 'SIGTERM', 'npm', [...tests, '--headless']],
  ['test:docs', 'SIGINT', 'npm', servers],
  ['test:faults', 'SIGTERM', 'npm', processes],
  ['test:replica-set', 'SIGINT', 'npm', tests],
  ['faults -- --rounds 1 --short', 'SIGTERM', 'npm', processes],
  ['bench -- --quick --only create', 'SIGINT', 'npm', processes],
];

const cache = path.resolve('.cache');

describe('an interrupted run', function () {
  this.timeout(300_000);
  let folder: string;
  let mark: string;
  let npm: ChildProcess;

  before(function () {
    // The processes of a run are found in Linux's /proc.
    if (process.platform !== 'linux') this.skip();
  });
  beforeEach(() => {
    folder = runFolder();
    mark = `RUN_MARK=${randomUUID()}`;
  });
  afterEach(async () => {
    for (const pid of processesOf(mark, npm)) process.kill(pid, 'SIGKILL');
    await rm(folder, { recursive: true });
  });

  for (const [command, signal, target, running] of runs) {
    it(`npm run ${command} leaves nothing behind after ${signal} to ${target}`, async () => {
      const { PATH, HOME, TEST_SLOWNESS } = process.env;
      const [name, value] = mark.split('=') as [string, string];
      npm = spawn('npm', ['run', ...command.split(' ')], {
        env: { PATH, HOME, TEST_SLOWNESS, TMPDIR: folder, [name]: value },
        stdio: ['ignore', 'ignore', 'pipe'],
        detached: true,
      });
      const complaints = text(npm.stderr as NodeJS.ReadableStream);
      const exited = exitOf(npm);
      await until(async () => {
        if (npm.exitCode !== null) throw new Error(`${command} ended: ${await complaints}`);
        const lines = processesOf(mark, npm).map(commandLine);
        return running.every((part) => lines.some((line) => line.includes(part)));
      }, 100);

      const pids = processesOf(mark, npm);
      process.kill((target === 'group' ? -1 : 1) * (npm.pid as number), signal);
      const lastMoment = performance.now() + scaled(5_000);
      let left: number[];
      do {
        await new Promise(setImmediate);
        left = [...new Set([...pids, ...processesOf(mark, npm)])].filter(isAlive);
      } while (left.length > 0 && performance.now() < lastMoment);

      expect(left.map(commandLine)).to.deep.equal([]);
      expect(await exited).to.be.oneOf([`exit code ${128 + constants.signals[signal]}`, `killed by ${signal}`]);
      expect((await readdir(folder)).filter((each) => !/^(tsx|node-compile-cache)/.test(each))).to.deep.equal([]);
      expect((await foldersOf(pids)).map((each) => path.basename(each))).to.deep.equal([]);
    });
  }
});

/** The marked processes, and all that npm's process has started: the service's processes do not inherit the mark. */
function processesOf(mark: string, npm: ChildProcess): number[] {
  const marked = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && proc(pid, 'environ').includes(mark));
  return [...new Set([...marked.map(Number), ...descendantsOf(npm.pid as number)])];
}

const commandLine = (pid: number): string => proc(pid, 'cmdline').replaceAll('\0', ' ');

/** An empty text if the process has ended or belongs to another user. */
function proc(pid: number | string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

/** The temporary folders in the project's cache that belong to one of these processes. */
async function foldersOf(pids: readonly number[]): Promise<string[]> {
  const found: string[] = [];
  for (const name of await readdir(cache)) {
    const owner = await readFile(path.join(cache, name, 'owner'), 'utf8').catch(() => '');
    if (pids.includes(Number(owner.split(' ')[0]))) found.push(path.join(cache, name));
  }
  return found;
}
