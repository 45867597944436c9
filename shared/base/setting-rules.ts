import { isIPv6 } from 'node:net';
import Joi from 'joi';
import { secretsKey } from './encryption.ts';
import { readRedisUrl } from './redis/redis-url.ts';

/** The rules of settings that several of them share, and those that read a text. */

export const onlyHttps = '{{#label}} must be set to an https:// address in production';
export const baseUrl = Joi.string()
  .uri({ scheme: ['http', 'https'] })
  .replace(/\/+$/, '')
  .messages({
    'string.uriCustomScheme': '{{#label}} must be an http or https address',
    'production.https': onlyHttps,
  });
export const httpsInProduction = (url: string, helpers: Joi.CustomHelpers) =>
  isProduction(helpers) && !url.startsWith('https://') ? helpers.error('production.https') : url;
/** Refuses an address that may contain a password, because this setting may be printed. */
export const withoutUser = (url: string, helpers: Joi.CustomHelpers) =>
  /[@?#]/.test(url) ? helpers.error('traces.form') : url;
/** Refuses an address with /v1: routes are below /v1 and /api/v1, and links are built without them. */
export const withoutBase = (url: string, helpers: Joi.CustomHelpers) =>
  /\/v1(\/|$)/.test(new URL(url).pathname) ? helpers.error('baseUrl.v1') : url;
export const durationMs = Joi.number()
  .integer()
  .min(1)
  .max(30 * 24 * 3_600_000)
  .unit('ms');
/** Bounded because it is passed to setTimeout: above 2^31 - 1 ms (24.8 days), Node would wait only 1 ms. */
export const graceMs = Joi.number()
  .integer()
  .min(1)
  .max(3_600_000)
  .unit('ms')
  .messages({ 'number.max': '{{#label}} must be at most 3600000 (one hour)' });
export const concurrency = Joi.number().integer().min(1).max(10_000);
export const dollars = Joi.number().max(100_000).unit('USD');
export const count = Joi.number().integer().min(1).max(1_000_000);
/** A number of days with a minimum, so that retention never deletes data that other features still read. */
export const days = (least: number) => Joi.number().integer().min(least).max(3_650).unit('days');

const isProduction = ({ state }: Joi.CustomHelpers): boolean => state.ancestors[0].SERVICE_ENV === 'production';

export function ownAddress({ HOST, PORT }: { HOST: string; PORT: number }): string {
  return `http://${isIPv6(HOST) ? `[${HOST}]` : HOST}:${PORT}`;
}

export function defaultTrackUrl({ PUBLIC_BASE_URL = '' }: { PUBLIC_BASE_URL?: string }) {
  return `${PUBLIC_BASE_URL}/track`;
}

/** Without a database in the address, the driver would use a database named "test". */
export function readMongoUrl(url: string, helpers: Joi.CustomHelpers): unknown {
  if (!/^mongodb(\+srv)?:\/\//.test(url)) return helpers.error('mongoUrl.scheme');
  return /^[^:]+:\/\/([^@]*@)?[^/?]+\/[^?]+/.test(url) ? url : helpers.error('mongoUrl.database');
}

export function checkRedisUrl(url: string, helpers: Joi.CustomHelpers): unknown {
  const address = readRedisUrl(url);
  return typeof address === 'string' ? helpers.error(`redisUrl.${address}`) : url;
}

const addressOrRange = Joi.string().ip({ version: ['ipv4', 'ipv6'], cidr: 'optional' });

export function readAddresses(list: string, helpers: Joi.CustomHelpers): unknown {
  const addresses = entriesOf(list);
  return addresses.every((address) => !addressOrRange.validate(address).error)
    ? addresses
    : helpers.error('addresses.form');
}

const entriesOf = (list: string): string[] => list.split(',').flatMap((entry) => entry.trim() || []);

export function readOrigins(list: string, helpers: Joi.CustomHelpers): unknown {
  if (isProduction(helpers)) return helpers.error('production.localTargets');
  const origins = entriesOf(list);
  const exact = origins.every(
    (origin) => /^https?:/.test(origin) && URL.canParse(origin) && new URL(origin).origin === origin,
  );
  return exact ? origins : helpers.error('origins.form');
}

export function readRoutingUrl(text: string, helpers: Joi.CustomHelpers): unknown {
  if (!/^https?:\/\/[^/?]/.test(text) || !URL.canParse(text)) return helpers.error('routing.form');
  const { protocol, hostname, username, password, hash } = new URL(text);
  if (username || password || hash) return helpers.error('routing.form');
  return protocol === 'https:' || (isLoopback(hostname) && !isProduction(helpers))
    ? text
    : helpers.error('routing.development');
}

export function readRounds(list: string, helpers: Joi.CustomHelpers): unknown {
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

const isLoopback = (hostname: string): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);

export function readSmsUrl(text: string, helpers: Joi.CustomHelpers): unknown {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isAllowed =
    url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname) && !isProduction(helpers));
  return isAllowed && url?.username && url.password && !url.search && !url.hash ? text : helpers.error('sms.form');
}

export function readSecretsKeys(list: string, helpers: Joi.CustomHelpers): unknown {
  const bytes = list.split(',').map((entry) => Buffer.from(entry.trim(), 'base64'));
  if (bytes.some(({ length }) => length !== 32)) return helpers.error('secretsKey.length');
  const keys = bytes.map(secretsKey);
  // The ids must differ, because ciphertexts identify their key by its id.
  const areDistinct = new Set(keys.map(({ id }) => id)).size === keys.length;
  return areDistinct ? keys : helpers.error('secretsKey.twice');
}
