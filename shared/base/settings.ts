import { isIPv6 } from 'node:net';
import Joi from 'joi';
import { secretsKey } from './encryption.ts';
import { readRedisUrl } from './redis/redis-url.ts';

const onlyHttps = '{{#label}} must be set to an https:// address in production';
const baseUrl = Joi.string()
  .uri({ scheme: ['http', 'https'] })
  .replace(/\/+$/, '')
  .messages({
    'string.uriCustomScheme': '{{#label}} must be an http or https address',
    'production.https': onlyHttps,
  });
const httpsInProduction = (url: string, helpers: Joi.CustomHelpers) =>
  isProduction(helpers) && !url.startsWith('https://') ? helpers.error('production.https') : url;
/** This setting may be printed, so it must not contain a password. */
const withoutUser = (url: string, helpers: Joi.CustomHelpers) =>
  /[@?#]/.test(url) ? helpers.error('traces.form') : url;
/** The API's routes are below /v1 and /api/v1; other links are built from the address without them. */
const withoutBase = (url: string, helpers: Joi.CustomHelpers) =>
  /\/v1(\/|$)/.test(new URL(url).pathname) ? helpers.error('baseUrl.v1') : url;
const durationMs = Joi.number()
  .integer()
  .min(1)
  .max(30 * 24 * 3_600_000);
/** The only duration that is passed to setTimeout: above 2^31 - 1 ms (24.8 days) Node would wait only 1 ms. */
const graceMs = Joi.number()
  .integer()
  .min(1)
  .max(3_600_000)
  .messages({ 'number.max': '{{#label}} must be at most 3600000 (one hour)' });
const concurrency = Joi.number().integer().min(1).max(10_000);
const dollars = Joi.number().max(100_000);
const count = Joi.number().integer().min(1).max(1_000_000);
/** A minimum, so that retention never deletes data that other features still read. */
const days = (least: number) => Joi.number().integer().min(least).max(3_650);

/** Every setting of the service, with its rules and its default. `readConfig` reads them. */
export const settings = Joi.object({
  // The strict mode is the default: only dev/ sets "development".
  SERVICE_ENV: Joi.string().valid('production', 'development').default('production'),
  HOST: Joi.string().default('127.0.0.1'),
  PORT: Joi.number().integer().min(0).max(65_535).default(4100),
  MONGO_URL: Joi.string().custom(readMongoUrl).required().messages({
    'mongoUrl.scheme': '{{#label}} must begin with mongodb:// or mongodb+srv://',
    'mongoUrl.database': '{{#label}} must name a database after its hosts, as in mongodb://HOST/rides',
  }),
  REDIS_URL: Joi.string().custom(checkRedisUrl).required().messages({
    'redisUrl.scheme': '{{#label}} must begin with redis://, redis-cluster:// or redis-sentinel://, or rediss for TLS',
    'redisUrl.server': '{{#label}} must be like redis://USER:PASSWORD@HOST:PORT/DATABASE',
    'redisUrl.cluster': '{{#label}} must be like redis-cluster://USER:PASSWORD@HOST:PORT,HOST:PORT, without a database',
    'redisUrl.sentinel':
      '{{#label}} must be like redis-sentinel://USER:PASSWORD@HOST:PORT,HOST:PORT/NAME, where NAME is the primary',
  }),
  PUBLIC_BASE_URL: baseUrl
    .custom(withoutBase)
    .custom(httpsInProduction)
    .required()
    .when('SERVICE_ENV', { is: 'production', otherwise: Joi.string().optional().default(ownAddress) })
    .messages({ 'any.required': onlyHttps, 'baseUrl.v1': '{{#label}} must be the address without /v1' }),
  TRACK_BASE_URL: baseUrl.custom(httpsInProduction).default(defaultTrackUrl),
  SECRETS_KEY: Joi.string().custom(readSecretsKeys).required().messages({
    'secretsKey.length':
      '{{#label}} must be 32 bytes in base64 (openssl rand -base64 32), or a comma-separated list of such keys',
    'secretsKey.twice': '{{#label}} must list each key once',
  }),
  BIDDING_TIMEOUT_MS: durationMs.default(10 * 60_000),
  PICKUP_TIMEOUT_MS: durationMs.default(2 * 3_600_000),
  TRIP_TIMEOUT_MS: durationMs.default(12 * 3_600_000),
  SIMULATION_SPEED: Joi.number().min(0.01).max(1_000).default(1),
  DISPATCH_ROUNDS: Joi.string()
    .custom(readRounds)
    .default([
      { radiusKm: 3, afterMs: 0 },
      { radiusKm: 6, afterMs: 20_000 },
      { radiusKm: 12, afterMs: 60_000 },
    ])
    .messages({
      'rounds.form': '{{#label}} must be a comma-separated list of KM@SECONDS, both increasing, like 3@0,6@20,12@60',
    }),
  DISPATCH_REPEAT_MS: durationMs.default(30_000),
  WEBHOOK_LOCAL_TARGETS: Joi.string().custom(readOrigins).messages({
    'origins.form': '{{#label}} must be a comma-separated list of origins like http://127.0.0.1:4000',
    'production.localTargets': '{{#label}} is only for development: in production the process does not start with it',
  }),
  EGRESS_ADDRESSES: Joi.string().custom(readAddresses).default([]).messages({
    'addresses.form':
      '{{#label}} must be a comma-separated list of addresses and CIDR ranges like 203.0.113.10,2001:db8::/64',
  }),
  TRUSTED_PROXY_HOPS: Joi.number().integer().min(0).max(10).default(0),
  TILE_URL: Joi.string()
    .pattern(/^https?:\/\/[^/{}]+\/(?=.*\{z\})(?=.*\{x\})(?=.*\{y\})/, 'https://HOST/{z}/{x}/{y}.png')
    .messages({ 'string.pattern.name': '{{#label}} must be an address like {{#name}}' }),
  TILE_ATTRIBUTION: Joi.string().default(''),
  MAX_STREAMS: count.default(10_000),
  MAX_STREAMS_PER_CLIENT: count.default(20),
  MAX_STREAMS_PER_RIDE: count.default(1_000),
  MAX_KEYS_PER_ACCOUNT: count.default(20),
  NEW_KEYS_PER_DAY: count.default(20),
  ACCOUNT_RIDES_PER_MINUTE: Joi.number().integer().min(0).max(1_000_000).default(0),
  SIGN_IN_MAILS_PER_HOUR: count.default(500),
  // The link to a live map and an Idempotency-Key are valid for 24 hours.
  ERASE_AFTER_DAYS: days(2).default(30),
  // Two months, so that the statement of the last full month is closed.
  DELETE_RIDES_AFTER_DAYS: days(62).default(396),
  DELETE_AUDIT_AFTER_DAYS: days(30).default(365),
  FARE_HINT_BASE: dollars.min(0),
  FARE_HINT_PER_KM: dollars
    .greater(0)
    .required()
    .when('FARE_HINT_BASE', { is: Joi.exist(), otherwise: Joi.optional() })
    .messages({ 'any.required': '{{#label}} must be set together with FARE_HINT_BASE' }),
  SHUTDOWN_GRACE_MS: graceMs.default(9_000),
  OPS_HOST: Joi.string().default('127.0.0.1'),
  OPS_PORT: Joi.number().integer().min(0).max(65_535),
  // Long enough that nobody can guess it.
  OPS_TOKEN: Joi.string()
    .pattern(/^[\x21-\x7e]{20,200}$/)
    .messages({
      'string.pattern.base': '{{#label}} must be 20 to 200 characters without spaces (openssl rand -hex 24)',
    }),
  OTEL_EXPORTER_OTLP_ENDPOINT: baseUrl.custom(withoutUser).messages({
    'traces.form': '{{#label}} must be an address without user and query: put passwords in OTEL_EXPORTER_OTLP_HEADERS',
  }),
  OTEL_TRACES_SAMPLER_ARG: Joi.number().min(0).max(1).default(1),
  LOG_LEVEL: Joi.string().valid('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent').default('info'),
  BIDDING_CONCURRENCY: concurrency.default(50),
  SIMULATOR_CONCURRENCY: concurrency.default(100),
  DISPATCH_CONCURRENCY: concurrency.default(50),
  WEBHOOKS_CONCURRENCY: concurrency.default(500),
  WEBHOOKS_SLOW_CONCURRENCY: concurrency.default(500),
  MAIL_CONCURRENCY: concurrency.default(10),
  SMTP_URL: Joi.string()
    .custom((url, helpers) => (/^smtps?:\/\/[^/?]/.test(url) && URL.canParse(url) ? url : helpers.error('smtp')))
    .messages({ smtp: '{{#label}} must be an address like smtps://USER:PASSWORD@HOST:465 or smtp://HOST:587' }),
  MAIL_FROM: Joi.string()
    .pattern(/^([^<>\r\n]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/)
    .required()
    .when('SMTP_URL', { is: Joi.exist(), otherwise: Joi.optional() })
    .messages({
      'any.required': '{{#label}} must be set together with SMTP_URL',
      'string.pattern.base': '{{#label}} must be an address like rides@example.com, or Rides <rides@example.com>',
    }),
});

const isProduction = ({ state }: Joi.CustomHelpers): boolean => state.ancestors[0].SERVICE_ENV === 'production';

function ownAddress({ HOST, PORT }: { HOST: string; PORT: number }): string {
  return `http://${isIPv6(HOST) ? `[${HOST}]` : HOST}:${PORT}`;
}

function defaultTrackUrl({ PUBLIC_BASE_URL = '' }: { PUBLIC_BASE_URL?: string }) {
  return `${PUBLIC_BASE_URL}/track`;
}

/** Without a database in the address, the driver would use a database named "test". */
function readMongoUrl(url: string, helpers: Joi.CustomHelpers): unknown {
  if (!/^mongodb(\+srv)?:\/\//.test(url)) return helpers.error('mongoUrl.scheme');
  return /^[^:]+:\/\/([^@]*@)?[^/?]+\/[^?]+/.test(url) ? url : helpers.error('mongoUrl.database');
}

function checkRedisUrl(url: string, helpers: Joi.CustomHelpers): unknown {
  const address = readRedisUrl(url);
  return typeof address === 'string' ? helpers.error(`redisUrl.${address}`) : url;
}

const addressOrRange = Joi.string().ip({ version: ['ipv4', 'ipv6'], cidr: 'optional' });

function readAddresses(list: string, helpers: Joi.CustomHelpers): unknown {
  const addresses = entriesOf(list);
  return addresses.every((address) => !addressOrRange.validate(address).error)
    ? addresses
    : helpers.error('addresses.form');
}

const entriesOf = (list: string): string[] => list.split(',').flatMap((entry) => entry.trim() || []);

function readOrigins(list: string, helpers: Joi.CustomHelpers): unknown {
  if (isProduction(helpers)) return helpers.error('production.localTargets');
  const origins = entriesOf(list);
  const exact = origins.every(
    (origin) => /^https?:/.test(origin) && URL.canParse(origin) && new URL(origin).origin === origin,
  );
  return exact ? origins : helpers.error('origins.form');
}

function readRounds(list: string, helpers: Joi.CustomHelpers): unknown {
  const rounds = list.split(',').map((entry) => {
    const [, km, seconds] = /^(\d+(?:\.\d+)?)@(\d+(?:\.\d+)?)$/.exec(entry.trim()) ?? [];
    return { radiusKm: Number(km), afterMs: Number(seconds) * 1_000 };
  });
  const areRising = rounds.every(({ radiusKm, afterMs }, index) => {
    const before = rounds[index - 1] ?? { radiusKm: 0, afterMs: -1 };
    return radiusKm > 0 && radiusKm <= 500 && radiusKm >= before.radiusKm && afterMs > before.afterMs;
  });
  return areRising && rounds.every(({ afterMs }) => afterMs <= 3_600_000) ? rounds : helpers.error('rounds.form');
}

function readSecretsKeys(list: string, helpers: Joi.CustomHelpers): unknown {
  const bytes = list.split(',').map((entry) => Buffer.from(entry.trim(), 'base64'));
  if (bytes.some(({ length }) => length !== 32)) return helpers.error('secretsKey.length');
  const keys = bytes.map(secretsKey);
  // Ciphertexts name their key by this id.
  const areDistinct = new Set(keys.map(({ id }) => id)).size === keys.length;
  return areDistinct ? keys : helpers.error('secretsKey.twice');
}
