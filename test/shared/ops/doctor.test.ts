import { execFile } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import mongoose from 'mongoose';
import { ops } from '../../../cli/ops/ops-commands.ts';
import { startRedis } from '../../../dev/servers/redis-server.ts';
import { streetTiles } from '../../../dev/streets/street-tiles.ts';
import { connectMongo, disconnectMongo } from '../../../shared/base/mongo/connect-mongo.ts';
import { redisProblemTexts } from '../../../shared/base/redis-problem.ts';
import { newApiKey, newDriverKey, newSigningSecret } from '../../../shared/keys/key-format.ts';
import { migrate } from '../../../shared/process/migrate-database.ts';
import { safeLogLines, tarGz } from '../../../shared/process/ops/doctor/bundle.ts';
import { checkTiles } from '../../../shared/process/ops/doctor/check-network.ts';
import { examine } from '../../../shared/process/ops/doctor/doctor.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { runToEnd } from '../../support/command-line.ts';
import { useFolder } from '../../support/folder.ts';
import { startMailServer } from '../../support/mail-server.ts';
import { ownDatabase } from '../../support/own-database.ts';
import { certificate, expiredCertificate, privateKey } from '../../support/receiver.ts';
import { ask } from '../../support/redis-group.ts';
import { newRide } from '../../support/rides.ts';
import { testConfig, testContext, testSettings } from '../../support/service.ts';
import { useRedis } from '../../support/use-redis.ts';
import { useStarted } from '../../support/use-started.ts';

describe('ops doctor', () => {
  const folder = useFolder();
  const mail = useStarted(() => startMailServer());
  const redis = useRedis({ appendonly: true });
  const startHttps = async (cert: string) => {
    const server = https.createServer({ cert, key: privateKey }, (_request, answer) => answer.end());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const close = async () => {
      server.closeAllConnections();
      server.close();
    };
    return { url: `https://localhost:${(server.address() as AddressInfo).port}`, close };
  };
  const site = useStarted(() => startHttps(certificate));
  const expired = useStarted(() => startHttps(expiredCertificate));
  /** A server that accepts connections and never answers. */
  const silent = useStarted(async () => {
    const sockets = new Set<net.Socket>();
    const server = net.createServer((socket) => sockets.add(socket.on('error', () => {})));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const close = async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    };
    return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, close };
  });
  let mongoUrl: string;
  before(async () => {
    ({ url: mongoUrl } = await ownDatabase());
    await migrate(testConfig().secrets.keys);
    await disconnectMongo();
  });

  const settings = (more: Record<string, string> = {}) =>
    testSettings({
      ...{ MONGO_URL: mongoUrl, REDIS_URL: redis.url, PUBLIC_BASE_URL: site.url, TRACK_BASE_URL: '' },
      ...{ SMTP_URL: mail.url, MAIL_FROM: 'Rides <rides@rides.example>' },
      ...more,
    });
  const examined = async (more: Record<string, string> = {}, options: { httpsTarget?: string; ca?: string } = {}) => {
    const found = await examine(settings(more), { disk: folder.path, ca: certificate, ...options });
    return Object.fromEntries(found.map(({ check, ...outcome }) => [check, outcome]));
  };
  const reds = (found: Awaited<ReturnType<typeof examined>>) =>
    Object.keys(found).filter((check) => found[check]?.state === 'red' && check !== 'disk');

  it('on a healthy service, no check is red, and each says what it found', async () => {
    const found = await examined({}, { httpsTarget: site.url });
    expect(reds(found)).to.deep.equal([]);
    expect(Object.keys(found)).to.deep.equal([
      ...['settings', 'MongoDB', 'indexes', "MongoDB's clock", 'replica set', 'SECRETS_KEY'],
      ...['Redis', "Redis's clock"],
      ...['Redis persistence', 'Redis eviction', 'DNS', 'outgoing HTTPS', 'certificate', 'mail'],
      ...['routing', 'map tiles', 'disk'],
    ]);
    expect(found.DNS).to.deep.include({ state: 'ok', found: 'resolves localhost' });
    expect(found['outgoing HTTPS']?.found).to.match(/^localhost answers 200$/);
    expect(found.certificate?.found).to.match(/^expires in \d+ days$/);
    expect(found.indexes?.found).to.equal('all exist');
    expect(found.disk?.found).to.match(/GB free \(\d+ %\) at /);
    expect(mail.mails).to.deep.equal([]);
  });

  it('while MongoDB is down or hangs, the other checks work, and nothing takes longer than 3 seconds', async () => {
    for (const address of ['127.0.0.1:9', silent.address]) {
      const found = await examined({ MONGO_URL: `mongodb://anna:s3cret@${address}/rides` });
      expect(reds(found), address).to.deep.equal(['MongoDB']);
      expect(found.MongoDB?.todo).to.match(/^Start MongoDB, or correct MONGO_URL/);
      expect(found.indexes).to.deep.equal({ state: 'skipped', found: 'MongoDB does not answer' });
      expect(found.Redis?.state).to.equal('ok');
      expect(JSON.stringify(found)).not.to.include('s3cret').and.not.include('anna');
    }
  });

  it('while Redis is down or hangs, the other checks work', async () => {
    for (const address of ['127.0.0.1:9', silent.address]) {
      const found = await examined({ REDIS_URL: `redis://:s3cret@${address}` });
      expect(reds(found), address).to.deep.equal(['Redis']);
      expect(found['Redis eviction']?.state).to.equal('skipped');
      expect(found.indexes?.state).to.equal('ok');
      expect(JSON.stringify(found)).not.to.include('s3cret');
    }
  });

  it('a Redis that evicts or keeps no append-only file is red, with what to set', async () => {
    const other = await startRedis({ dataDir: path.join(folder.path, 'evicting'), args: [] });
    try {
      const { Redis } = await import('ioredis');
      const client = new Redis(other.url);
      await client.config('SET', 'maxmemory-policy', 'allkeys-lru');
      client.disconnect();
      const found = await examined({ REDIS_URL: other.url });
      expect(reds(found)).to.deep.equal(['Redis persistence', 'Redis eviction']);
      expect(found['Redis persistence']?.todo).to.equal('Set appendonly yes in Redis.');
      expect(found['Redis eviction']?.todo).to.equal('Set maxmemory-policy noeviction in Redis.');
    } finally {
      await other.stop();
    }
  });

  it('a full Redis and one with another password are red with their problem, and a full one is still examined', async () => {
    const other = await startRedis({ dataDir: path.join(folder.path, 'full'), appendonly: true });
    try {
      await ask(other, 'SET', 'key', 'x'.repeat(1_000_000));
      await ask(other, 'CONFIG', 'SET', 'maxmemory', '1mb');
      const full = await examined({ REDIS_URL: other.url });
      expect(reds(full)).to.deep.equal(['Redis']);
      expect(full.Redis).to.deep.equal({
        state: 'red',
        found: redisProblemTexts.redis_full,
        todo: 'Find the long queue with ops queues, and raise maxmemory in Redis.',
      });
      expect(full['Redis eviction']?.state).to.equal('ok');
      await ask(other, 'CONFIG', 'SET', 'requirepass', 'right');
      const refused = await examined({ REDIS_URL: other.url.replace('//', '//:s3cret@') });
      expect(reds(refused)).to.deep.equal(['Redis']);
      expect(refused.Redis?.found).to.equal(redisProblemTexts.redis_password);
      expect(refused.Redis?.todo).to.match(/^Correct the user and password in REDIS_URL/);
      expect(refused['Redis eviction']?.state).to.equal('skipped');
    } finally {
      await other.stop();
    }
  });

  it('a missing index is red and is named', async () => {
    await connectMongo(mongoUrl);
    await rides.dropIndex('trackToken_if_any');
    await disconnectMongo();
    const found = await examined();
    await connectMongo(mongoUrl);
    await migrate(testConfig().secrets.keys);
    await disconnectMongo();
    expect(found.indexes).to.deep.equal({
      state: 'red',
      found: 'MongoDB lacks the index of trackToken on rides',
      todo: 'Run migrate.',
    });
  });

  it('an expired certificate, an unreachable target and a wrong mail server are red', async () => {
    const found = await examined(
      { PUBLIC_BASE_URL: expired.url, SMTP_URL: 'smtp://anna:s3cret@127.0.0.1:9' },
      { httpsTarget: 'https://127.0.0.1:9' },
    );
    expect(reds(found)).to.deep.equal(['outgoing HTTPS', 'certificate', 'mail']);
    expect(found.certificate?.found).to.match(/^expired/);
    expect(found['outgoing HTTPS']?.found).to.equal('127.0.0.1: ECONNREFUSED');
    expect(found.mail?.found).to.match(/^E\w+$/);
    expect(JSON.stringify(found)).not.to.include('s3cret');
  });

  it('a certificate of an authority that nobody trusts is red', async () => {
    const found = await examined({}, { ca: expiredCertificate });
    expect(found.certificate?.state).to.equal('red');
  });

  describe('the file of tiles', () => {
    /** A server of a bucket, which answers with the given headers. */
    const bucket = useStarted(async () => {
      const file = await fs.readFile(await streetTiles());
      const answers = {
        '/good.pmtiles': [206, { 'access-control-allow-origin': '*' }],
        '/without-cors.pmtiles': [206, {}],
        '/without-ranges.pmtiles': [200, { 'access-control-allow-origin': '*' }],
      } as const;
      const server = http.createServer(({ url }, answer) => {
        const [status, more] = answers[url as keyof typeof answers] ?? [404, {}];
        answer.writeHead(status, more).end(file.subarray(0, 127));
      });
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const close = async () => {
        server.closeAllConnections();
        server.close();
      };
      return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
    });
    const altered = (at: number, byte: number) => async () => {
      const head = (await fs.readFile(await streetTiles())).subarray(0, 127);
      head.writeUInt8(byte, at);
      const file = path.join(folder.path, 'altered.pmtiles');
      await fs.writeFile(file, head);
      return file;
    };
    const region = /^streets from 57\.\d\d, 11\.\d\d to 57\.\d\d, 12\.\d\d at the zooms 10 to 14$/;
    const rows: [name: string, tileUrl: () => string | Promise<string>, state: string, found: string | RegExp][] = [
      ['on the disk', streetTiles, 'ok', region],
      ['of version 2', altered(7, 2), 'red', 'PMTiles version 2, where the maps read version 3'],
      ['of images', altered(99, 2), 'red', 'its tiles are images, where the maps draw vector tiles'],
      ['of another format', altered(0, 0), 'red', 'not a PMTiles file'],
      ['that does not exist', () => path.join(folder.path, 'no.pmtiles'), 'red', 'ENOENT'],
      ['in a bucket', () => `${bucket.url}/good.pmtiles`, 'ok', region],
      [
        'without CORS',
        () => `${bucket.url}/without-cors.pmtiles`,
        'red',
        /^the server permits no requests from https:/,
      ],
      ['without ranges', () => `${bucket.url}/without-ranges.pmtiles`, 'red', 'the server answers no ranges'],
      ['missing there', () => `${bucket.url}/no.pmtiles`, 'red', 'the server answers 404'],
      ['of a dead server', () => 'http://127.0.0.1:9/dead.pmtiles', 'red', /^\w+$/],
      ['that is a template', () => 'https://t.example/{z}/{x}/{y}.png', 'skipped', /^TILE_URL is a template/],
    ];
    for (const [name, tileUrl, state, found] of rows) {
      it(`${name}: ${state}`, async () => {
        const config = testConfig({ TILE_URL: await tileUrl(), TRACK_BASE_URL: 'https://track.example' });
        const outcome = await checkTiles(config);
        expect(outcome.state, outcome.found).to.equal(state);
        expect(outcome.found).to.match(found instanceof RegExp ? found : new RegExp(`^${found}$`));
      });
    }
  });

  it('invalid settings are red without their values, and do not stop the other checks', async () => {
    const found = await examined({ PORT: 's3cret', REDIS_URL: 's3cret://x' });
    expect(reds(found)).to.deep.equal(['settings']);
    expect(found.settings?.found).to.include('Setting PORT').and.include('Setting REDIS_URL').and.not.include('s3cret');
    expect(found.Redis).to.deep.equal({ state: 'skipped', found: 'REDIS_URL is not valid' });
    expect(found.MongoDB?.state).to.equal('ok');
  });

  it('a SECRETS_KEY of another database is red, and without one the check is skipped', async () => {
    const found = await examined({ SECRETS_KEY: Buffer.alloc(32, 8).toString('base64') });
    expect(reds(found)).to.deep.equal(['SECRETS_KEY']);
    expect((await examined({ SECRETS_KEY: '' })).SECRETS_KEY?.state).to.equal('skipped');
  });

  it('without --https-target, no address outside the settings is contacted, and the check is skipped', async () => {
    const found = await examined({ SMTP_URL: '', MAIL_FROM: '' });
    expect(found['outgoing HTTPS']?.state).to.equal('skipped');
    expect(found.mail?.state).to.equal('skipped');
    expect(found.mail?.found).to.equal('SMTP_URL is not set: mails are shown at /dev/mail');
  });

  it('the command prints one line per check, what to do after red ones, and exits with code 1 if one is red', async () => {
    const atFault = { PUBLIC_BASE_URL: 'http://127.0.0.1:9', REDIS_URL: 'redis://127.0.0.1:9' };
    const { code, out } = await runToEnd(ops, ['doctor'], settings(atFault));
    expect(code).to.equal(1);
    expect(out[0])
      .to.match(/^ok {7}settings/m)
      .and.match(/^RED {6}Redis .*\n {28}Start Redis, or correct REDIS_URL/m);
    expect(out[0]).to.match(/^skipped {2}Redis eviction/m);
  });

  describe('ops bundle', () => {
    const secrets = {
      SECRETS_KEY: Buffer.alloc(32, 9).toString('base64'),
      OPS_TOKEN: 'token-of-all-operators-1234',
      SUPPORT_PHONE: '+1 202 555 0177',
      PUBLIC_BASE_URL: 'http://127.0.0.1:9',
    };
    const planted = [
      ...['Ada', 'Lovelace', 'ada lovelace', 'ADA', 'adaLovelace', 'ward seven', '+12025550111', '12025550111'],
      ...['ada@partner.example', 'Ward 7', 'Grace', 'Hopper'],
      ...[newApiKey('live'), newApiKey('test'), newDriverKey(), newSigningSecret(), 'ops_0123456789abcdefghij'],
      ...['4kDq0ZrT8mXw2LpNc7VbYa', 'eyJhbGciOiJIUzI1NiJ9.e30.abc', secrets.OPS_TOKEN, secrets.SECRETS_KEY, '555 0177'],
    ];

    async function bundled(argv: readonly string[], more: Record<string, string>) {
      const file = path.join(folder.path, `bundle-${Date.now()}.tar.gz`);
      const made = await runToEnd(ops, ['bundle', '--to', file, ...argv], settings({ ...secrets, ...more }));
      expect(made.code, made.err.join('\n')).to.equal(0);
      expect((await fs.stat(file)).mode & 0o777).to.equal(0o600);
      const run = promisify(execFile);
      const names = (await run('tar', ['-tzf', file])).stdout.trim().split('\n');
      const { stdout: text } = await run('tar', ['-xzOf', file], { maxBuffer: 100_000_000 });
      const contents: Record<string, string> = {};
      for (const name of names) contents[name] = (await run('tar', ['-xzOf', file, name])).stdout;
      return { names, text, contents };
    }

    it('a bundle contains none of the names, phones, tokens and keys in rides, settings and logs', async () => {
      const ctx = await testContext({ MONGO_URL: mongoUrl, REDIS_URL: redis.url });
      const passenger = { name: 'Ada Lovelace', phone: '+12025550111' };
      await newRide(ctx, { passenger, notes: 'Ward 7', reference: 'Grace Hopper' });
      await ctx.close();
      const time = '2026-11-23T17:00:00.000Z';
      const lines = [
        {
          level: 30,
          time,
          process: 'api',
          rideId: 'ride_0Uw4cA1k9fZ3xQ7LmT2bVn8Y',
          durationMs: 12.5,
          msg: 'ride created',
        },
        { level: 30, time, process: 'api', requestId: 'ada-lovelace', msg: 'request' },
        ...planted.flatMap((one) => [
          { level: 30, time, process: 'api', msg: `request of ${one} failed`, reason: one, path: `/track/${one}` },
          { level: 30, time, process: one, requestId: one, name: one, phone: one, body: { one }, error: { name: one } },
          { level: 30, time: one, [one]: one, asked: [one], why: `because of ${one}`, route: `GET /${one}` },
        ]),
      ];
      const file = path.join(folder.path, 'api.log');
      const text = [...lines.map((line) => JSON.stringify(line)), ...planted, '{"msg":"Ada Lov'].join('\n');
      await fs.writeFile(file, text);
      const bundle = await bundled(['--log', file], {});
      expect(bundle.names).to.deep.equal([
        'doctor.json',
        'settings.json',
        'versions.json',
        'queues.json',
        'log-1.jsonl',
      ]);
      expect(planted.filter((one) => bundle.text.includes(one))).to.deep.equal([]);
      expect(bundle.text).not.to.include('ada-lovelace');
      const [first = ''] = bundle.contents['log-1.jsonl']?.split('\n') ?? [];
      expect(JSON.parse(first)).to.deep.equal({
        ...{ level: 30, time, process: 'api', rideId: 'ride_0Uw4cA1k9fZ3xQ7LmT2bVn8Y', durationMs: 12.5 },
        msg: 'ride created',
      });
      const shown = JSON.parse(bundle.contents['settings.json'] ?? '');
      expect(shown).to.deep.include({ name: 'SERVICE_ENV', value: 'development' });
      expect(shown).to.deep.include({ name: 'SECRETS_KEY' });
      expect(JSON.parse(bundle.contents['queues.json'] ?? '').queues).to.have.length.above(4);
      expect(JSON.parse(bundle.contents['versions.json'] ?? '')).to.include({ node: process.version });
    });

    it('a bundle shows every message of the service word by word', async () => {
      const isCode = (name: string) => /\.tsx?$/.test(name) && !name.includes('browser');
      const folders = ['api', 'web', 'workers', 'shared', 'cli'].map((name) =>
        path.join(import.meta.dirname, '../../..', name),
      );
      const files = await Promise.all(folders.map((one) => fs.readdir(one, { recursive: true, withFileTypes: true })));
      const sources = await Promise.all(
        files
          .flat()
          .flatMap(({ name, parentPath }) => (isCode(name) ? [fs.readFile(path.join(parentPath, name), 'utf8')] : [])),
      );
      const calls = /\blog\.(?:info|warn|error)\([^;]*?['"]([^\n]+?)['"]\s*,?\s*\);|\b(?:failure|why): '([^']+)'/g;
      const found = sources.flatMap((source) =>
        [...source.matchAll(calls)].map(([, message, other]) => message ?? other),
      );
      expect(found).to.include.members(['ride created', 'sweep failed', 'held by another run']);
      const file = path.join(folder.path, 'own.log');
      await fs.writeFile(file, found.map((msg) => JSON.stringify({ msg })).join('\n'));
      expect((await safeLogLines(file)).map((line) => JSON.parse(line).msg)).to.deep.equal(found);
    });

    it('a bundle names no folder, which may be a home, and no host', async () => {
      const home = path.join(folder.path, 'ada');
      await fs.mkdir(home);
      const bundle = await bundled(['--disk', home, '--https-target', site.url], { PUBLIC_BASE_URL: site.url });
      expect(bundle.contents['doctor.json'])
        .to.match(/GB free .* at …/)
        .and.include('resolves …');
      expect(bundle.text).not.to.include(home).and.not.include('localhost');
    });

    it('a bundle is complete while MongoDB and Redis are down', async () => {
      const bundle = await bundled([], { MONGO_URL: 'mongodb://127.0.0.1:9/rides', REDIS_URL: 'redis://127.0.0.1:9' });
      expect(JSON.parse(bundle.contents['queues.json'] ?? '')).to.have.property('error');
      const doctor: { check: string; state: string }[] = JSON.parse(bundle.contents['doctor.json'] ?? '');
      expect(doctor.filter(({ state }) => state === 'red').map(({ check }) => check)).to.include.members([
        'MongoDB',
        'Redis',
      ]);
    });

    it('an archive keeps names and contents of any length', async () => {
      const files = { 'empty.txt': '', 'block.txt': 'x'.repeat(512), 'long.txt': 'ü\n'.repeat(100_000) };
      const file = path.join(folder.path, 'any.tar.gz');
      await fs.writeFile(file, tarGz(files, new Date(0)));
      for (const [name, text] of Object.entries(files)) {
        const { stdout, stderr } = await promisify(execFile)('tar', ['-xzOf', file, name], { maxBuffer: 10_000_000 });
        expect(stdout === text, name).to.equal(true);
        expect(stderr, name).to.equal('');
      }
    });
  });

  after(() => mongoose.disconnect());
});
