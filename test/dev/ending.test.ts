import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readlinkSync } from 'node:fs';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { isAlive } from '../../dev/servers/processes.ts';
import { namedTemporaryFolder, removeAbandonedFolders, temporaryFolder } from '../../dev/servers/temporary-folder.ts';
import { until } from '../support/until.ts';

/** A process like `npm run dev`: it has a child that ignores SIGTERM, and stops when its end signal aborts. */
const script = `
  const { endSignal, aborted } = await import('./dev/stack/signals.ts');
  const { endWithThisProcess } = await import('./dev/servers/processes.ts');
  const { spawn } = await import('node:child_process');
  const ending = endSignal();
  const child = spawn('sh', ['-c', 'trap "" TERM; echo ready; while :; do sleep 1; done'], { detached: true });
  endWithThisProcess(child);
  child.stdout.once('data', () => console.error(child.pid));
  await aborted(ending);
  console.log('stopping');
  child.kill('SIGKILL');
  process.exit(0);`;
const command = [process.execPath, '--import', 'tsx', '--input-type=module', '--eval', script];

async function childOf({ stderr }: ChildProcess): Promise<number> {
  const [chunk] = await once(stderr as NodeJS.ReadableStream, 'data');
  return Number(chunk);
}

describe('a child process of npm run dev or npm run demo', () => {
  for (const [signal, exit] of [
    ['SIGKILL', [null, 'SIGKILL']],
    ['SIGHUP', [0, null]],
  ] as const) {
    it(`a child process that hangs ends after a ${signal} of the main process`, async () => {
      const main = spawn(command[0] as string, command.slice(1), { stdio: ['ignore', 'ignore', 'pipe'] });
      const child = await childOf(main);
      main.kill(signal);
      expect(await once(main, 'exit')).to.deep.equal(exit);
      await until(async () => !isAlive(child));
    });
  }

  it('a child process ends when the reader of its output closes the pipe, even before any output', async function () {
    // Only GNU tail ends as soon as the pipe is closed. Other versions end at the next write.
    if (process.platform !== 'linux') this.skip();
    const shell = ['-c', '"$@" | (read -r line <&3); wait', 'sh', ...command];
    const main = spawn('sh', shell, { stdio: ['ignore', 'ignore', 'pipe', 'pipe'] });
    const child = await childOf(main);
    expect(isAlive(child)).to.equal(true);
    (main.stdio[3] as NodeJS.WritableStream).end('\n');
    await until(async () => !isAlive(child));
  });
});

describe('temporary folders', () => {
  const namespace = process.platform === 'linux' ? readlinkSync('/proc/self/ns/pid') : '';
  const dead = `999999999 ${namespace}`;

  it('the next start removes folders of killed processes, but not those of another container', async () => {
    const own = await temporaryFolder('test');
    const abandoned = await temporaryFolder('test');
    const elsewhere = await temporaryFolder('test');
    const unknown = await fs.mkdtemp(path.join(os.tmpdir(), 'rides-test-'));
    await fs.writeFile(path.join(abandoned, 'owner'), dead);
    await fs.writeFile(path.join(elsewhere, 'owner'), '999999999 pid:[1]');
    await removeAbandonedFolders();
    const left = await fs.readdir(os.tmpdir());
    expect(left).to.include.members([own, elsewhere, unknown].map((folder) => path.basename(folder)));
    expect(left).not.to.include(path.basename(abandoned));
    for (const folder of [own, elsewhere, unknown]) await fs.rm(folder, { recursive: true });
  });

  it('a temporary folder with a fixed name is taken over when its owner has ended', async () => {
    const folder = await namedTemporaryFolder(`test-${process.pid}`);
    await fs.writeFile(path.join(folder, 'owner'), dead);
    expect(await namedTemporaryFolder(`test-${process.pid}`)).to.equal(folder);
    expect(await fs.readFile(path.join(folder, 'owner'), 'utf8')).to.equal(`${process.pid} ${namespace}`);
    await fs.rm(folder, { recursive: true });
  });
});
