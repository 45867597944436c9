import { expect } from 'chai';
import type { Cluster, Redis } from 'ioredis';
import { createLogger } from '../../shared/base/logger.ts';
import { connectRedis } from '../../shared/base/redis/redis.ts';
import { readRedisUrl } from '../../shared/base/redis/redis-url.ts';

describe('REDIS_URL', () => {
  it('a redis:// or rediss:// address is passed to ioredis unchanged', () => {
    for (const url of ['redis://localhost', 'rediss://user:secret@redis.example:6380/1']) {
      expect(readRedisUrl(url)).to.deep.equal({ kind: 'server', url });
    }
  });

  it('an address of a cluster lists its nodes, with ports, user name and password', () => {
    expect(readRedisUrl('redis-cluster://us%40er:pass%2Fword@one.example:7000,two.example,[::1]:7002')).to.deep.equal({
      kind: 'cluster',
      nodes: [
        { host: 'one.example', port: 7000 },
        { host: 'two.example', port: 6379 },
        { host: '::1', port: 7002 },
      ],
      credentials: { username: 'us@er', password: 'pass/word' },
      tls: false,
    });
  });

  it('an address of sentinels lists them, with the name and database of the primary and both passwords', () => {
    expect(readRedisUrl('redis-sentinel://:word@one,two:5000/my%20rides/3?sentinelPassword=ot+h%2Ber')).to.deep.equal({
      kind: 'sentinel',
      sentinels: [
        { host: 'one', port: 26379 },
        { host: 'two', port: 5000 },
      ],
      name: 'my rides',
      db: 3,
      credentials: { password: 'word' },
      sentinelPassword: 'ot+h+er',
      tls: false,
    });
    expect(readRedisUrl('redis-sentinel://one/rides')).to.deep.include({ name: 'rides', db: 0, credentials: {} });
  });

  it('an address that begins with rediss- uses TLS to every node and sentinel', () => {
    const log = createLogger('silent', 'test');
    const cluster = connectRedis('rediss-cluster://127.0.0.1:1', log) as Cluster;
    const redis = connectRedis('rediss-sentinel://127.0.0.1:1/rides', log) as Redis;
    cluster.disconnect();
    redis.disconnect();
    expect(cluster.options.redisOptions).to.deep.include({ tls: {} });
    expect(redis.options).to.deep.include({ tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true });
  });

  const wrong = {
    scheme: ['', 'localhost', 'http://redis', 'redis-cluster:host', 'redis-ring://host'],
    server: ['redis://', 'redis:///1', 'redis://one,two:6379', 'rediss://one:6379,two:6379', 'redis://:100%@one'],
    cluster: [
      'redis-cluster://',
      'redis-cluster://one,',
      'redis-cluster://one:70000',
      'redis-cluster://one:x',
      'redis-cluster://one/1',
      'redis-cluster://one?db=1',
      'redis-cluster://user@one',
      'redis-cluster://user:@one',
      'redis-cluster://:100%@one',
      'redis-cluster://:a/b@one',
    ],
    sentinel: [
      'redis-sentinel://one',
      'redis-sentinel://one/',
      'redis-sentinel://one/rides/x',
      'redis-sentinel://one/rides/1/2',
      'redis-sentinel://one/rides?password=x',
      'redis-sentinel://one/rides?sentinelPassword=100%',
    ],
  };
  for (const [form, urls] of Object.entries(wrong)) {
    it(`these addresses are refused with the rule "${form}": ${urls.join(' ')}`, () => {
      for (const url of urls) expect(readRedisUrl(url), url).to.equal(form);
    });
  }
});
