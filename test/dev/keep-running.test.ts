import { expect } from 'chai';
import type { RunningProcess } from '../../dev/servers/processes.ts';
import { keepRunning } from '../../dev/stack/keep-running.ts';

/** A process that ends when `end` or `stop` is called. */
function fakeProcess(): RunningProcess & { end(reason: string): void; isStopped: boolean } {
  const { promise, resolve } = deferred<string>();
  const running = {
    pid: 1,
    isStopped: false,
    exited: promise,
    end: resolve,
    async stop() {
      running.isStopped = true;
      resolve('stopped');
    },
  };
  return running;
}

function deferred<T>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

describe('keepRunning', () => {
  it('keepRunning rejects if the first start fails', async () => {
    const error = await keepRunning(
      'api',
      () => Promise.reject(new Error('no port')),
      () => {},
    ).catch((e) => e);
    expect(error).to.have.property('message', 'no port');
  });

  it('keepRunning restarts a process that has died, retries a failed start, and reports both', async () => {
    const said: string[] = [];
    const second = fakeProcess();
    const again = deferred<void>();
    const starts = [
      async () => first,
      async () => {
        throw new Error('no port');
      },
      async () => second,
    ];
    const first = fakeProcess();
    const kept = await keepRunning(
      'api',
      () => (starts.shift() as () => Promise<RunningProcess>)(),
      (line) => {
        said.push(line);
        if (line.includes('running again')) again.resolve();
      },
    );
    first.end('killed by SIGKILL');
    await again.promise;
    expect(said).to.deep.equal([
      'api has ended (killed by SIGKILL): restarting it',
      'api did not start (no port): retrying',
      'api is running again',
    ]);
    await kept.stop();
    expect(second.isStopped).to.equal(true);
  });

  it('keepRunning leaves no process running if it is stopped during a restart', async () => {
    const first = fakeProcess();
    const second = fakeProcess();
    const starting = deferred<void>();
    const started = deferred<RunningProcess>();
    const starts = [
      async () => first,
      () => {
        starting.resolve();
        return started.promise;
      },
    ];
    const kept = await keepRunning(
      'api',
      () => (starts.shift() as () => Promise<RunningProcess>)(),
      () => {},
    );
    first.end('exit code 1');
    await starting.promise;
    const stopping = kept.stop();
    started.resolve(second);
    await stopping;
    expect(second.isStopped).to.equal(true);
  });
});
