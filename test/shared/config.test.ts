import { inspect } from 'node:util';
import { expect } from 'chai';
import { readConfig } from '../../shared/base/config.ts';
import { ConfigError } from '../../shared/base/errors.ts';

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
    const { secrets, concurrency, webhookLocalTargets, egressAddresses } = config;
    for (const part of [config, secrets, secrets.keys, concurrency, webhookLocalTargets, egressAddresses]) {
      expect(Object.isFrozen(part)).to.equal(true);
    }
  });

  it('SECRETS_KEY is an ordered list of keys, which printing does not reveal', () => {
    const bytes = [1, 2, 3].map((byte) => Buffer.alloc(32, byte));
    const list = bytes.map((key) => key.toString('base64')).join(' , ');
    const { secrets } = readConfig({ ...production, SECRETS_KEY: list });
    expect(secrets.keys.map(({ key }) => key.export())).to.deep.equal(bytes);
    expect(inspect(secrets.keys, { depth: 9 }) + JSON.stringify(secrets.keys)).not.to.match(/AQEBAQ|01 01 01|1,1,1/);
  });

  it('the part of the settings that may be printed contains no secret', () => {
    const mail = { SMTP_URL: 'smtps://user:pAsSwOrD@mail.example:465', MAIL_FROM: 'Rides <rides@rides.example>' };
    const GEOCODER_URL = 'https://geocoder.example/search?key=pAsSwOrD';
    const ROUTING_URL = 'https://routing.example/route/v1/driving?access_token=pAsSwOrD';
    const { secrets, ...shown } = readConfig({ ...production, ...mail, GEOCODER_URL, ROUTING_URL });
    expect(secrets).to.deep.include({
      smtpUrl: mail.SMTP_URL,
      geocoderUrl: GEOCODER_URL,
      routingUrl: ROUTING_URL,
    });
    expect(shown.mailFrom).to.equal(mail.MAIL_FROM);
    expect(JSON.stringify(shown)).not.to.match(/pAsSwOrD|BwcHBw|mail\.example|(geocoder|routing)\.example/);
  });

  it('a process does not need the settings that it does not use', () => {
    const { MONGO_URL } = production;
    const { secrets, publicBaseUrl } = readConfig(
      { MONGO_URL },
      { without: ['REDIS_URL', 'PUBLIC_BASE_URL', 'SECRETS_KEY'] },
    );
    expect({ ...secrets, publicBaseUrl }).to.deep.include({ mongoUrl: MONGO_URL, redisUrl: '', publicBaseUrl: '' });
    expect(secrets.keys).to.deep.equal([]);
  });

  it('all invalid settings are reported at once, one line each, with the name and without the value', () => {
    const wrong = { MONGO_URL: 'mongodb://sEcReT', PORT: '-1.5', TRACK_BASE_URL: 'http://sEcReT', REDIS_URL: '' };
    const message = refusal({
      ...{ ...production, ...wrong },
      ...{ LOG_LEVEL: 'sEcReT', WEBHOOK_LOCAL_TARGETS: 'http://127.0.0.1' },
    });
    const names = message.split('\n').map((line) => line.match(/^Setting ([A-Z_]+) /)?.[1]);
    expect(names).to.have.members([...Object.keys(wrong), 'LOG_LEVEL', 'WEBHOOK_LOCAL_TARGETS']);
    expect(message).not.to.match(/sEcReT|-1\.5|127/);
  });

  const local = { WEBHOOK_LOCAL_TARGETS: 'http://127.0.0.1:4000, http://localhost:5000' };
  const phone = { SUPPORT_PHONE: '+1 (202) 555-0100' };
  const page = { SUPPORT_URL: 'https://rides.example/help' };
  const collector = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' };
  const accepted: [title: string, env: NodeJS.ProcessEnv, config: object][] = [
    [
      'an empty variable counts as unset',
      { ...production, PORT: '', TRACK_BASE_URL: '', WEBHOOK_LOCAL_TARGETS: '', SERVICE_ENV: '' },
      { port: 4100, environment: 'production', trackBaseUrl: 'https://rides.example/track', webhookLocalTargets: [] },
    ],
    [
      'trailing slashes of base addresses are removed',
      { ...production, PUBLIC_BASE_URL: 'https://rides.example//', TRACK_BASE_URL: 'https://t.example/m/' },
      { publicBaseUrl: 'https://rides.example', trackBaseUrl: 'https://t.example/m' },
    ],
    [
      'in development, the base address has a default, with an IPv6 host in brackets',
      { ...development, HOST: '::1', PORT: '4444' },
      { host: '::1', publicBaseUrl: 'http://[::1]:4444', trackBaseUrl: 'http://[::1]:4444/track' },
    ],
    [
      'in development, WEBHOOK_LOCAL_TARGETS is a list',
      { ...development, ...local },
      { webhookLocalTargets: ['http://127.0.0.1:4000', 'http://localhost:5000'] },
    ],
    [
      'EGRESS_ADDRESSES is a list of addresses and CIDR ranges',
      { ...production, EGRESS_ADDRESSES: '203.0.113.10, 2001:db8::/64' },
      { egressAddresses: ['203.0.113.10', '2001:db8::/64'] },
    ],
    [
      'DISPATCH_ROUNDS is a list of KM@SECONDS',
      { ...production, DISPATCH_ROUNDS: '1.5@0, 20@7.5', DISPATCH_REPEAT_MS: '1000' },
      {
        dispatch: {
          rounds: [
            { radiusKm: 1.5, afterMs: 0 },
            { radiusKm: 20, afterMs: 7_500 },
          ],
          repeatMs: 1_000,
        },
      },
    ],
    [
      'SUPPORT_PHONE is the target of "I need help", even with SUPPORT_URL',
      { ...production, ...phone, ...page },
      { help: { url: 'tel:+12025550100', phone: '+1 (202) 555-0100' } },
    ],
    ['SUPPORT_URL is the target of "I need help"', { ...production, ...page }, { help: { url: page.SUPPORT_URL } }],
    [
      'traces are on with a collector, by default for each request',
      { ...production, ...collector },
      { traces: { endpoint: 'http://collector:4318', share: 1 } },
    ],
    [
      'traces are recorded for a share of the requests',
      { ...production, ...collector, OTEL_TRACES_SAMPLER_ARG: '0.01' },
      { traces: { endpoint: 'http://collector:4318', share: 0.01 } },
    ],
  ];
  for (const [title, env, config] of accepted) {
    it(title, () => {
      expect(readConfig(env)).to.deep.include(config);
    });
  }

  it('without their settings, there are neither traces nor help', () => {
    const config = readConfig({ ...production, OTEL_TRACES_SAMPLER_ARG: '0.5' });
    expect(config).not.to.have.any.keys('traces', 'help');
  });

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

  it('links are built from the address without /v1, so PUBLIC_BASE_URL with that path is refused', () => {
    const line = (path: string) => refusal({ ...production, PUBLIC_BASE_URL: `https://rides.example${path}` });
    for (const path of ['/v1', '/v1/', '/api/v1', '/rides/v1', '/v1/rides']) {
      expect(line(path), path).to.equal('Setting PUBLIC_BASE_URL must be the address without /v1');
    }
    for (const path of ['', '/', '/api', '/v10', '/partner-v1']) expect(line(path), path).to.equal('accepted');
  });

  it('a start without a required setting is refused with one line that names it', () => {
    for (const [name, env] of [
      ...['MONGO_URL', 'REDIS_URL', 'PUBLIC_BASE_URL', 'SECRETS_KEY'].map((name) => [name, production] as const),
      ...['MONGO_URL', 'REDIS_URL', 'SECRETS_KEY'].map((name) => [name, development] as const),
    ]) {
      const line = refusal({ ...env, [name]: undefined });
      expect(line).to.include(name).and.not.include('\n');
      expect(refusal({ ...env, [name]: '' })).to.equal(line);
    }
  });

  // The ranges of numbers and the lists of words are in docs/settings.md, which another test compares with the rules.
  const wrong: [name: string, ...values: string[]][] = [
    ['PORT', 'x4100'],
    ['MONGO_URL', 'http://sEcReT@db', 'sEcReT', 'xmongodb://sEcReT'],
    ['REDIS_URL', 'redis://:sEcReT@one:6379,two:6379', 'sEcReT'],
    ['REDIS_URL', 'redis-cluster://:sEcReT@one:7000/1', 'redis-cluster://sEcReT@one', 'redis-sentinel://:sEcReT@one'],
    ['PUBLIC_BASE_URL', 'rides.sEcReT', 'ftp://rides.sEcReT', 'https://'],
    ['TRACK_BASE_URL', 'javascript:sEcReT'],
    ['SECRETS_KEY', 'sEcReT', Buffer.alloc(31).toString('base64'), Buffer.alloc(33).toString('base64'), 'a'.repeat(64)],
    ['SECRETS_KEY', `${secretsKey},sEcReT`, `${secretsKey},`, ',', `${secretsKey},${secretsKey}`],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'grpc://sEcReT', 'http://sEcReT:x@host', 'http://host?key=sEcReT'],
    ['DISPATCH_ROUNDS', '3', '3@', '@0', '3@0;6@20', '0@0', '3@0,2@20', '3@0,6@0', '501@0', '3@sEcReT', '3@0,6@3601'],
    ['TILE_URL', 'https://sEcReT/tiles.png', 'sEcReT'],
    ['SUPPORT_PHONE', 'sEcReT', '12', '555;sEcReT'],
    ['SUPPORT_URL', 'http://sEcReT.example', 'javascript:sEcReT'],
    ['GEOCODER_URL', 'ftp://geocoder.example', 'sEcReT'],
    [
      'ROUTING_URL',
      'http://sEcReT.example/route',
      'https://sEcReT:x@routing.example/route',
      'https://routing.example/#sEcReT',
    ],
    ['EGRESS_ADDRESSES', 'sEcReT', '198.51.100', '203.0.113.10/33', '203.0.113.10;203.0.113.11', '2001:db8::/129'],
    ['WEBHOOK_LOCAL_TARGETS', 'http://127.0.0.1:4000/sEcReT', '127.0.0.1:4999', 'http://sEcReT:x@127.0.0.1', '*'],
  ];
  for (const [name, ...values] of wrong) {
    for (const value of values) {
      it(`a start with ${name} ${value.slice(0, 30)} is refused with one line that does not quote the value`, () => {
        const line = refusal({ ...development, [name]: value });
        expect(line).to.include(name).and.not.include('\n');
        expect(line).not.to.include('sEcReT');
        if (value.length > 5) expect(line).not.to.include(value);
      });
    }
  }

  const [smtp, from] = ['smtp://mail.example', 'rides@rides.example'];
  for (const [env, text] of [
    [{ FARE_HINT_BASE: '2' }, 'FARE_HINT_PER_KM must be set together with FARE_HINT_BASE'],
    [{ SMTP_URL: smtp }, 'MAIL_FROM must be set together with SMTP_URL'],
    ...['mail.example:465', 'https://mail.example', 'smtp://', 'smtp://[sEcReT'].map(
      (url) => [{ SMTP_URL: url, MAIL_FROM: from }, 'SMTP_URL must be an address like'] as const,
    ),
    ...['rides', 'Rides rides@rides.example', 'a@b.example\nBcc: c@d.example', '<a b@c.example>'].map(
      (address) => [{ SMTP_URL: smtp, MAIL_FROM: address }, 'MAIL_FROM must be an address'] as const,
    ),
    [{ PUBLIC_BASE_URL: 'http://rides.example' }, 'PUBLIC_BASE_URL must be set to an https:// address in production'],
    [{ WEBHOOK_LOCAL_TARGETS: 'http://127.0.0.1:4000' }, 'WEBHOOK_LOCAL_TARGETS'],
    [{ SHUTDOWN_GRACE_MS: '3600001' }, 'SHUTDOWN_GRACE_MS must be at most 3600000 (one hour)'],
  ] as const) {
    it(`a start in production with ${JSON.stringify(env)} is refused`, () => {
      const line = refusal({ ...production, ...env });
      expect(line)
        .to.include(`Setting ${text}`)
        .and.not.match(/\n|sEcReT|4000/);
    });
  }

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
