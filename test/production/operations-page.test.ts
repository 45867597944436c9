import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import vm from 'node:vm';
import { expect } from 'chai';
import { temporaryFolder } from '../../dev/servers/temporary-folder.ts';
import { readConfig } from '../../shared/base/config.ts';
import { poolNames } from '../../shared/base/queues.ts';
import { composeConfig, requiredSettings } from './compose.ts';
import { type Form, type Host, startHost } from './host/host.ts';
import { pageBlocks, pageScript, scripts } from './operations-doc.ts';
import { opsFolder, promtool } from './prometheus.ts';
import { readByShell, readBySystemd } from './systemd.ts';

describe('docs/operations.md', function () {
  this.timeout(300_000);

  const blocksIn = async (language: string) =>
    (await pageBlocks()).filter((block) => block.language === language).map(({ text }) => text);
  const withFile = async <T>(name: string, text: string, use: (file: string) => Promise<T>): Promise<T> => {
    const folder = await temporaryFolder('page');
    try {
      await fs.writeFile(path.join(folder, name), text);
      return await use(path.join(folder, name));
    } finally {
      await fs.rm(folder, { recursive: true });
    }
  };

  it('every block of docs/operations.md is a script that a test runs, or a text that a test checks', async () => {
    const blocks = await pageBlocks();
    const named = blocks.filter(({ name }) => name);
    expect(named.map(({ name }) => name)).to.have.members(Object.values(scripts).flat());
    expect(new Set(named.map(({ language }) => language))).to.deep.equal(new Set(['sh']));
    const others = blocks.filter(({ name }) => !name).map(({ language }) => language);
    expect(others.sort()).to.deep.equal(['env', 'env', 'js', 'js', 'yaml', 'yaml', 'yaml']);
  });

  it('every script of a procedure stops at the first command that fails', async () => {
    for (const name of [...scripts.procedures, ...scripts.builds, ...scripts.installation]) {
      const lines = (await pageScript(name)).trimEnd().split('\n');
      const open = lines.slice(0, -1).filter((line) => !line.endsWith('&&'));
      expect(open, name).to.deep.equal([]);
    }
  });

  it('the lines for mongosh create users and add members', async () => {
    const calls: unknown[][] = [];
    const note =
      (name: string) =>
      (...args: unknown[]) =>
        void calls.push([name, ...args]);
    const shell = {
      db: { createUser: note('createUser') },
      rs: { add: note('add') },
      passwordPrompt: () => 'secret',
    };
    for (const text of await blocksIn('js')) vm.runInNewContext(text, shell);
    expect(calls.map(([name]) => name)).to.deep.equal(['createUser', 'createUser', 'add', 'add']);
    const roles = calls.slice(0, 2).map(([, user]) => (user as { roles: unknown }).roles);
    expect(JSON.parse(JSON.stringify(roles))).to.deep.equal([['root'], [{ role: 'readWrite', db: 'rides' }]]);
  });

  it('the lines for the environment file are read alike by a shell and by systemd, and are valid', async () => {
    for (const text of await blocksIn('env')) {
      const byShell = await readByShell(text);
      expect(await readBySystemd(text)).to.deep.include(byShell);
      const without = ['SECRETS_KEY', 'REDIS_URL', 'PUBLIC_BASE_URL'] as const;
      const env = { SERVICE_ENV: 'development', ...byShell };
      expect(readConfig(env, { without: [...without] }).secrets.mongoUrl).to.include('&authSource=admin');
    }
  });

  it('Docker Compose merges the file for users of MongoDB, and Prometheus accepts the scrape job, with and without a token', async () => {
    const [override = '', scrape = '', token = ''] = await blocksIn('yaml');
    const { services } = await withFile('override.yml', override, (file) =>
      composeConfig(requiredSettings, { override: file }),
    );
    expect(services.mongo?.command).to.include('--keyFile');
    expect(services.mongo?.volumes?.map(({ target }) => target)).to.have.members(['/data/db', '/etc/mongo.key']);
    // The rules are tested with this interval, and without the address no alert reaches Alertmanager.
    expect(scrape)
      .to.match(/^global: { evaluation_interval: 15s }$/m)
      .and.match(/^alerting: .*alertmanager:9093/m);
    const rules = path.join(opsFolder, 'alerts.yml');
    const config = scrape.replace('alerts.yml', rules);
    const withToken = config.replace('  - job_name: rides\n', (job) => job + token.replace(/\/etc\S+token/, rules));
    expect(withToken).to.include('authorization:').and.include(`credentials_file: ${rules}`);
    for (const text of [config, withToken]) {
      const complaint = await withFile('prometheus.yml', text, (file) => promtool(['check', 'config', file]));
      expect(complaint).to.equal('');
    }
  });

  it('Docker Compose: the commands stop, start and restart the processes of every pool, and Prometheus scrapes them', async () => {
    const commands = await pageScript('compose');
    const stub = 'docker() { echo "$@"; }\nxargs() { cat >/dev/null; }';
    const named = async (command: string, line: RegExp) => {
      const { stdout } = await promisify(execFile)('bash', ['-c', `${commands}\n${stub}\n${command}`]);
      return [...stdout.matchAll(line)].flatMap(([, names = '']) => names.split(' '));
    };
    expect(await named('processes stop', /^compose stop (.*)$/gm)).to.have.members(['api', ...poolNames]);
    const up = /^compose up .* (\S+)$/gm;
    expect(await named('processes start', up)).to.have.members(['api', ...poolNames]);
    expect(await named('restart_each workers', up)).to.have.members([...poolNames]);
    const [, scrape = ''] = await blocksIn('yaml');
    const [, targets = ''] = /names: \[(.*)\]/.exec(scrape) ?? [];
    expect(targets.split(', ')).to.have.members(['api', ...poolNames]);
  });

  it('the page names the slot of each queue in a Redis Cluster', async () => {
    const page = await fs.readFile(path.join(opsFolder, '../operations.md'), 'utf8');
    const [, slots = ''] = /The slots are (.*?)\. `redis-cli/s.exec(page) ?? [];
    for (const pool of poolNames) expect(slots).to.match(new RegExp(`\`${pool}\`\\s\\d+`));
  });

  it('systemd: a rolling restart stops at the first process that does not become ready, and names it', async () => {
    const commands = await pageScript('systemd');
    const stub = `curl() { return 22; }
      systemctl() {
        case $1 in
          list-units) printf 'rides-%s.service loaded\\n' api@1 mail@1 webhooks@1 ;;
          show) echo 'PORT=4101 OPS_PORT=4181' ;;
          *) echo "$@" ;;
        esac
      }`;
    const run = (then: string) =>
      promisify(execFile)('bash', ['-c', `${commands}\n${stub}\n${then}`]).catch((error) => error);
    const stopped = await run('restart_each workers');
    expect([stopped.code, stopped.stdout, stopped.stderr]).to.deep.equal([
      1,
      'restart rides-mail@1.service\n',
      'rides-mail@1.service is not ready\n',
    ]);
    const { stdout } = await run('curl() { echo "$3"; }; restart_each api');
    expect(stdout).to.equal('restart rides-api@1.service\nhttp://127.0.0.1:4181/readyz\n');
  });

  for (const form of ['systemd', 'compose'] as Form[]) {
    describe(`with ${form}`, () => {
      let host: Host;
      before(async () => {
        host = await startHost(form, { services: ['api-1'] });
      });
      after(() => host?.close());

      it(`${form}: the lines of a request are found by its id`, async () => {
        const answer = await fetch(`${host.apis()[0]}/v1/rides`);
        const REQUEST = answer.headers.get('x-request-id') ?? '';
        await fetch(`${host.apis()[0]}/v1/rides`);
        // The process writes lines in batches.
        const script = `until ${await pageScript('request')}do sleep 0.1; done`.replace('\ndo ', '; do ');
        const lines = (await host.run(script, { REQUEST })).trim().split('\n');
        expect(lines).to.have.length(1);
        expect(JSON.parse(lines[0] ?? '')).to.include({ msg: 'request', requestId: REQUEST, status: 401 });
      });

      it(`${form}: redis-cli signs in with the user default, and its answer reaches the operator`, async () => {
        expect(await host.run('redis ping')).to.equal('PONG\n');
        expect(await host.run('redis acl whoami')).to.equal('default\n');
      });

      it(`${form}: the job of every night makes an encrypted backup, and deletes only backups of more than 14 days`, async () => {
        const folder = path.join(host.root, 'backup');
        const ago = (days: number) => new Date(Date.now() - days * 86_400_000);
        await host.run(await pageScript('backup-key'));
        for (const [name, days] of Object.entries({ '2026-01-01T0300': 16, '2026-01-02T0300': 13, 'lost+found': 16 })) {
          await fs.mkdir(path.join(folder, name));
          await fs.utimes(path.join(folder, name), ago(days), ago(days));
        }
        let said = await host.run(await pageScript(`nightly-${form}`));
        if (form === 'compose') {
          const table = await fs.readFile(path.join(host.root, 'etc/cron.d/rides-backup'), 'utf8');
          const [, command = ''] = /^0 3 \* \* \* root (.+)\n$/.exec(table) ?? [];
          said = await host.run(command.replaceAll('\\%', '%').replaceAll(host.root, ''));
        }
        expect(said).to.include('encrypted');
        const [made = '', ...kept] = (await fs.readdir(folder))
          .sort()
          .reverse()
          .filter((name) => name !== 'lost+found');
        expect(made).to.match(/^20\d\d-\d\d-\d\dT\d{4}$/);
        expect(await fs.readdir(path.join(folder, made))).to.include('manifest.json');
        expect(kept).to.deep.equal(['2026-01-02T0300']);
        expect(await fs.readdir(folder)).to.include('lost+found');
      });

      if (form === 'systemd') return;

      it('the key file of MongoDB can be read only by its owner', async () => {
        await host.run(await pageScript('mongo-key'));
        const { mode, size } = await fs.stat(path.join(host.root, 'etc/rides-mongo.key'));
        expect(mode & 0o777).to.equal(0o400);
        expect(size).to.be.within(1_000, 1_024);
      });

      it('the tunnel leads to the address of the API container', async () => {
        expect(await host.run(await pageScript('tunnel'), { SERVER: 'server' })).to.equal('4180:127.0.0.1:4180\n');
      });

      it('the commands for Kubernetes name files that exist, each once, migrate before the workers, and these before the API', async () => {
        const said = await host.run(await pageScript('kubernetes'));
        const files = [...said.matchAll(/-f (\S+)/g)].map(([, file]) => file);
        const existing = await fs.readdir(path.join(opsFolder, '../../deploy/kubernetes'));
        expect(files).to.have.members(existing);
        expect(files.indexOf('migrate.yaml')).to.be.below(files.indexOf('workers.yaml'));
        expect(said.indexOf('rollout status deployment -l app=rides,pool')).to.be.below(said.indexOf('api.yaml'));
        expect(files.indexOf('workers.yaml')).to.be.below(files.indexOf('api.yaml'));
      });
    });
  }
});
