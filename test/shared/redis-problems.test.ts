import { expect } from 'chai';
import { ops } from '../../cli/ops/ops-commands.ts';
import { startRedis } from '../../dev/servers/redis-server.ts';
import type { Context } from '../../shared/base/context.ts';
import { describeError } from '../../shared/base/errors.ts';
import { registry } from '../../shared/base/metrics.ts';
import { addJob, createQueues } from '../../shared/base/queues.ts';
import { connectRedis, redisReady } from '../../shared/base/redis/redis.ts';
import { primariesOf, type RedisClient } from '../../shared/base/redis/redis-nodes.ts';
import { assertRedisWorks, readRedisState } from '../../shared/base/redis/redis-state.ts';
import { redisProblemOf, redisProblemTexts } from '../../shared/base/redis-problem.ts';
import { scraper } from '../../shared/process/ops/scrape.ts';
import { redisSettings, startWarnings } from '../../shared/process/ops/start-warnings.ts';
import { runCommand } from '../support/command-line.ts';
import { useFolder } from '../support/folder.ts';
import { withLogLines } from '../support/log-lines.ts';
import { ask } from '../support/redis-group.ts';
import { useTestContext } from '../support/service.ts';
import { until } from '../support/until.ts';
import { useRedis } from '../support/use-redis.ts';

const text = 'x'.repeat(100_000);

describe('the words for a Redis that does not work', () => {
  for (const [message, problem] of [
    ["OOM command not allowed when used memory > 'maxmemory'.", 'redis_full'],
    [
      "ERR Error running script: @user_script:9: -OOM command not allowed when used memory > 'maxmemory'.",
      'redis_full',
    ],
    ['WRONGPASS invalid username-password pair or user is disabled.', 'redis_password'],
    ['NOAUTH Authentication required.', 'redis_password'],
    ['NOAUTH HELLO must be called with the client already authenticated', 'redis_password'],
    ['LOADING Redis is loading the dataset in memory', 'redis_loading'],
    ['MISCONF Errors writing to the AOF file: No space left on device', 'redis_disk'],
    ['connect ECONNREFUSED 127.0.0.1:6379', undefined],
    ["Stream isn't writeable and enableOfflineQueue options is false", undefined],
  ] as const) {
    it(`the error "${message}" is ${problem ?? 'no problem of its own'}`, () => {
      expect(redisProblemOf(new Error(message))).to.equal(problem);
      expect(describeError(new Error(message)).code).to.equal(problem);
    });
  }

  it('an error of a cluster has the problem of its last node', () => {
    const lastNodeError = new Error('WRONGPASS invalid username-password pair or user is disabled.');
    const error = Object.assign(new Error('Failed to refresh slots cache.'), { lastNodeError });
    expect(redisProblemOf(error)).to.equal('redis_password');
  });
});

describe('a full Redis', () => {
  const service = useTestContext();
  const server = useRedis();
  let redis: RedisClient;
  const { ctx, lines } = withLogLines({} as Context);

  before(async () => {
    redis = connectRedis(server.url, ctx.log);
    await redisReady(redis, 10_000);
    expect(await readRedisState(redis))
      .to.have.all.keys('problem', 'memoryShare')
      .and.include({ problem: undefined });
    for (let number = 0; number < 30; number++) await redis.set(`key${number}`, text);
    await ask(server, 'CONFIG', 'SET', 'maxmemory', '2mb');
  });
  after(() => redis.disconnect());

  it('a full Redis is named in the log of a job that it refuses, and the job is left to the sweeper', async () => {
    const queues = createQueues(redis, ctx.log);
    const job = { id: 'mail_1', name: 'mail', data: { mailId: 'mail_1' } };
    expect(await addJob({ queues, log: ctx.log, now: Date.now }, 'mail', job)).to.equal(false);
    const [line] = lines.filter(({ msg }) => msg === 'job not added: the sweeper will add it');
    expect(line?.error).to.include({ code: 'redis_full' });
  });

  it('a full Redis makes a worker unready, with words that name the problem', async () => {
    const refused = await assertRedisWorks(redis).catch((error: Error) => error);
    expect(refused).to.include({ code: 'redis_full', message: redisProblemTexts.redis_full });
    expect((await readRedisState(redis)).memoryShare).to.be.greaterThan(0.9);
  });

  it('a full Redis has a warning in log and metrics, counts as away in metrics, and its memory is shown', async () => {
    const watch = startWarnings({ ...service, log: ctx.log, redis } as Context);
    await until(async () => lines.some(({ warning }) => warning === 'redis_full'));
    watch.stop();
    expect(lines.find(({ warning }) => warning === 'redis_full')?.msg).to.equal(redisProblemTexts.redis_full);
    const metrics = await scraper({ ...service, redis })();
    expect(metrics).to.include('rides_warning{warning="redis_full"} 1');
    expect(metrics).to.include('rides_warning{warning="redis_password"} 0');
    expect(metrics).to.include('rides_dependency_up{dependency="redis"} 0');
    expect(metrics).to.match(/^rides_redis_memory_used_ratio [1-9]/m);
    registry.getSingleMetric('rides_warning')?.reset();
  });

  it('ops queues names a full Redis and still shows its queues, and commands that write to it are refused', async () => {
    const full = { ...service, redis, queues: createQueues(redis, ctx.log) };
    const run = (...words: string[]) => runCommand(ops, words, full);
    const { answer, text } = await run('queues');
    expect(answer).to.include({ redis: 'redis_full' });
    const [first, second] = text.split('\n');
    expect(first).to.equal(`${redisProblemTexts.redis_full}.`);
    expect(second).to.match(/^POOL +WAITING/);
    expect(await run('pause', 'mail', '--by', 'Grace')).to.include({ code: 1, text: redisProblemTexts.redis_full });
  });

  it('a Redis that has room again is no longer reported as full', async () => {
    await redis.flushall();
    await until(async () => (await readRedisState(redis)).problem === undefined);
  });
});

describe('a Redis with a password', () => {
  const server = useRedis();
  before(() => ask(server, 'CONFIG', 'SET', 'requirepass', 'right'));

  for (const [title, userinfo] of [
    ['a wrong password', ':wrong@'],
    ['an unknown user', 'nobody:right@'],
    ['no password', ''],
  ] as const) {
    it(`a client with ${title} names it in one log line and in the state of Redis, and does not log the password`, async () => {
      const { ctx, lines } = withLogLines({} as Context);
      const redis = connectRedis(server.url.replace('//', `//${userinfo}`), ctx.log);
      await until(async () => (await readRedisState(redis)).problem === 'redis_password');
      redis.disconnect();
      expect(lines.map(({ msg, reason }) => ({ msg, reason }))).to.deep.equal([
        { msg: redisProblemTexts.redis_password, reason: 'redis_password' },
      ]);
      expect(JSON.stringify(lines)).not.to.match(/wrong|nobody|right/);
    });
  }

  it('a client with the right password finds no problem', async () => {
    const { ctx, lines } = withLogLines({} as Context);
    const redis = connectRedis(server.url.replace('//', '//default:right@'), ctx.log);
    await redisReady(redis, 10_000);
    expect((await readRedisState(redis)).problem).to.equal(undefined);
    redis.disconnect();
    expect(lines).to.deep.equal([]);
  });
});

describe('a Redis that loads its data', () => {
  const folder = useFolder();

  it('a loading Redis is named as loading, not as away or not persistent, until it has loaded', async () => {
    const options = { dataDir: folder.path, appendonly: true };
    const first = await startRedis(options);
    for (let number = 0; number < 40; number++) await ask(first, 'SET', `key${number}`, text);
    await ask(first, 'BGREWRITEAOF');
    await until(async () => String(await ask(first, 'INFO', 'persistence')).includes('aof_rewrite_in_progress:0'));
    await first.stop();
    // Each key takes 50 ms to load, and Redis answers clients after each one.
    const args = ['--key-load-delay', '50000', '--loading-process-events-interval-bytes', '1024'];
    const loading = await startRedis({ ...options, args: [...args, '--rdbcompression', 'no'] });
    const { ctx } = withLogLines({} as Context);
    const redis = connectRedis(loading.url, ctx.log);
    await until(async () => (await readRedisState(redis)).problem === 'redis_loading');
    for (const primary of primariesOf(redis)) {
      expect(await redisSettings(primary)).to.include({ isPersistent: true });
    }
    await until(async () => (await readRedisState(redis)).problem === undefined);
    redis.disconnect();
    await loading.stop();
  });
});
