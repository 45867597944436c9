import { inspect } from 'node:util';
import { expect } from 'chai';
import { ConfigError, readConfig } from '../../shared/base/config.ts';

const secretsKey = Buffer.alloc(32, 7).toString('base64');
const production: NodeJS.ProcessEnv = {
  MONGO_URL: 'mongodb://user:pAsSwOrD@db.example/rides',
  REDIS_URL: 'redis://:pAsSwOrD@redis.example',
  PUBLIC_BASE_URL: 'https://rides.example',
  SECRETS_KEY: secretsKey,
};
const development = { ...production, SERVICE_ENV: 'development', PUBLIC_BASE_URL: undefined };

function refusal(env: NodeJS.ProcessEnv): string {
  try {
    readConfig(env);
  } catch (error) {
    expect(error).to.be.instanceOf(ConfigError);
    return (error as Error).message;
  }
  return 'accepted';
}

describe('settings', () => {
  it('in production, and if SERVICE_ENV is unset, the settings have these defaults', () => {
    const { secrets, ...config } = readConfig(production);
    expect(config).to.deep.include({
      environment: 'production',
      host: '127.0.0.1',
      port: 4100,
      publicBaseUrl: 'https://rides.example',
      trackBaseUrl: 'https://rides.example/track',
      biddingTimeoutMs: 600_000,
      pickupTimeoutMs: 7_200_000,
      tripTimeoutMs: 43_200_000,
      simulationSpeed: 1,
      dispatch: {
        rounds: [
          { radiusKm: 3, afterMs: 0 },
          { radiusKm: 6, afterMs: 20_000 },
          { radiusKm: 12, afterMs: 60_000 },
        ],
        repeatMs: 30_000,
      },
      webhookLocalTargets: [],
      egressAddresses: [],
      trustedProxyHops: 0,
      retention: { eraseDays: 30, rideDays: 396, auditDays: 365 },
    });
    expect(config.concurrency.webhooks).to.equal(500);
    expect(secrets.keys.map(({ key }) => key.export())).to.deep.equal([Buffer.alloc(32, 7)]);
  });

  it('the settings are deeply frozen', () => {
    const config = readConfig(production);
    for (const part of [
      config,
      config.secrets,
      config.secrets.keys,
      config.concurrency,
      config.webhookLocalTargets,
      config.egressAddresses,
    ]) {
      expect(Object.isFrozen(part)).to.equal(true);
    }
  });

  it('the part of the settings that may be printed contains no secret', () => {
    const { secrets: _, ...shown } = readConfig(production);
    expect(JSON.stringify(shown)).not.to.match(/pAsSwOrD|BwcHBw/);
  });

  it('SECRETS_KEY is an ordered list of keys, which printing does not reveal', () => {
    const bytes = [1, 2, 3].map((byte) => Buffer.alloc(32, byte));
    const list = bytes.map((key) => key.toString('base64')).join(' , ');
    const { secrets } = readConfig({ ...production, SECRETS_KEY: list });
    expect(secrets.keys.map(({ key }) => key.export())).to.deep.equal(bytes);
    expect(inspect(secrets.keys, { depth: 9 }) + JSON.stringify(secrets.keys)).not.to.match(/AQEBAQ|01 01 01|1,1,1/);
  });

  it('a process that does not use SECRETS_KEY does not need it', () => {
    const { SECRETS_KEY: _, ...others } = production;
    expect(refusal(others)).to.match(/SECRETS_KEY is required/);
    expect(readConfig(others, { without: ['SECRETS_KEY'] }).secrets.keys).to.deep.equal([]);
  });

  it('SMTP_URL requires MAIL_FROM, and its password is not printed', () => {
    const mail = { SMTP_URL: 'smtps://user:pAsSwOrD@mail.example:465', MAIL_FROM: 'Rides <rides@rides.example>' };
    const { secrets, ...shown } = readConfig({ ...production, ...mail });
    expect(secrets.smtpUrl).to.equal(mail.SMTP_URL);
    expect(shown.mailFrom).to.equal(mail.MAIL_FROM);
    expect(JSON.stringify(shown)).not.to.match(/pAsSwOrD|mail\.example/);
    expect(readConfig(production).secrets.smtpUrl).to.equal('');
    expect(refusal({ ...production, SMTP_URL: mail.SMTP_URL })).to.equal(
      'Setting MAIL_FROM must be set together with SMTP_URL',
    );
    for (const url of ['mail.example:465', 'https://mail.example', 'smtp://', 'smtp://[sEcReT']) {
      expect(refusal({ ...production, ...mail, SMTP_URL: url }), url).to.match(/SMTP_URL must be an address like/);
    }
    for (const from of ['rides', 'Rides rides@rides.example', 'a@b.example\nBcc: c@d.example', '<a b@c.example>']) {
      expect(refusal({ ...production, ...mail, MAIL_FROM: from }), from).to.match(/MAIL_FROM must be an address/);
    }
  });

  it('GEOCODER_URL is an http or https address, and its key is not printed', () => {
    const GEOCODER_URL = 'https://geocoder.example/search?key=pAsSwOrD';
    const { secrets, ...shown } = readConfig({ ...production, GEOCODER_URL });
    expect(secrets.geocoderUrl).to.equal(GEOCODER_URL);
    expect(JSON.stringify(shown)).not.to.match(/pAsSwOrD|geocoder\.example/);
    expect(readConfig(production).secrets.geocoderUrl).to.equal('');
    for (const url of ['geocoder.example/search', 'ftp://geocoder.example', 'sEcReT']) {
      expect(refusal({ ...production, GEOCODER_URL: url }), url).to.equal(
        'Setting GEOCODER_URL must be an http or https address',
      );
    }
  });

  it('traces are on only with a collector endpoint, with a default share of 1', () => {
    const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://collector:4318/';
    expect(readConfig({ ...production, OTEL_TRACES_SAMPLER_ARG: '0.5' }).traces).to.equal(undefined);
    const traces = { endpoint: 'http://collector:4318', share: 1 };
    expect(readConfig({ ...production, OTEL_EXPORTER_OTLP_ENDPOINT }).traces).to.deep.equal(traces);
    const some = { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER_ARG: '0.01' };
    expect(readConfig({ ...production, ...some }).traces).to.deep.equal({ ...traces, share: 0.01 });
  });

  it('a command that only uses MongoDB needs neither REDIS_URL nor PUBLIC_BASE_URL', () => {
    const { MONGO_URL, SECRETS_KEY } = production;
    const { secrets, publicBaseUrl } = readConfig(
      { MONGO_URL, SECRETS_KEY },
      { without: ['REDIS_URL', 'PUBLIC_BASE_URL'] },
    );
    expect({ redisUrl: secrets.redisUrl, publicBaseUrl }).to.deep.equal({ redisUrl: '', publicBaseUrl: '' });
    expect(secrets).to.deep.include({ mongoUrl: MONGO_URL });
  });

  it('all invalid settings are reported at once, one line each, with the name and without the value', () => {
    const wrong = { ...production, MONGO_URL: 'mongodb://sEcReT', PORT: '-1.5', TRACK_BASE_URL: 'http://sEcReT' };
    const message = refusal({
      ...wrong,
      REDIS_URL: '',
      LOG_LEVEL: 'sEcReT',
      WEBHOOK_LOCAL_TARGETS: 'http://127.0.0.1',
    });
    const names = message.split('\n').map((line) => line.match(/^Setting ([A-Z_]+) /)?.[1]);
    expect(names).to.have.members([
      'MONGO_URL',
      'PORT',
      'REDIS_URL',
      'TRACK_BASE_URL',
      'LOG_LEVEL',
      'WEBHOOK_LOCAL_TARGETS',
    ]);
    expect(message).not.to.match(/sEcReT|-1\.5|127/);
  });

  for (const path of ['/v1', '/v1/', '/api/v1', '/api/v1/', '/rides/v1', '/v1/rides']) {
    it(`PUBLIC_BASE_URL with the path ${path} is refused: links are built from the address without /v1`, () => {
      const line = refusal({ ...production, PUBLIC_BASE_URL: `https://rides.example${path}` });
      expect(line).to.equal('Setting PUBLIC_BASE_URL must be the address without /v1');
    });
  }
  for (const path of ['', '/', '/api', '/v10', '/partner-v1']) {
    it(`PUBLIC_BASE_URL with the path "${path}" is accepted`, () => {
      expect(refusal({ ...production, PUBLIC_BASE_URL: `https://rides.example${path}` })).to.equal('accepted');
    });
  }

  const hosts = ['h', 'h:27017', 'a:1,b:2', 'uSeR:p@h', 'uSeR:p%2Fw@h', '[::1]:1', '%2Ftmp%2Fmongo.sock'];
  for (const scheme of ['mongodb', 'mongodb+srv']) {
    it(`a MONGO_URL of ${scheme} without a database is refused: the driver would use one called "test"`, () => {
      for (const host of hosts) {
        for (const rest of ['', '/', '/?replicaSet=rs0', '?replicaSet=a/b']) {
          const line = refusal({ ...production, MONGO_URL: `${scheme}://${host}${rest}` });
          expect(line, host + rest).to.match(/^Setting MONGO_URL must name a database /);
        }
        for (const rest of ['/rides', '/rides?replicaSet=rs0']) {
          expect(refusal({ ...production, MONGO_URL: `${scheme}://${host}${rest}` }), host + rest).to.equal('accepted');
        }
      }
    });
  }

  it('an empty variable counts as unset', () => {
    const config = readConfig({
      ...production,
      PORT: '',
      TRACK_BASE_URL: '',
      WEBHOOK_LOCAL_TARGETS: '',
      SERVICE_ENV: '',
    });
    expect(config).to.include({ port: 4100, environment: 'production', trackBaseUrl: 'https://rides.example/track' });
  });

  it('trailing slashes of base addresses are removed', () => {
    const config = readConfig({
      ...production,
      PUBLIC_BASE_URL: 'https://rides.example//',
      TRACK_BASE_URL: 'https://t.example/m/',
    });
    expect(config).to.include({ publicBaseUrl: 'https://rides.example', trackBaseUrl: 'https://t.example/m' });
  });

  it('in development, WEBHOOK_LOCAL_TARGETS is a list', () => {
    const local = { WEBHOOK_LOCAL_TARGETS: 'http://127.0.0.1:4000, http://localhost:5000' };
    expect(readConfig({ ...development, ...local }).webhookLocalTargets).to.deep.equal([
      'http://127.0.0.1:4000',
      'http://localhost:5000',
    ]);
  });

  it('EGRESS_ADDRESSES is a list of addresses and CIDR ranges', () => {
    const { egressAddresses } = readConfig({ ...production, EGRESS_ADDRESSES: '203.0.113.10, 2001:db8::/64' });
    expect(egressAddresses).to.deep.equal(['203.0.113.10', '2001:db8::/64']);
  });

  it('DISPATCH_ROUNDS is a list of KM@SECONDS', () => {
    const { dispatch } = readConfig({ ...production, DISPATCH_ROUNDS: '1.5@0, 20@7.5', DISPATCH_REPEAT_MS: '1000' });
    expect(dispatch.rounds).to.deep.equal([
      { radiusKm: 1.5, afterMs: 0 },
      { radiusKm: 20, afterMs: 7_500 },
    ]);
    expect(dispatch.repeatMs).to.equal(1_000);
  });

  it('read SUPPORT_PHONE as the target of "I need help", or else SUPPORT_URL', () => {
    const both = { SUPPORT_PHONE: '+1 (202) 555-0100', SUPPORT_URL: 'https://rides.example/help' };
    const helpOf = (env: NodeJS.ProcessEnv) => readConfig({ ...production, ...env }).help;
    expect(helpOf(both)).to.deep.equal({ url: 'tel:+12025550100', phone: '+1 (202) 555-0100' });
    expect(helpOf({ ...both, SUPPORT_PHONE: '' })).to.deep.equal({ url: 'https://rides.example/help' });
    expect(helpOf({})).to.equal(undefined);
  });

  it('in development, the base address has a default', () => {
    expect(readConfig({ ...development, PORT: '4444' }).publicBaseUrl).to.equal('http://127.0.0.1:4444');
  });

  it('an IPv6 host is in brackets in base addresses', () => {
    expect(readConfig({ ...development, HOST: '::1' })).to.include({
      host: '::1',
      publicBaseUrl: 'http://[::1]:4100',
      trackBaseUrl: 'http://[::1]:4100/track',
    });
  });

  it('SHUTDOWN_GRACE_MS is at most one hour, which setTimeout can handle', () => {
    expect(readConfig({ ...production, SHUTDOWN_GRACE_MS: '3600000' }).shutdownGraceMs).to.equal(3_600_000);
    expect(refusal({ ...production, SHUTDOWN_GRACE_MS: '3600001' })).to.match(
      /SHUTDOWN_GRACE_MS .*3600000 \(one hour\)/,
    );
  });

  for (const name of ['MONGO_URL', 'REDIS_URL', 'PUBLIC_BASE_URL', 'SECRETS_KEY']) {
    it(`a start in production without ${name} is refused with one line that names it`, () => {
      const line = refusal({ ...production, [name]: undefined });
      expect(line).to.include(name).and.not.include('\n');
      expect(refusal({ ...production, [name]: '' })).to.equal(line);
    });
  }

  for (const name of ['MONGO_URL', 'REDIS_URL', 'SECRETS_KEY']) {
    it(`a start in development without ${name} is refused`, () => {
      expect(refusal({ ...development, [name]: undefined })).to.include(name);
    });
  }

  const wrong: [name: string, ...values: string[]][] = [
    ['SERVICE_ENV', 'Production', 'test', 'staging'],
    ['PORT', 'x4100', '-1', '65536', '41.5'],
    ['MONGO_URL', 'http://sEcReT@db', 'sEcReT', 'xmongodb://sEcReT'],
    ['REDIS_URL', 'http://:sEcReT@redis', 'sEcReT'],
    ['REDIS_URL', 'redis://:sEcReT@one:6379,two:6379', 'sEcReT'],
    ['REDIS_URL', 'redis-cluster://:sEcReT@one:7000/1', 'redis-cluster://sEcReT@one', 'redis-sentinel://:sEcReT@one'],
    ['PUBLIC_BASE_URL', 'rides.sEcReT', 'ftp://rides.sEcReT', 'https://'],
    ['TRACK_BASE_URL', 'sEcReT', 'javascript:sEcReT'],
    ['SECRETS_KEY', 'sEcReT', Buffer.alloc(31).toString('base64'), Buffer.alloc(33).toString('base64'), 'a'.repeat(64)],
    ['SECRETS_KEY', `${secretsKey},sEcReT`, `${secretsKey},`, ',', `${secretsKey},${secretsKey}`],
    ['BIDDING_TIMEOUT_MS', '0', '-5', 'sEcReT', '1.5', '1e12'],
    ['PICKUP_TIMEOUT_MS', '0', 'sEcReT'],
    ['TRIP_TIMEOUT_MS', '0', 'sEcReT'],
    ['SIMULATION_SPEED', '0', '-1', 'sEcReT', 'Infinity'],
    ['TRUSTED_PROXY_HOPS', '-1', '1.5', 'true', 'sEcReT'],
    // 25 days is above 2^31 - 1 ms, so Node's timer would fire after 1 ms.
    ['SHUTDOWN_GRACE_MS', '0', 'sEcReT', '2160000000', '3600001'],
    ['ERASE_AFTER_DAYS', '0', '1', '1.5', 'sEcReT', '3651'],
    ['DELETE_RIDES_AFTER_DAYS', '0', '61', 'sEcReT'],
    ['DELETE_AUDIT_AFTER_DAYS', '0', '29', 'sEcReT'],
    [
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      'collector:4318',
      'grpc://sEcReT',
      'http://sEcReT:x@host',
      'http://host?key=sEcReT',
    ],
    ['OTEL_TRACES_SAMPLER_ARG', '-0.1', '1.1', 'sEcReT'],
    ['LOG_LEVEL', 'sEcReT', 'INFO'],
    ['WEBHOOKS_CONCURRENCY', '0', 'sEcReT'],
    ['WEBHOOKS_SLOW_CONCURRENCY', '0'],
    ['BIDDING_CONCURRENCY', '1.5'],
    ['SIMULATOR_CONCURRENCY', '-1'],
    ['DISPATCH_CONCURRENCY', '0'],
    ['DISPATCH_ROUNDS', '3', '3@', '@0', '3@0;6@20', '0@0', '3@0,2@20', '3@0,6@0', '501@0', '3@sEcReT', '3@0,6@3601'],
    ['DISPATCH_REPEAT_MS', '0', 'sEcReT'],
    ['FARE_HINT_PER_KM', '0', '-1', 'sEcReT'],
    ['TILE_URL', 'https://sEcReT/tiles.png', 'sEcReT'],
    ['SUPPORT_PHONE', 'sEcReT', '12', '555;sEcReT'],
    ['SUPPORT_URL', 'http://sEcReT.example', 'javascript:sEcReT'],
    ['EGRESS_ADDRESSES', 'sEcReT', '198.51.100', '203.0.113.10/33', '203.0.113.10;203.0.113.11', '2001:db8::/129'],
    ['WEBHOOK_LOCAL_TARGETS', 'http://127.0.0.1:4000/sEcReT', '127.0.0.1:4999', 'http://sEcReT:x@127.0.0.1', '*'],
  ];
  for (const [name, ...values] of wrong) {
    for (const value of values) {
      it(`a start with ${name} ${value.slice(0, 30)} is refused with one line that does not quote the value`, () => {
        const line = refusal({ ...development, [name]: value });
        expect(line).to.include(name).and.not.include('\n');
        expect(line).not.to.include('sEcReT');
        if (value.length > 5 && !name.startsWith('SERVICE')) expect(line).not.to.include(value);
      });
    }
  }

  it('a start with FARE_HINT_BASE but without FARE_HINT_PER_KM is refused', () => {
    expect(refusal({ ...development, FARE_HINT_BASE: '2' })).to.match(/FARE_HINT_PER_KM must be set together with/);
    expect(refusal({ ...development, FARE_HINT_BASE: '-1', FARE_HINT_PER_KM: '1' })).to.match(/FARE_HINT_BASE/);
  });

  it('a start in production with a base address that is not https is refused', () => {
    expect(refusal({ ...production, PUBLIC_BASE_URL: 'http://rides.example' })).to.match(/PUBLIC_BASE_URL.*https/);
  });

  it('a start in production with WEBHOOK_LOCAL_TARGETS is refused', () => {
    const line = refusal({ ...production, WEBHOOK_LOCAL_TARGETS: 'http://127.0.0.1:4000' });
    expect(line)
      .to.match(/WEBHOOK_LOCAL_TARGETS/)
      .and.not.include('4000');
  });

  it('unknown variables are ignored', () => {
    expect(refusal({ ...production, PATH: '/bin', npm_config_x: 'y' })).to.equal('accepted');
  });

  for (const [given, known] of [
    ['MONGODB_URL', 'MONGO_URL'],
    ['SECRET_KEY', 'SECRETS_KEY'],
    ['WEBHOOKS_CONCURENCY', 'WEBHOOKS_CONCURRENCY'],
    ['SMTPURL', 'SMTP_URL'],
    ['public_base_url', 'PUBLIC_BASE_URL'],
    ['SHUTDOWN_GRACE', 'SHUTDOWN_GRACE_MS'],
    ['OPS_TOKN', 'OPS_TOKEN'],
  ] as const) {
    it(`an unknown setting ${given} is reported as similar to ${known}, without its value`, () => {
      const config = readConfig({ ...production, [given]: 'pAsSwOrD' });
      expect(config.unknownSettings).to.deep.equal([{ name: given, known }]);
      expect(JSON.stringify(config.unknownSettings)).not.to.include('pAsSwOrD');
    });
  }

  it('settings, empty variables and the variables of other programs are not reported as unknown settings', () => {
    const others = [
      ...['PATH', 'HOME', 'HOSTNAME', 'TERM', 'SHELL', 'NODE_ENV', 'API_PORT', 'REDIS_PORT', 'MONGO_PORT', 'DEBUG'],
      ...['OTEL_TRACES_SAMPLER', 'OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_SERVICE_NAME', 'API_DOMAIN', 'LOGNAME', 'MAIL'],
    ];
    const env = { ...production, MONGODB_URL: '', ...Object.fromEntries(others.map((name) => [name, 'x'])) };
    expect(readConfig(env).unknownSettings).to.deep.equal([]);
  });

  it('a refused start asks whether an unknown setting is the missing one', () => {
    const { REDIS_URL, ...others } = production;
    const message = refusal({ ...others, REDIS_URI: REDIS_URL });
    expect(message.split('\n')).to.include('Setting REDIS_URI is unknown: is it REDIS_URL?');
    expect(message).not.to.include('pAsSwOrD');
  });
});
