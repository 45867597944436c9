import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import vm from 'node:vm';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { freePort } from '../../dev/servers/ports.ts';
import { redisCommand } from '../../dev/servers/redis-server.ts';
import { readConfig } from '../../shared/base/config.ts';
import { build } from '../../shared/base/version.ts';
import { type Compose, type ComposeService, composeConfig, requiredSettings } from './compose.ts';

const root = path.join(import.meta.dirname, '..', '..');

describe('docker-compose.yml', function () {
  // The first run on a machine fetches packages.
  this.timeout(120_000);

  let compose: Compose;
  const service = (name: string): ComposeService => {
    const found = compose.services[name];
    if (!found) throw new Error(`service ${name} is missing`);
    return found;
  };
  const namesWhere = (has: (service: ComposeService, name: string) => unknown): string[] =>
    Object.keys(compose.services).filter((name) => has(service(name), name));
  const processes = [
    ...['api', 'bidding', 'dispatch', 'mail', 'messages', 'routing', 'simulator', 'webhooks', 'webhooks-slow'],
  ];
  const commands = ['drivers', 'keys', 'ops'];
  const ours = [...processes, 'migrate', ...commands];

  const settingsOfApi = ({ services }: Compose) => readConfig(services.api?.environment);

  before(async () => {
    compose = await composeConfig();
  });

  for (const name of Object.keys(requiredSettings)) {
    it(`docker-compose.yml is refused without ${name}`, async () => {
      const { [name]: _, ...others } = requiredSettings as Record<string, string>;
      const error = await composeConfig(others).catch((reason: Error) => reason);
      expect(error).to.be.instanceOf(Error);
      expect((error as Error).message).to.contain(name);
    });
  }

  it('docker-compose.yml uses exactly the variables of .env.example, with the same defaults', async () => {
    const example = await fs.readFile(path.join(root, '.env.example'), 'utf8');
    const settingsIn = (text = '') =>
      Object.fromEntries([...text.matchAll(/^(?:# )?([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [name, value]));
    const file = await fs.readFile(path.join(root, 'docker-compose.yml'), 'utf8');
    const used = new Set([...file.matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name));
    expect(Object.keys(settingsIn(example))).to.have.members([...used]);
    const [, defaults] = /with these defaults:\n(.*?)\n\n/s.exec(example) ?? [];
    expect(Object.keys(settingsIn(defaults))).to.have.length.above(15);
    expect(await composeConfig({ ...settingsIn(defaults), ...requiredSettings }).then(settingsOfApi)).to.deep.equal(
      settingsOfApi(compose),
    );
  });

  it('docker-compose.yml tags the image with this version, or with RIDES_VERSION for a rollback', async () => {
    expect(service('migrate').image).to.equal(`ride-partner-api:${build.release}`);
    expect(service('migrate').build?.args).to.deep.equal({ VERSION: build.release, COMMIT: '' });
    const older = await composeConfig({ ...requiredSettings, RIDES_VERSION: '1.7.0' });
    for (const name of ours) expect(older.services[name]?.image, name).to.equal('ride-partner-api:1.7.0');
  });

  it('the commands for operators start nothing else, and only if they are named', () => {
    expect(namesWhere(({ profiles }) => profiles)).to.have.members(commands);
    for (const name of commands) {
      const { entrypoint, depends_on: dependencies, profiles } = service(name);
      expect({ entrypoint, dependencies, profiles }).to.deep.equal({
        entrypoint: ['node', `dist/cli/${name}.js`],
        dependencies: undefined,
        profiles: ['commands'],
      });
    }
  });

  it('docker-compose.yml builds one image once, and never pulls it', () => {
    expect(namesWhere((one) => one.build)).to.deep.equal(['migrate']);
    expect(namesWhere(({ image }) => image === service('migrate').image)).to.have.members(ours);
    expect(namesWhere(({ pull_policy: policy }) => policy === 'never')).to.have.members(ours);
  });

  it('docker-compose.yml pins the minor version of every pulled image', () => {
    for (const name of namesWhere((_, name) => !ours.includes(name))) {
      expect(service(name).image).to.match(/^[a-z]+:\d+\.\d+$/);
    }
  });

  it('docker-compose.yml limits the log and the memory of every service', () => {
    for (const name of Object.keys(compose.services)) {
      expect(service(name).logging?.options, name).to.include.all.keys('max-size', 'max-file');
      expect(Number(service(name).mem_limit), name).to.be.within(2 ** 28, 2 ** 31);
    }
  });

  it('each container has only the capabilities that its image needs, and no privilege escalation', () => {
    for (const name of Object.keys(compose.services)) {
      const { privileged, cap_drop: dropped, cap_add: added = [], security_opt: options } = service(name);
      expect({ privileged, dropped, options }, name).to.deep.equal({
        privileged: undefined,
        dropped: ['ALL'],
        options: ['no-new-privileges:true'],
      });
      expect(added, name).to.deep.equal(name === 'caddy' ? ['NET_BIND_SERVICE'] : []);
    }
  });

  it('docker-compose.yml lets containers write only to volumes and temporary files, not to the image', () => {
    const written = Object.keys(compose.services).map((name) => {
      const { read_only: isReadOnly, volumes = [], tmpfs = [] } = service(name);
      expect(isReadOnly, name).to.equal(true);
      const kept = volumes.filter((volume) => !volume.read_only).map(({ source, target }) => `${source}:${target}`);
      return [name, ...kept, ...tmpfs.map((each) => each.replace(/:.*/, ''))];
    });
    expect(written.filter(([, ...paths]) => paths.length > 0)).to.have.deep.members([
      ['caddy', 'caddy-data:/data', 'caddy-config:/config', '/tmp'],
      ['mongo', 'mongo-data:/data/db', '/tmp'],
      ['mongo-init', '/tmp'],
      ['redis', 'redis-data:/data', '/tmp'],
    ]);
  });

  it('MongoDB and Redis start as their own users, because without capabilities they cannot switch users', () => {
    const users = Object.keys(compose.services).map((name) => [name, service(name).user]);
    expect(users.filter(([, user]) => user)).to.have.deep.members([
      ['mongo', 'mongodb'],
      ['mongo-init', 'mongodb'],
      ['redis', 'redis'],
    ]);
    // mongosh writes to its home folder, which the image puts on the volume.
    for (const name of ['mongo', 'mongo-init']) expect(service(name).environment?.HOME, name).to.equal('/tmp');
  });

  it('docker-compose.yml checks the readiness of the API and of every worker pool', () => {
    const probed = namesWhere(({ healthcheck }, name) => ours.includes(name) && healthcheck);
    expect(probed).to.have.members(processes);
    for (const name of probed) {
      const { environment = {}, healthcheck } = service(name);
      const port = name === 'api' ? environment.PORT : environment.OPS_PORT;
      expect(healthcheck?.test.join(' '), name).to.include(`http://127.0.0.1:${port}/readyz`);
    }
  });

  // The API and `keys` check that SMTP_URL is set.
  for (const [setting, holders] of [
    ['SECRETS_KEY', ['api', 'keys', 'mail', 'messages', 'migrate', 'webhooks', 'webhooks-slow']],
    ['OPS_TOKEN', ['api']],
    ['SMTP_URL', ['api', 'keys', 'mail']],
    ['SMS_URL', ['api', 'messages']],
  ] as const) {
    it(`docker-compose.yml gives ${setting} only to the services that use it`, () => {
      expect(namesWhere(({ environment }) => environment && setting in environment)).to.have.members(holders);
    });
  }

  it('docker-compose.yml gives every process valid settings', () => {
    for (const name of ours) {
      const { environment } = service(name);
      const without = environment?.SECRETS_KEY ? [] : (['SECRETS_KEY'] as const);
      const config = readConfig(environment, { without: [...without] });
      expect(config.publicBaseUrl).to.equal('https://rides.example');
    }
  });

  it('docker-compose.yml lets the proxy reach the API, but neither MongoDB nor Redis', () => {
    const reachable = namesWhere(({ networks }, name) => {
      return name !== 'caddy' && Object.keys(networks).some((network) => network in service('caddy').networks);
    });
    expect(reachable).to.have.members(['api', 'mail', 'messages', 'ops', 'routing', 'webhooks', 'webhooks-slow']);
    expect(namesWhere(({ ports }) => ports)).to.deep.equal(['caddy']);
  });

  it('only the services that answer or send requests, webhooks, mails or messages, or ask for routes, over the internet have access to it', () => {
    const outer = Object.keys(compose.networks).filter((name) => !compose.networks[name]?.internal);
    const out = namesWhere(({ networks }) => Object.keys(networks).some((name) => outer.includes(name)));
    expect(out).to.have.members(['api', 'caddy', 'mail', 'messages', 'ops', 'routing', 'webhooks', 'webhooks-slow']);
  });

  it('docker-compose.yml starts the API and the workers after the replica set and the migration', () => {
    expect(service('mongo-init').depends_on).to.deep.include({
      mongo: { condition: 'service_healthy', required: true },
    });
    const done = { condition: 'service_completed_successfully', required: true };
    expect(service('migrate').depends_on).to.deep.equal({ 'mongo-init': done });
    for (const name of processes) {
      expect(service(name).depends_on).to.deep.include({ migrate: done });
    }
  });

  describe('mongo-init', () => {
    /** Runs the script in a fake `mongosh`. `hello` returns these answers in order, and then repeats the last one. */
    function run(hellos: object[], initiate: () => void): { exit?: number; initiated: object[] } {
      const script = service('mongo-init').command?.at(-1) ?? '';
      const initiated: object[] = [];
      let answered = 0;
      const ended = new Error('quit');
      const result: { exit?: number; initiated: object[] } = { initiated };
      const shell = {
        db: { hello: () => hellos[Math.min(answered++, hellos.length - 1)] },
        rs: {
          initiate: (set: object) => {
            initiated.push(set);
            initiate();
          },
        },
        sleep: () => {},
        print: () => {},
        quit: (code: number) => {
          result.exit = code;
          throw ended;
        },
      };
      try {
        vm.runInNewContext(script, shell);
      } catch (error) {
        if (error !== ended) throw error;
      }
      return result;
    }
    const fresh = { isWritablePrimary: false, isreplicaset: true };
    const electing = { isWritablePrimary: false, setName: 'rs0' };
    const primary = { isWritablePrimary: true, setName: 'rs0' };

    it('mongo-init initiates the replica set once, and waits until it accepts writes', () => {
      const { exit, initiated } = run([fresh, electing, electing, primary], () => {});
      expect(exit).to.equal(0);
      expect(JSON.parse(JSON.stringify(initiated))).to.deep.equal([
        { _id: 'rs0', members: [{ _id: 0, host: 'mongo:27017' }] },
      ]);
    });

    it('mongo-init does not initiate an existing replica set, and ignores AlreadyInitialized', () => {
      expect(run([primary], () => {}).initiated).to.deep.equal([]);
      expect(run([electing, primary], () => {}).initiated).to.deep.equal([]);
      const starting = run([fresh, electing, primary], () => {
        throw Object.assign(new Error('already initialized'), { codeName: 'AlreadyInitialized' });
      });
      expect(starting.exit).to.equal(0);
    });

    it('mongo-init fails if no primary is elected', () => {
      expect(run([electing], () => {}).exit).to.equal(1);
    });
  });

  describe('redis', () => {
    let folder: string;
    let port: number;
    let stop: () => Promise<unknown>;

    before(async () => {
      folder = await fs.mkdtemp(path.join(os.tmpdir(), 'rides-redis-'));
      port = await freePort();
      const { file, env } = await redisCommand();
      const [, ...args] = service('redis').command ?? [];
      const redis = spawn(file, [...args, '--bind', '127.0.0.1', '--port', String(port), '--dir', folder], {
        env: { ...process.env, ...env },
        stdio: 'ignore',
      });
      const exited = once(redis, 'exit');
      stop = async () => {
        redis.kill('SIGTERM');
        await exited;
        await fs.rm(folder, { recursive: true, force: true });
      };
    });
    after(() => stop());

    async function withRedis<T>(url: string, use: (redis: Redis) => Promise<T>): Promise<T> {
      const redis = new Redis(url.replace('redis:6379', `127.0.0.1:${port}`));
      redis.on('error', () => {});
      try {
        return await use(redis);
      } finally {
        redis.disconnect();
      }
    }

    it('Redis accepts the REDIS_URL of the API, with the queue settings and a limit on memory', async () => {
      await withRedis(service('api').environment?.REDIS_URL ?? '', async (redis) => {
        const get = async (name: string) => ((await redis.config('GET', name)) as string[])[1];
        expect(await get('appendonly')).to.equal('yes');
        expect(await get('save')).to.equal('');
        expect(await get('maxmemory-policy')).to.equal('noeviction');
        expect(await get('hz')).to.equal('100');
        expect(await get('hash-max-listpack-value')).to.equal('1024');
        // At most half of the container's memory, because rewriting the append-only file may need the same amount
        // again.
        expect(Number(await get('maxmemory'))).to.be.within(2 ** 28, Number(service('redis').mem_limit) / 2);
      });
    });

    it('Redis refuses clients without the password', async () => {
      const error = await withRedis('redis://redis:6379', (redis) => redis.set('a', '1')).catch((reason) => reason);
      expect(error).to.match(/NOAUTH/);
    });

    it('the health check of Redis passes with its password, and fails without it', async () => {
      const { file, env } = await redisCommand();
      const check = (password?: string) => {
        const command = service('redis').healthcheck?.test[1]?.replace('redis-cli', `redis-cli -p ${port}`) ?? '';
        const PATH = `${path.dirname(file)}:${process.env.PATH}`;
        const shell = { ...process.env, ...env, PATH, ...(password && { REDISCLI_AUTH: password }) };
        return promisify(execFile)('sh', ['-c', command], { env: shell }).then(
          () => 'healthy',
          () => 'unhealthy',
        );
      };
      expect(await check(service('redis').environment?.REDISCLI_AUTH)).to.equal('healthy');
      expect(await check('wrong')).to.equal('unhealthy');
      expect(await check()).to.equal('unhealthy');
    });
  });
});
