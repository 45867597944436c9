import fs from 'node:fs';
import { expect } from 'chai';
import { freePort } from '../../dev/servers/ports.ts';
import { call } from '../support/client.ts';
import { openPipe, type TestPipe } from '../support/pipe.ts';
import { testContext } from '../support/service.ts';
import { type SourceProcess, type SourceProcessOptions, startFromSource } from '../support/source-process.ts';

describe('a process whose log cannot be written', function () {
  this.timeout(60_000);
  const started: SourceProcess[] = [];
  const pipes: TestPipe[] = [];
  const start = async (options: SourceProcessOptions) => {
    // Apart from what other tests have left in the queues.
    const env = { REDIS_URL: `${process.env.TEST_REDIS_URL}/9`, LOG_LEVEL: 'debug', ...options.env };
    const running = await startFromSource({ ...options, env });
    started.push(running);
    return running;
  };
  const startApi = async (output: Pick<SourceProcessOptions, 'stdout' | 'stderr'>) => {
    const port = await freePort();
    const running = await start({ script: 'api/main.ts', env: { PORT: String(port) }, ...output });
    const statuses = async () => {
      const answers = Array.from({ length: 100 }, () => call(`http://127.0.0.1:${port}/v1`));
      return [...new Set((await Promise.all(answers)).map(({ status }) => status))];
    };
    return { ...running, statuses };
  };
  const startWorker = (output: Pick<SourceProcessOptions, 'stdout' | 'stderr'>) =>
    start({ script: 'workers/main.ts', args: ['bidding'], ...output });
  const fullPipe = () => {
    const pipe = openPipe();
    pipes.push(pipe);
    pipe.fill();
    return { stdout: pipe.writeFd, stderr: pipe.writeFd, closeReader: pipe.closeReader };
  };
  // Makes the indexes, without which no process starts.
  before(async () => (await testContext()).close());
  afterEach(async () => {
    await Promise.all(started.splice(0).map((running) => running.stop('SIGKILL')));
    for (const pipe of pipes.splice(0)) pipe.close();
  });

  it('serves and stops cleanly while its reader hangs, and when the reader is gone', async () => {
    const [ofApi, ofWorker] = [fullPipe(), fullPipe()];
    const [api, worker] = await Promise.all([startApi(ofApi), startWorker(ofWorker)]);
    expect(await api.statuses()).to.deep.equal([401]);
    ofApi.closeReader();
    expect(await api.statuses()).to.deep.equal([401]);
    expect(await api.statuses()).to.deep.equal([401]);
    expect(await Promise.all([api.stop('SIGTERM'), worker.stop('SIGINT')])).to.deep.equal([0, 0]);
  });

  it('serves and stops cleanly while the disk is full', async () => {
    const full = fs.openSync('/dev/full', 'w');
    try {
      const output = { stdout: full, stderr: full };
      const [api, worker] = await Promise.all([startApi(output), startWorker(output)]);
      expect(await api.statuses()).to.deep.equal([401]);
      expect(await Promise.all([api.stop('SIGHUP'), worker.stop('SIGTERM')])).to.deep.equal([0, 0]);
    } finally {
      fs.closeSync(full);
    }
  });
});
