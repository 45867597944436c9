import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { expect } from 'chai';
import { build } from '../../shared/base/version.ts';
import { type Host, startHost } from './host/host.ts';
import { pageScript } from './operations-doc.ts';

const root = path.join(import.meta.dirname, '..', '..');
describe('the installation in docs/operations.md', function () {
  // npm ci and the build, on a busy machine.
  this.timeout(900_000);

  let host: Host;
  before(async () => {
    host = await startHost('systemd', { isBuildReal: true });
  });
  after(() => host?.close());

  it('leads from a clone of the repository to eleven ready processes under the units', async () => {
    const variables = { REPOSITORY: root, DOMAIN: 'rides.example', ...host.servers };
    const took: [string, number][] = [];
    let said = '';
    for (const name of ['build-systemd', 'settings', 'start']) {
      const begunAt = performance.now();
      said = await host.run(await pageScript(name), { VERSION: build.release, ...variables });
      took.push([name, performance.now() - begunAt]);
    }
    expect(said).to.match(/svc_live_\w+/);
    const versions = await Promise.all(
      host.operatorsPorts().map(async (url) => {
        expect((await fetch(`${url}/readyz`)).status).to.equal(200);
        return ((await (await fetch(`${url}/healthz`)).json()) as { version: string }).version;
      }),
    );
    expect(versions).to.have.length(11);
    expect(new Set(versions)).to.deep.equal(new Set([build.release]));
    expect(said.match(/^rides-[a-z-]+@\d\.service/gm)).to.have.length(11);
    const seconds = (ms: number) => `${Math.round(ms / 1_000)} s`;
    const total = took.reduce((sum, [, ms]) => sum + ms, 0);
    const parts = took.map(([name, ms]) => `${name} ${seconds(ms)}`).join(', ');
    console.log(`      from clone to eleven ready processes: ${seconds(total)} (${parts})`);
  });

  it('the environment file of the installation can be read only by its owner', () => {
    const mode = execFileSync('stat', ['-c', '%a', path.join(host.root, 'etc/rides.env')], { encoding: 'utf8' });
    expect(mode.trim()).to.equal('600');
  });
});
