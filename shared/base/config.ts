import type Joi from 'joi';
import leven from 'leven';
import { callUrl } from './call-url.ts';
import type { SecretsKeys } from './encryption.ts';
import { ConfigError } from './errors.ts';
import type { PoolName } from './queues.ts';
import { settings, settingTopics } from './settings.ts';
import { type Tiles, tilesFrom } from './tiles.ts';

export interface Config {
  environment: 'production' | 'development';
  host: string;
  port: number;
  publicBaseUrl: string;
  trackBaseUrl: string;
  biddingTimeoutMs: number;
  /** Drivers are asked for a ride for later from this time before its pickup. */
  scheduleLeadMs: number;
  pickupTimeoutMs: number;
  tripTimeoutMs: number;
  simulationSpeed: number;
  /**
   * The dispatch rounds of a live ride. Each runs `afterMs` after the creation and searches within `radiusKm` of the
   * pickup. After the last one, a round runs every `repeatMs`.
   */
  dispatch: { rounds: readonly { radiusKm: number; afterMs: number }[]; repeatMs: number };
  /** Set if the operator has a routing server, whose durations are multiplied by `durationFactor`. */
  routing?: { durationFactor: number };
  webhookLocalTargets: readonly string[];
  /** The addresses and CIDR ranges from which webhooks are sent; empty if the setting is unset. */
  egressAddresses: readonly string[];
  trustedProxyHops: number;
  /** An idle connection is kept this long after its last answer. */
  keepAliveMs: number;
  /** The hosts that `Strict-Transport-Security` covers. */
  hsts: 'host' | 'subdomains';
  /** The tiles of the maps; without them the background is plain. */
  tiles?: Tiles;
  /** The target of "I need help" on the live map: a `tel:` address with its phone number, or a page. */
  help?: { url: string; phone?: string };
  /** Limits on the open page streams of one process: in total, per client address and per ride. */
  streams: { all: number; perClient: number; perRide: number };
  /** Limits on the keys that an account creates itself: active keys, and new keys in 24 hours. */
  maxKeysPerAccount: number;
  newKeysPerDay: number;
  /** Limit on the rides that all keys of an account together create in 60 seconds; 0 means no limit. */
  ridesPerAccountMinute: number;
  /** Limit per clock hour on sign-in mails to new browsers, and on invitations: each may have this many. */
  signInMailsPerHour: number;
  /** The days until the personal data of an ended ride, the ride itself, and an audit entry are deleted. */
  retention: { eraseDays: number; rideDays: number; auditDays: number };
  /** Fallback tariff of fare hints, in US dollars, for areas with too few rides. */
  fareTariff?: { base: number; perKm: number };
  shutdownGraceMs: number;
  logLevel: string;
  /** The address of health checks and metrics. Without a port they are off; port 0 picks a free port. */
  ops: { host: string; port?: number; auth: 'shared' | 'personal' };
  /** The trace collector; without it the process records no traces. */
  traces?: TraceSettings;
  /** The number of concurrent jobs of a process, by pool. */
  concurrency: Record<PoolName, number>;
  mailFrom: string;
  /** The sender of text messages, and the most of them about the rides of an account per day. */
  sms: { from: string; perAccountDay: number };
  /** Variables that are not settings, but resemble one. Only their names: a value may be a secret. */
  unknownSettings: readonly UnknownSetting[];
  /** Kept separate, so that dumping the other settings never prints the secrets. */
  secrets: {
    mongoUrl: string;
    redisUrl: string;
    keys: SecretsKeys;
    smtpUrl: string;
    smsUrl: string;
    opsToken: string;
    geocoderUrl: string;
    /** May contain a token. */
    routingUrl: string;
  };
}

export interface TraceSettings {
  endpoint: string;
  /** The share of traces that are sent, 0 to 1. */
  share: number;
}

const rules = { stripUnknown: true, abortEarly: false, errors: { label: 'key' } } as const;

/** Compose files pass an unset setting as an empty variable (`${NAME:-}`), so an empty variable counts as unset. */
const givenIn = (env: NodeJS.ProcessEnv) => Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));

type Setting = 'SECRETS_KEY' | 'REDIS_URL' | 'PUBLIC_BASE_URL';

/**
 * Reads and checks every setting of the service. Throws ConfigError with one line per missing or invalid setting.
 * `without` names required settings that this process does not use: if unset, they become an empty string or list.
 */
export function readConfig(
  env: NodeJS.ProcessEnv = process.env,
  { without = [] }: { without?: readonly Setting[] } = {},
): Readonly<Config> {
  const given = givenIn(env);
  const needed = settings.fork([...without], (setting) => setting.optional());
  const { value, error } = needed.validate(given, rules);
  const unknownSettings = findSimilar(Object.keys(given));
  if (error) throw new ConfigError([...problemsOf(error), ...unknownSettings.map(questionAbout)].join('\n'));
  return configOf(value, unknownSettings);
}

/**
 * Like `readConfig` of a process that needs no SECRETS_KEY, but never throws: a setting that is missing or invalid
 * counts as unset, and `problems` has a line for each. Unset addresses are empty.
 */
export function readValidSettings(env: NodeJS.ProcessEnv = process.env): {
  config: Readonly<Config>;
  problems: string[];
} {
  const given = givenIn(env);
  const { error } = settings.fork(['SECRETS_KEY'], (setting) => setting.optional()).validate(given, rules);
  const invalid = new Set(error?.details.map(({ path }) => String(path[0])));
  const valid = Object.fromEntries(Object.entries(given).filter(([name]) => !invalid.has(name)));
  const { value } = settings.fork(settingNames, (setting) => setting.optional()).validate(valid, rules);
  const unknownSettings = findSimilar(Object.keys(given));
  return {
    config: configOf({ ...value, MONGO_URL: value.MONGO_URL ?? '' }, unknownSettings),
    problems: [...(error ? problemsOf(error) : []), ...unknownSettings.map(questionAbout)],
  };
}

const settingNames = Object.values(settingTopics).flatMap(Object.keys);

/**
 * The known settings of an environment. The value is shown only if it is a number or one of a few words: all others may
 * contain a secret, an address or a name.
 */
export function shownSettings(env: NodeJS.ProcessEnv = process.env): { name: string; value?: string }[] {
  return Object.entries(Object.assign({}, ...Object.values(settingTopics)) as Record<string, Joi.Schema>).flatMap(
    ([name, rule]) => {
      const given = env[name];
      if (!given) return [];
      const { type, flags } = rule.describe() as { type: string; flags?: { only?: boolean } };
      const isPlain = (type === 'number' || flags?.only === true) && /^[\w.-]{1,40}$/.test(given);
      return [{ name, ...(isPlain && { value: given }) }];
    },
  );
}

// biome-ignore lint/suspicious/noExplicitAny: Joi does not infer the types of validated values.
function configOf(value: any, unknownSettings: readonly UnknownSetting[]): Readonly<Config> {
  return Object.freeze({
    environment: value.SERVICE_ENV,
    host: value.HOST,
    port: value.PORT,
    publicBaseUrl: value.PUBLIC_BASE_URL ?? '',
    trackBaseUrl: value.TRACK_BASE_URL,
    biddingTimeoutMs: value.BIDDING_TIMEOUT_MS,
    scheduleLeadMs: value.SCHEDULE_LEAD_MS,
    pickupTimeoutMs: value.PICKUP_TIMEOUT_MS,
    tripTimeoutMs: value.TRIP_TIMEOUT_MS,
    simulationSpeed: value.SIMULATION_SPEED,
    dispatch: Object.freeze({ rounds: Object.freeze(value.DISPATCH_ROUNDS), repeatMs: value.DISPATCH_REPEAT_MS }),
    ...(value.ROUTING_URL && { routing: Object.freeze({ durationFactor: value.ROUTING_DURATION_FACTOR }) }),
    webhookLocalTargets: Object.freeze(value.WEBHOOK_LOCAL_TARGETS ?? []),
    egressAddresses: Object.freeze(value.EGRESS_ADDRESSES),
    trustedProxyHops: value.TRUSTED_PROXY_HOPS,
    keepAliveMs: value.KEEP_ALIVE_SECONDS * 1_000,
    hsts: value.HSTS,
    ...(value.TILE_URL && { tiles: tilesFrom(value.TILE_URL, value.TILE_ATTRIBUTION) }),
    ...helpFrom(value.SUPPORT_PHONE, value.SUPPORT_URL),
    streams: Object.freeze({
      all: value.MAX_STREAMS,
      perClient: value.MAX_STREAMS_PER_CLIENT,
      perRide: value.MAX_STREAMS_PER_RIDE,
    }),
    maxKeysPerAccount: value.MAX_KEYS_PER_ACCOUNT,
    newKeysPerDay: value.NEW_KEYS_PER_DAY,
    ridesPerAccountMinute: value.ACCOUNT_RIDES_PER_MINUTE,
    signInMailsPerHour: value.SIGN_IN_MAILS_PER_HOUR,
    retention: Object.freeze({
      eraseDays: value.ERASE_AFTER_DAYS,
      rideDays: value.DELETE_RIDES_AFTER_DAYS,
      auditDays: value.DELETE_AUDIT_AFTER_DAYS,
    }),
    ...(value.FARE_HINT_PER_KM !== undefined && {
      fareTariff: Object.freeze({ base: value.FARE_HINT_BASE ?? 0, perKm: value.FARE_HINT_PER_KM }),
    }),
    shutdownGraceMs: value.SHUTDOWN_GRACE_MS,
    logLevel: value.LOG_LEVEL,
    ops: Object.freeze({
      host: value.OPS_HOST,
      auth: value.OPS_AUTH,
      ...(value.OPS_PORT !== undefined && { port: value.OPS_PORT }),
    }),
    ...(value.OTEL_EXPORTER_OTLP_ENDPOINT && {
      traces: Object.freeze({
        endpoint: value.OTEL_EXPORTER_OTLP_ENDPOINT,
        share: value.OTEL_TRACES_SAMPLER_ARG,
      }),
    }),
    concurrency: Object.freeze({
      bidding: value.BIDDING_CONCURRENCY,
      simulator: value.SIMULATOR_CONCURRENCY,
      dispatch: value.DISPATCH_CONCURRENCY,
      webhooks: value.WEBHOOKS_CONCURRENCY,
      'webhooks-slow': value.WEBHOOKS_SLOW_CONCURRENCY,
      routing: value.ROUTING_CONCURRENCY,
      mail: value.MAIL_CONCURRENCY,
      messages: value.MESSAGES_CONCURRENCY,
    }),
    mailFrom: value.MAIL_FROM ?? '',
    sms: Object.freeze({ from: value.SMS_FROM ?? '', perAccountDay: value.SMS_PER_ACCOUNT_DAY }),
    unknownSettings: Object.freeze(unknownSettings),
    secrets: Object.freeze({
      mongoUrl: value.MONGO_URL,
      redisUrl: value.REDIS_URL ?? '',
      keys: Object.freeze(value.SECRETS_KEY ?? []),
      smtpUrl: value.SMTP_URL ?? '',
      smsUrl: value.SMS_URL ?? '',
      opsToken: value.OPS_TOKEN ?? '',
      geocoderUrl: value.GEOCODER_URL ?? '',
      routingUrl: value.ROUTING_URL ?? '',
    }),
  });
}

/** The user who started this process with `sudo`. */
export const sudoUser = (env: NodeJS.ProcessEnv = process.env): string | undefined => env.SUDO_USER || undefined;

/** The target of "I need help": the number, or else the page. */
export function helpFrom(phone?: string, url?: string): Pick<Config, 'help'> {
  if (phone) return { help: Object.freeze({ url: `${callUrl(phone)}`, phone }) };
  return url ? { help: Object.freeze({ url }) } : {};
}

const questionAbout = ({ name, known }: UnknownSetting): string => `Setting ${name} is unknown: is it ${known}?`;

/** One line per invalid setting: the first rule that it breaks. */
function problemsOf({ details }: Joi.ValidationError): string[] {
  const first = new Map(details.toReversed().map(({ path, message }) => [path[0], message]));
  return [...first.values()].reverse().map((message) => `Setting ${message.replaceAll('"', '').replaceAll('\n', ' ')}`);
}

/** A variable of the environment that is not a setting, and the setting that it resembles. */
export interface UnknownSetting {
  name: string;
  known: string;
}

const knownNames = Object.keys(settings.describe().keys);
/** Two short names can differ in two letters by chance, such as API_PORT and OPS_PORT. */
const longName = 9;
const shortName = 6;

/**
 * The variables that were probably meant as settings: the name of a setting with up to two wrong letters (one in a name
 * of less than 9 letters), with other underscores, or with its last words missing. Variables of OpenTelemetry may lack
 * words, because its library reads more of them. Pure.
 */
export function findSimilar(names: readonly string[]): UnknownSetting[] {
  return names.flatMap((name) => {
    if (knownNames.includes(name) || !/^\w{4,64}$/.test(name)) return [];
    const known = knownNames.find((setting) => resembles(name, setting));
    return known ? [{ name, known }] : [];
  });
}

function resembles(name: string, setting: string): boolean {
  if (plain(name) === plain(setting)) return true;
  if (!name.startsWith('OTEL_') && name.includes('_') && setting.startsWith(`${name}_`)) return true;
  const length = Math.max(name.length, setting.length);
  if (length < shortName || Math.abs(name.length - setting.length) > 2) return false;
  return leven(name.toUpperCase(), setting) <= (length < longName ? 1 : 2);
}

const plain = (name: string): string => name.replaceAll('_', '').toUpperCase();
