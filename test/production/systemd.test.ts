import { execFileSync } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { temporaryFolder } from '../../dev/servers/temporary-folder.ts';
import { readConfig } from '../../shared/base/config.ts';
import { poolNames } from '../../shared/base/queues.ts';
import { pageScript } from './operations-doc.ts';
import { unitsFolder, verifyUnits } from './systemd.ts';
import { readUnit } from './units.ts';

const names = ['api', ...poolNames];
const instances = names.flatMap((name) => [`rides-${name}@1`, `rides-${name}@2`]);

describe('deploy/systemd', function () {
  this.timeout(120_000);

  it('systemd-analyze verify has no complaint about any unit', async () => {
    const units = [...instances.map((unit) => `${unit}.service`), 'rides.target', 'rides-backup.timer'];
    units.push('rides-backup.service');
    expect(await verifyUnits(unitsFolder, units)).to.equal('');
  });

  it('systemd-analyze verify finds a misspelt option in the options that all units share', async () => {
    const folder = await temporaryFolder('units');
    try {
      await fs.cp(unitsFolder, folder, { recursive: true });
      await fs.appendFile(path.join(folder, 'rides-@.service.d/common.conf'), 'ProtectHoem=yes\n');
      for (const unit of ['rides-api@1.service', 'rides-webhooks-slow@1.service']) {
        expect(await verifyUnits(folder, [unit]), unit).to.include("Unknown key 'ProtectHoem'");
      }
    } finally {
      await fs.rm(folder, { recursive: true });
    }
  });

  it('there is one template for the API and one for each pool, and no port occurs twice', async () => {
    const units = await Promise.all(instances.map((name) => readUnit(name)));
    const commands = units.map(({ command }) => command.join(' '));
    expect(new Set(commands)).to.deep.equal(
      new Set(['node dist/api/main.js', ...poolNames.map((pool) => `node dist/workers/main.js ${pool}`)]),
    );
    const ports = units.flatMap(({ environment }) => Object.values(environment));
    expect(ports).to.have.length(instances.length + 2);
    expect(new Set(ports)).to.have.length(ports.length);
    const templates = (await fs.readdir(unitsFolder)).filter((file) => file.endsWith('@.service'));
    expect(templates).to.have.members(names.map((name) => `rides-${name}@.service`));
  });

  it('docs/operations.md names the operators’ port of each unit of the installation as a target for Prometheus', async () => {
    const page = await fs.readFile(path.join(unitsFolder, '../../docs/operations.md'), 'utf8');
    const targets = [...page.matchAll(/`127\.0\.0\.1:(\d+)`/g)].map(([, port]) => port);
    const [, enabled = ''] = /rides\.target (.*) &&/.exec(await pageScript('start')) ?? [];
    const started = execFileSync('bash', ['-c', `printf '%s ' ${enabled}`], { encoding: 'utf8' })
      .trim()
      .split(' ');
    const units = await Promise.all(started.map((name) => readUnit(name)));
    expect(units).to.have.length(11);
    expect(targets).to.include.members(units.map(({ environment }) => environment.OPS_PORT));
  });

  it('every unit has a port for operators, belongs to rides.target, and has more time to stop than it needs', async () => {
    const required = {
      MONGO_URL: 'mongodb://127.0.0.1/rides',
      REDIS_URL: 'redis://127.0.0.1',
      PUBLIC_BASE_URL: 'https://rides.example',
    };
    for (const name of instances) {
      const { environment, options } = await readUnit(name);
      const { ops, shutdownGraceMs } = readConfig({ ...required, ...environment }, { without: ['SECRETS_KEY'] });
      expect(ops.port, name).to.be.within(4_000, 4_999);
      expect(options.PartOf, name).to.deep.equal(['rides.target']);
      expect(options.WantedBy, name).to.deep.equal(['rides.target']);
      expect(Number(options.TimeoutStopSec?.[0]) * 1_000, name).to.be.above(shutdownGraceMs * 2);
    }
  });
});
