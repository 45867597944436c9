import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import mongoose from 'mongoose';
import { startMongo } from '../../dev/servers/mongo.ts';
import { isAlive, type RunningServer } from '../../dev/servers/processes.ts';
import { redisCommand, startRedis } from '../../dev/servers/redis-server.ts';

describe('local servers', function () {
  // The first start on a machine may have to fetch packages.
  this.timeout(120_000);

  let dataDir: string;
  let running: RunningServer[];

  beforeEach(async () => {
    dataDir = await fs.mkdtemp(path.join(os.tmpdir(), 'rides-test-'));
    running = [];
  });

  afterEach(async () => {
    await Promise.all(running.map((server) => server.stop()));
    await fs.rm(dataDir, { recursive: true, force: true });
  });

  async function started(starting: Promise<RunningServer>): Promise<RunningServer> {
    const server = await starting;
    running.push(server);
    return server;
  }

  /**
   * Starts a parent process that starts one server and sends its pid. On a message, the parent exits without stopping
   * the server.
   */
  async function startedByAnother(start: string): Promise<{ pid: number; parent: ChildProcess }> {
    const script = `${start}.then((server) => process.send(server.pid)); process.on('message', () => process.exit());`;
    const args = ['--import', 'tsx', '--input-type=module', '--eval', script];
    const parent = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    const [pid] = await once(parent, 'message');
    return { pid, parent };
  }

  const startMongoScript = () =>
    `import('./dev/servers/mongo.ts').then(({ startMongo }) => startMongo({ dataDir: '${dataDir}' }))`;
  const startRedisScript = () =>
    `import('./dev/servers/redis-server.ts').then(({ startRedis }) => startRedis({ dataDir: '${dataDir}' }))`;

  it('MongoDB keeps acknowledged writes across a kill, at the same URL', async () => {
    const first = await started(startMongo({ dataDir }));
    const connection = await mongoose.createConnection(first.url).asPromise();
    const rides = connection.collection<{ _id: number }>('rides');
    await rides.insertOne({ _id: 1 }, { writeConcern: { w: 1, journal: true } });

    process.kill(first.pid, 'SIGKILL');
    expect(await first.exited).to.equal('killed by SIGKILL');
    const second = await started(startMongo({ dataDir }));
    await first.stop(); // must not affect the second engine

    expect(second.url).to.equal(first.url);
    expect(connection.name).to.equal('rides');
    expect(await rides.findOne({ _id: 1 }), 'through the first connection').to.deep.equal({ _id: 1 });
    await connection.close();
  });

  it('MongoDB ends and removes its socket on stop', async () => {
    const server = await started(startMongo({ dataDir }));
    const socketPath = decodeURIComponent(new URL(server.url).host);
    await server.stop();
    expect(await server.exited).to.equal('exit code 0');
    expect(isAlive(server.pid)).to.equal(false);
    expect(await fs.readdir(path.dirname(socketPath)).catch(() => [])).to.deep.equal([]);
  });

  it('MongoDB refuses a second engine on the same data, and the first one keeps running', async () => {
    const first = await started(startMongo({ dataDir }));
    const error = await startMongo({ dataDir }).catch((reason: Error) => reason);
    expect(error)
      .to.be.an('error')
      .with.property('message')
      .that.matches(/^MongoDB did not start: .*DBPathInUse[^\n]*$/);
    const connection = await mongoose.createConnection(first.url).asPromise();
    await connection.close();
  });

  it('MongoDB ends when the process that started it is killed', async () => {
    const { pid, parent } = await startedByAnother(startMongoScript());
    parent.kill('SIGKILL');
    const next = await started(startMongo({ dataDir }));
    expect(next.pid).to.not.equal(pid);
    expect(isAlive(pid)).to.equal(false);
  });

  it('MongoDB starts even if another process removes its socket folder during the start', async () => {
    const first = await started(startMongo({ dataDir }));
    const folder = path.dirname(decodeURIComponent(new URL(first.url).host));
    await first.stop();
    const starting = started(startMongo({ dataDir }));
    while (!existsSync(folder)) await new Promise(setImmediate);
    await fs.rm(folder, { recursive: true, force: true });
    const connection = await mongoose.createConnection((await starting).url).asPromise();
    await connection.close();
  });

  it('Redis keeps its append-only file across a kill, on the same port', async () => {
    const first = await started(startRedis({ dataDir, appendonly: true }));
    const redis = new Redis(first.url);
    await redis.set('ride', 'bidding');
    process.kill(first.pid, 'SIGKILL');
    await first.exited;

    const port = Number(new URL(first.url).port);
    const second = await started(startRedis({ dataDir, appendonly: true, port }));
    expect(second.url).to.equal(first.url);
    expect(await redis.get('ride')).to.equal('bidding');
    redis.disconnect();
  });

  it('Redis ends on stop, and starts empty without an append-only file', async () => {
    const first = await started(startRedis({ dataDir }));
    const redis = new Redis(first.url);
    await redis.set('ride', 'bidding');
    redis.disconnect();
    await first.stop();
    expect(isAlive(first.pid)).to.equal(false);

    const again = new Redis((await started(startRedis({ dataDir }))).url);
    expect(await again.dbsize()).to.equal(0);
    expect(await again.config('GET', 'maxmemory-policy')).to.deep.equal(['maxmemory-policy', 'noeviction']);
    again.disconnect();
  });

  it('Redis fails with one line if its port is in use', async () => {
    const first = await started(startRedis({ dataDir }));
    const port = Number(new URL(first.url).port);
    const error = await startRedis({ dataDir: path.join(dataDir, 'other'), port }).catch((reason: Error) => reason);
    expect(error)
      .to.be.an('error')
      .with.property('message')
      .that.matches(/^Redis did not start on port \d+: [^\n]+$/);
  });

  for (const [how, end] of [
    ['exits', (parent: ChildProcess) => parent.send('exit')],
    ['is killed', (parent: ChildProcess) => parent.kill('SIGKILL')],
  ] as const) {
    it(`Redis ends when the process that started it ${how}`, async () => {
      const { pid, parent } = await startedByAnother(startRedisScript());
      end(parent);
      while (isAlive(pid)) await new Promise(setImmediate);
    });
  }

  it('Redis replaces the Redis of a killed run on the same data', async () => {
    const { file, env } = await redisCommand();
    const args = ['--port', '0', '--unixsocket', 'left.sock', '--dir', dataDir, '--pidfile', `${dataDir}/redis.pid`];
    const left = spawn(file, args, { cwd: dataDir, env: { ...process.env, ...env }, stdio: 'ignore' });
    while (!(await fs.readFile(path.join(dataDir, 'redis.pid'), 'utf8').catch(() => '')))
      await new Promise(setImmediate);
    await started(startRedis({ dataDir }));
    expect(isAlive(left.pid as number)).to.equal(false);
  });

  it('Redis never ends an unrelated process whose id is in an old pid file', async () => {
    const bystander = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1000)'], { cwd: dataDir });
    await fs.writeFile(path.join(dataDir, 'redis.pid'), `${bystander.pid}\n`);
    await started(startRedis({ dataDir }));
    expect(bystander.exitCode ?? bystander.signalCode).to.equal(null);
    bystander.kill();
  });
});
