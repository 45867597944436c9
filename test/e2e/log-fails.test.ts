import fs from 'node:fs';
import { expect } from 'chai';
import { freePort } from '../../dev/servers/ports.ts';
import { call } from '../support/client.ts';
import { openPipe, type TestPipe } from '../support/pipe.ts';
import { testContext, testSettings } from '../support/service.ts';
import { type ServiceProcess, type ServiceProcessOptions, serviceProcess } from '../support/service-process.ts';

type Output = { stdout: number; stderr: number };

describe('failing log output', () => {
  const started: ServiceProcess[] = [];
  const pipes: TestPipe[] = [];
  const start = async (script: ServiceProcessOptions['script'], output: Output, PORT = '0') => {
    // Uses a separate Redis database, which has no leftovers of other tests.
    const settings = { REDIS_URL: `${process.env.TEST_REDIS_URL}/9`, LOG_LEVEL: 'debug', PORT };
    const args = script === 'api/main' ? [] : ['bidding'];
    const running = serviceProcess({ name: script, script, args, env: testSettings(settings), output });
    started.push(running);
    await running.start();
    return running;
  };
  const startApi = async (output: Output) => {
    const port = await freePort();
    const running = await start('api/main', output, String(port));
    const statuses = async () => {
      const answers = Array.from({ length: 100 }, () => call(`http://127.0.0.1:${port}/v1`));
      return [...new Set((await Promise.all(answers)).map(({ status }) => status))];
    };
    return { running, statuses };
  };
  const startWorker = (output: Output) => start('workers/main', output);
  const exitOf = async (running: ServiceProcess, signal: NodeJS.Signals) => (await running.stop({ signal })).how;
  const fullPipe = () => {
    const pipe = openPipe();
    pipes.push(pipe);
    pipe.fill();
    return { stdout: pipe.writeFd, stderr: pipe.writeFd, closeReader: pipe.closeReader };
  };
  before(async () => {
    await (await testContext()).close();
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((running) => running.kill()));
    for (const pipe of pipes.splice(0)) pipe.close();
  });

  it('processes serve and stop cleanly while the reader of their log hangs, and after it is gone', async () => {
    const [apiPipe, workerPipe] = [fullPipe(), fullPipe()];
    const [api, worker] = await Promise.all([startApi(apiPipe), startWorker(workerPipe)]);
    expect(await api.statuses()).to.deep.equal([401]);
    apiPipe.closeReader();
    expect(await api.statuses()).to.deep.equal([401]);
    expect(await api.statuses()).to.deep.equal([401]);
    const exits = await Promise.all([exitOf(api.running, 'SIGTERM'), exitOf(worker, 'SIGINT')]);
    expect(exits).to.deep.equal(['code 0', 'code 0']);
  });

  it('processes serve and stop cleanly while the disk for their log is full', async () => {
    const full = fs.openSync('/dev/full', 'w');
    try {
      const output = { stdout: full, stderr: full };
      const [api, worker] = await Promise.all([startApi(output), startWorker(output)]);
      expect(await api.statuses()).to.deep.equal([401]);
      const exits = await Promise.all([exitOf(api.running, 'SIGHUP'), exitOf(worker, 'SIGTERM')]);
      expect(exits).to.deep.equal(['code 0', 'code 0']);
    } finally {
      fs.closeSync(full);
    }
  });
});
