import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { pageNames } from '../../api/docs/pages.ts';
import { freePort } from '../../dev/servers/ports.ts';
import { createDriver } from '../../shared/drivers/manage-drivers.ts';
import { useTestService } from '../support/workers.ts';
import { PageRun } from './page-run.ts';

const compiler = path.resolve(import.meta.dirname, '../../node_modules/typescript/bin/tsc');

const driver = {
  name: 'Dana Okoye',
  phone: '+12025550100',
  vehicle: 'Toyota Prius, blue',
  plate: 'T 104',
  carType: 'regular',
  seats: 4,
  rating: 4.8,
} as const;

describe('the code of a documentation page', () => {
  let receiverPort: number;
  const api = useTestService(async () => {
    const port = await freePort();
    receiverPort = await freePort();
    return {
      PORT: String(port),
      // The pages show this address, at which they are served.
      PUBLIC_BASE_URL: `http://127.0.0.1:${port}`,
      WEBHOOK_LOCAL_TARGETS: `http://127.0.0.1:${receiverPort}`,
      SIMULATION_SPEED: '4',
    };
  });

  /** The number of runnable blocks per page, so that a broken search cannot pass. */
  const runs: Readonly<Record<string, number>> = {
    'quick-start': 7,
    authentication: 3,
    'test-mode': 4,
    errors: 1,
    webhooks: 3,
    rides: 3,
    fares: 5,
    'typed-client': 2,
    drivers: 7,
  };

  for (const name of pageNames) {
    const count = runs[name] ?? 0;
    it(count > 0 ? `runs unchanged: ${name}` : `has no runnable block: ${name}`, async function () {
      this.timeout(300_000);
      const markdown = await (await fetch(`${api.url}/docs/${name}.md`)).text();
      // On a page without runnable blocks, a response is an example, and the tests of the pages check its schema.
      const isRunnable = /^```(sh|\w+ file=\S+$)/m.test(markdown);
      expect(isRunnable, name).to.equal(count > 0);
      if (!isRunnable) return;

      // Real drivers only see rides of live keys.
      const { key, signingSecret } = await api.key(name === 'drivers' ? 'live' : 'test');
      const { key: driverKey } = await createDriver(driver);
      const page = new PageRun(name, {
        KEY: key,
        DRIVER: driverKey,
        SECRET: signingSecret,
        PORT: String(receiverPort),
        RECEIVER: `http://127.0.0.1:${receiverPort}`,
      });
      const marks = await page.follow(markdown);
      expect(marks.filter((mark) => mark === 'run')).to.have.length(count);
      if (page.files.length > 0) await compile(page.files);
    });
  }

  /** Compiles with strict options, like a careful reader. */
  async function compile(files: readonly string[]): Promise<void> {
    const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2023', '--types', 'node'];
    const further = ['--skipLibCheck', '--allowImportingTsExtensions', '--noUncheckedIndexedAccess', '--ignoreConfig'];
    const args = [compiler, ...options, ...further, ...files];
    await promisify(execFile)(process.execPath, args, { cwd: path.dirname(files[0] as string) }).catch(({ stdout }) => {
      throw new Error(stdout);
    });
  }
});
