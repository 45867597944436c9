import Joi from 'joi';
import { callUrl } from './call-url.ts';
import * as rules from './setting-rules.ts';

/**
 * The settings by topic, with their rules and defaults. `npm run docs:settings` makes docs/settings.md from them:
 * descriptions and notes are Markdown, tags name the readers of a setting, and `meta` shows a computed default.
 */
export const settingTopics: Readonly<Record<string, Readonly<Record<string, Joi.Schema>>>> = {
  'Environment and servers': {
    // Strict by default: only dev/ sets "development".
    SERVICE_ENV: Joi.string()
      .valid('production', 'development')
      .default('production')
      .description('`development` relaxes the production checks (HTTPS, public addresses).')
      .note('`npm run dev` sets it.'),
    MONGO_URL: Joi.string()
      .custom(rules.readMongoUrl)
      .required()
      .messages({
        'mongoUrl.scheme': '{{#label}} must begin with mongodb:// or mongodb+srv://',
        'mongoUrl.database': '{{#label}} must name a database after its hosts, as in mongodb://HOST/rides',
      })
      .description('The address of MongoDB, with the name of the database.')
      .example('mongodb://HOST/rides')
      .example('mongodb+srv://HOST/rides'),
    REDIS_URL: Joi.string()
      .custom(rules.checkRedisUrl)
      .required()
      .messages({
        'redisUrl.scheme':
          '{{#label}} must begin with redis://, redis-cluster:// or redis-sentinel://, or rediss for TLS',
        'redisUrl.server': '{{#label}} must be like redis://USER:PASSWORD@HOST:PORT/DATABASE',
        'redisUrl.cluster':
          '{{#label}} must be like redis-cluster://USER:PASSWORD@HOST:PORT,HOST:PORT, without a database',
        'redisUrl.sentinel':
          '{{#label}} must be like redis-sentinel://USER:PASSWORD@HOST:PORT,HOST:PORT/NAME, where NAME is the primary',
      })
      .description('The address of Redis: one server, a Redis Cluster, or a primary that sentinels watch.')
      .note('`rediss` instead of `redis` means TLS.', '[Which form to use](operations.md#beyond-one-host).')
      .example('redis://default:PASSWORD@HOST:6379')
      .example('redis-cluster://default:PASSWORD@HOST:6379,HOST:6379')
      .example('redis-sentinel://default:PASSWORD@HOST:26379,HOST:26379/NAME')
      .tag('API', 'workers', 'ops'),
    SECRETS_KEY: Joi.string()
      .custom(rules.readSecretsKeys)
      .required()
      .messages({
        'secretsKey.length':
          '{{#label}} must be 32 bytes in base64 (openssl rand -base64 32), or a comma-separated list of such keys',
        'secretsKey.twice': '{{#label}} must list each key once',
      })
      .description('Encrypts signing secrets, mails and text messages, and signs sign-in codes.')
      .note('32 random bytes in base64 (`openssl rand -base64 32`), or a comma-separated list of such keys.')
      .note(
        'The first key encrypts, and every key of the list decrypts ([rotation](operations.md#rotating-secrets_key)).',
      )
      .tag('API', 'webhooks', 'webhooks-slow', 'mail', 'messages', 'migrate', 'keys'),
  },
  Addresses: {
    HOST: Joi.string().default('127.0.0.1').description('The address on which the API listens.').tag('API'),
    PORT: Joi.number()
      .integer()
      .min(0)
      .max(65_535)
      .default(4100)
      .description('The port on which the API listens; 0 means any free port.')
      .tag('API'),
    PUBLIC_BASE_URL: rules.baseUrl
      .custom(rules.withoutBase)
      .custom(rules.httpsInProduction)
      .required()
      .when('SERVICE_ENV', { is: 'production', otherwise: Joi.string().optional().default(rules.ownAddress) })
      .messages({ 'any.required': rules.onlyHttps, 'baseUrl.v1': '{{#label}} must be the address without /v1' })
      .description("The API's public address without `/v1`; all links except those to live maps begin with it.")
      .example('https://HOST')
      .meta({ default: 'http://HOST:PORT' })
      .tag('API', 'workers', 'ops'),
    TRACK_BASE_URL: rules.baseUrl
      .custom(rules.httpsInProduction)
      .default(rules.defaultTrackUrl)
      .description("The address of live maps: every ride's `trackUrl` begins with it.")
      .example('https://HOST/track')
      .meta({ default: 'PUBLIC_BASE_URL/track' })
      .tag('API', 'workers', 'ops'),
    TRUSTED_PROXY_HOPS: Joi.number()
      .integer()
      .min(0)
      .max(10)
      .default(0)
      .description('How many proxies in front of the API are trusted to set `X-Forwarded-Proto` and `X-Forwarded-For`.')
      .tag('API'),
    KEEP_ALIVE_SECONDS: Joi.number()
      .integer()
      .min(5)
      .max(3_600)
      .default(75)
      .description(
        'How long the API keeps an idle connection. Must be longer than the proxy in front of it keeps one: otherwise the API closes connections on which requests arrive.',
      )
      .tag('API'),
    HSTS: Joi.valid('host', 'subdomains')
      .default('host')
      .description(
        'The hosts for which browsers use only HTTPS, for a year after each answer: the host of the address, or its subdomains too. Before you choose `subdomains`, make sure that every one of them has HTTPS.',
      )
      .tag('API'),
  },
  Rides: {
    BIDDING_TIMEOUT_MS: rules.durationMs
      .default(10 * 60_000)
      .description('How long a ride stays open for bidding before it is cancelled.')
      .tag('API', 'workers'),
    SCHEDULE_LEAD_MS: rules.durationMs
      .default(30 * 60_000)
      .description('How long before its `pickupAt` a ride for later is opened to drivers.')
      .tag('API', 'workers'),
    PICKUP_TIMEOUT_MS: rules.durationMs
      .default(2 * 3_600_000)
      .description(
        'How long a ride may stay in `driver_arriving` before it is cancelled. The same limit applies to `arrived`.',
      )
      .tag('API', 'workers'),
    TRIP_TIMEOUT_MS: rules.durationMs
      .default(12 * 3_600_000)
      .description('How long a ride may stay in `in_progress` before it is cancelled.')
      .tag('API', 'workers'),
    SIMULATION_SPEED: Joi.number()
      .min(0.01)
      .max(1_000)
      .default(1)
      .description('The speed of the simulated driver in test rides, as a multiple of real time.')
      .tag('API', 'workers'),
    DISPATCH_ROUNDS: Joi.string()
      .custom(rules.readRounds)
      .default([
        { radiusKm: 3, afterMs: 0 },
        { radiusKm: 6, afterMs: 20_000 },
        { radiusKm: 12, afterMs: 60_000 },
      ])
      .messages({
        'rounds.form': '{{#label}} must be a comma-separated list of KM@SECONDS, both increasing, like 3@0,6@20,12@60',
      })
      .description('The dispatch rounds of a live ride: the radius around the pickup, and the time since its creation.')
      .note(
        'Each round must have a later time than the one before, and no smaller radius; the maximum is 500 km and 3600 s.',
        'For a ride between cities, every round uses the last radius.',
      )
      .example('KM@SECONDS,KM@SECONDS')
      .meta({ default: '3@0,6@20,12@60' })
      .tag('dispatch'),
    DISPATCH_REPEAT_MS: rules.durationMs
      .default(30_000)
      .description('After the last dispatch round: how often a ride is opened to drivers who have not been asked yet.')
      .tag('dispatch'),
  },
  Routes: {
    ROUTING_URL: Joi.string()
      .custom(rules.readRoutingUrl)
      .messages({
        'routing.form':
          '{{#label}} must be an https:// address without user and fragment, like https://HOST/route/v1/driving',
        'routing.development': '{{#label}} may begin with http:// only in development, and only on this host',
      })
      .description('The routing server: the address of an OSRM server, or of a service with its HTTP API.')
      .note(
        '`/LNG,LAT;LNG,LAT` and the query are appended, and further query parameters such as a token are kept.',
        'The server gets two points with 5 decimals and nothing else, and no redirect is followed.',
        'Without it, or while it does not answer, cars of test rides drive in a straight line and arrivals are estimates.',
      )
      .example('https://HOST/route/v1/driving')
      .tag('API', 'workers', 'ops'),
    ROUTING_DURATION_FACTOR: Joi.number()
      .min(0.2)
      .max(5)
      .default(1)
      .description('The factor by which the durations of the routing server are multiplied.')
      .note('Most servers compute with empty streets, so their durations are too short at most times of the day.')
      .tag('routing'),
  },
  'Fare hints': {
    FARE_HINT_BASE: rules.dollars
      .min(0)
      .description('The base price of a ride in your tariff.')
      // Not a Joi default: the tariff exists only if it is set.
      .meta({ default: '0' })
      .tag('API'),
    FARE_HINT_PER_KM: rules.dollars
      .greater(0)
      .required()
      .when('FARE_HINT_BASE', { is: Joi.exist(), otherwise: Joi.optional() })
      .messages({ 'any.required': '{{#label}} must be set together with FARE_HINT_BASE' })
      .description(
        'The price per km in your tariff. The fare hint uses the tariff where there are too few completed rides.',
      )
      .note('Without a tariff, there is no hint for such places.')
      .tag('API'),
  },
  Webhooks: {
    EGRESS_ADDRESSES: Joi.string()
      .custom(rules.readAddresses)
      .default([])
      .messages({
        'addresses.form':
          '{{#label}} must be a comma-separated list of addresses and CIDR ranges like 203.0.113.10,2001:db8::/64',
      })
      .description('The addresses from which webhooks are sent, as receivers see them, such as those of a NAT gateway.')
      .note('Partners read them with `GET /v1/webhook-sources` to open their firewalls.')
      .example('203.0.113.10,2001:db8::/64')
      .tag('API'),
    WEBHOOK_LOCAL_TARGETS: Joi.string()
      .custom(rules.readOrigins)
      .messages({
        'origins.form': '{{#label}} must be a comma-separated list of origins like http://127.0.0.1:4000',
        'production.localTargets':
          '{{#label}} is only for development: in production the process does not start with it',
      })
      .description('Exact origins that may receive webhooks although they are neither HTTPS nor public.')
      .note('In production, a process refuses to start if this is set.')
      .example('http://127.0.0.1:4000,http://127.0.0.1:4001')
      .tag('API', 'webhooks', 'webhooks-slow', 'keys'),
  },
  'Accounts and mail': {
    SMTP_URL: Joi.string()
      .custom((url, helpers) => (/^smtps?:\/\/[^/?]/.test(url) && URL.canParse(url) ? url : helpers.error('smtp')))
      .messages({ smtp: '{{#label}} must be an address like smtps://USER:PASSWORD@HOST:465 or smtp://HOST:587' })
      .description('The mail server. Without it, nobody can sign in to the dashboard.')
      .note(
        'In production, a password is sent only over TLS.',
        'If this is unset, `npm run dev` lists mails at `/dev/mail`.',
      )
      .example('smtps://USER:PASSWORD@HOST:465')
      .example('smtp://HOST:587')
      .tag('API', 'mail', 'keys'),
    MAIL_FROM: Joi.string()
      .pattern(/^([^<>\r\n]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/)
      .required()
      .when('SMTP_URL', { is: Joi.exist(), otherwise: Joi.optional() })
      .messages({
        'any.required': '{{#label}} must be set together with SMTP_URL',
        'string.pattern.base': '{{#label}} must be an address like rides@example.com, or Rides <rides@example.com>',
      })
      .description('The sender of all mails.')
      .example('Rides <rides@example.com>')
      .tag('API', 'mail', 'keys'),
    SMS_URL: Joi.string()
      .custom(rules.readSmsUrl)
      .messages({
        'sms.form':
          '{{#label}} must be like https://SID:TOKEN@api.twilio.com/2010-04-01/Accounts/SID/Messages.json; plain http is only for loopback addresses in development',
      })
      .description("The provider of text messages: the address of Twilio's Messages API, or of one that works alike.")
      .note(
        'The part before `@` is the account and its token. The token also checks the signatures of callbacks.',
        'Without it, no text message is sent; `npm run dev` lists them at `/dev/messages`.',
      )
      .example('https://SID:TOKEN@api.twilio.com/2010-04-01/Accounts/SID/Messages.json')
      .tag('API', 'messages'),
    SMS_FROM: Joi.string()
      .pattern(/^(\+[1-9]\d{6,14}|MG[0-9a-f]{32})$/)
      .required()
      .when('SMS_URL', { is: Joi.exist(), otherwise: Joi.optional() })
      .messages({
        'any.required': '{{#label}} must be set together with SMS_URL',
        'string.pattern.base':
          '{{#label}} must be a number like +12025550100, or the id of a messaging service (MG and 32 hex digits)',
      })
      .description('The sender of text messages: a number, or the id of a messaging service.')
      .example('+12025550100')
      .tag('API', 'messages'),
    SMS_PER_ACCOUNT_DAY: rules.count
      .default(1_000)
      .description('The maximum number of text messages about the rides of an account per day (UTC).')
      .note('A number gets at most 60 in any hour, and a person at most 5 about a ride.')
      .tag('messages'),
    SIGN_IN_MAILS_PER_HOUR: rules.count
      .default(500)
      .description(
        'The maximum number of sign-in mails per clock hour, for all requests from browsers in which nobody has ever signed in. Invitations have a second limit of the same size.',
      )
      .note('Mails that known browsers request are not counted.')
      .tag('API'),
    MAX_KEYS_PER_ACCOUNT: rules.count
      .default(20)
      .description(
        'The maximum number of active keys of an account. At this number, the dashboard creates no more keys.',
      )
      .note('The command line has no such limit.')
      .tag('API'),
    NEW_KEYS_PER_DAY: rules.count
      .default(20)
      .description(
        'The maximum number of keys that an account can create in the dashboard in any 24 hours, including revoked ones.',
      )
      .note('The command line has no such limit.')
      .tag('API'),
    ACCOUNT_RIDES_PER_MINUTE: Joi.number()
      .integer()
      .min(0)
      .max(1_000_000)
      .default(0)
      .description('The maximum number of rides that all keys of an account together can create in any 60 seconds.')
      .note('The limit of each key applies too.', '0 means that there is no such limit.')
      .tag('API'),
  },
  'Live maps and streams': {
    GEOCODER_URL: Joi.string()
      .uri({ scheme: ['http', 'https'] })
      .messages({ 'string.uriCustomScheme': '{{#label}} must be an http or https address' })
      .description('The address search of the desk: the `/search` of a Nominatim or the `/api` of a Photon server.')
      .note(
        'The API sends it the text that a person types and the position of the default pickup, and follows no redirect.',
        'Further query parameters, such as `countrycodes=us` or a key, are kept.',
        'The server must allow searches while a person types; that of nominatim.openstreetmap.org does not.',
        'Without it, places are saved places, coordinates and points on the map.',
      )
      .example('https://HOST/search')
      .example('https://HOST/api')
      .tag('API'),
    TILE_URL: Joi.string()
      .pattern(
        /^https?:\/\/[^/{}]+\/(?=.*\{z\})(?=.*\{x\})(?=.*\{y\})|^(https?:\/\/[^/{}?#]+|(?!\w+:))\/[^?#]*\.pmtiles$/,
        'https://HOST/{z}/{x}/{y}.png',
      )
      .messages({
        'string.pattern.name':
          '{{#label}} must be an address like {{#name}}, or an address or a path that ends in .pmtiles',
      })
      .description('The tiles of the maps. Without them, the background of a map is plain.')
      .note(
        'A template is the address of images.',
        'A `.pmtiles` file has the streets of a region in the schema of Protomaps.',
        'A path is a file on the disk of the API, which serves it.',
        'At an address, the server of the file must permit requests from the pages (CORS).',
      )
      .example('https://HOST/{z}/{x}/{y}.png')
      .example('/tiles/region.pmtiles')
      .example('https://BUCKET/region.pmtiles')
      .tag('API'),
    TILE_ATTRIBUTION: Joi.string()
      .description('The attribution on the maps, as text or HTML.')
      .note(
        'By default, maps of a `.pmtiles` file show "© OpenStreetMap contributors".',
        'In a text, these words become a link to the terms of OpenStreetMap.',
      )
      .tag('API'),
    SUPPORT_PHONE: Joi.string()
      .pattern(/^\+?\d[\d ().-]{2,30}$/, '+1 202 555 0100')
      .custom((phone: string, { error }) => (callUrl(phone) ? phone : error('any.invalid')))
      .messages({
        'string.pattern.name': '{{#label}} must be a phone number like {{#name}}',
        'any.invalid': '{{#label}} must be a phone number like +1 202 555 0100',
      })
      .description('The phone number behind "I need help" on the live map.')
      .example('+1 202 555 0100')
      .tag('API'),
    SUPPORT_URL: Joi.string()
      .uri({ scheme: ['https'] })
      .messages({ 'string.uriCustomScheme': '{{#label}} must be an https address' })
      .description('The page behind "I need help", if `SUPPORT_PHONE` is not set.')
      .note('Without both settings, the live map does not offer help.')
      .example('https://HOST/help')
      .tag('API'),
    MAX_STREAMS: rules.count
      .default(10_000)
      .description('The maximum number of streams of each kind that a process holds open.')
      .note("The kinds are live maps, rides and boards in the dashboard, drivers' streams, and long polls for events.")
      .tag('API'),
    MAX_STREAMS_PER_CLIENT: rules.count
      .default(20)
      .description(
        'The maximum number of live maps that a process holds open for one network (an IPv4 address or an IPv6 /64).',
      )
      .note(
        "The same limit applies to the rides and desks' boards that one account has open in the dashboard.",
        'A live map beyond a limit polls every 5 s.',
      )
      .tag('API'),
    MAX_STREAMS_PER_RIDE: rules.count
      .default(1_000)
      .description('The maximum number of live maps of one ride that a process holds open.')
      .note('The same limit applies to a ride that is open in the dashboard.')
      .tag('API'),
  },
  Retention: {
    // The link to a live map and an Idempotency-Key are valid for 24 hours.
    ERASE_AFTER_DAYS: rules
      .days(2)
      .default(30)
      .description("How many days after a ride's end its [personal data](operations.md#retention) is erased.")
      .tag('workers'),
    // Two months, so that the statement of the last full month is closed.
    DELETE_RIDES_AFTER_DAYS: rules
      .days(62)
      .default(396)
      .description('How many days after its end a ride is deleted.')
      .note(
        'A ride is never deleted before the usage of its day is summed and the statement of its month is final.',
        'Sums and statements are kept.',
      )
      .tag('workers'),
    DELETE_AUDIT_AFTER_DAYS: rules
      .days(30)
      .default(365)
      .description("The number of days until an entry of an account's audit log is deleted.")
      .tag('workers'),
  },
  Concurrency: {
    BIDDING_CONCURRENCY: rules.concurrency
      .default(50)
      .description('The number of concurrent jobs in each process of the pool `bidding`.')
      .tag('bidding'),
    SIMULATOR_CONCURRENCY: rules.concurrency
      .default(100)
      .description(
        'The number of concurrent steps in each process of the pool `simulator`. A step mostly waits for MongoDB.',
      )
      .tag('simulator'),
    DISPATCH_CONCURRENCY: rules.concurrency
      .default(50)
      .description('The number of concurrent jobs in each process of the pool `dispatch`.')
      .tag('dispatch'),
    WEBHOOKS_CONCURRENCY: rules.concurrency
      .default(500)
      .description('The number of concurrent attempts in each process of the pool `webhooks`.')
      .note(
        'If the limit of open files (`ulimit -n`) is too low, the process makes fewer concurrent attempts and logs a warning.',
      )
      .tag('webhooks'),
    WEBHOOKS_SLOW_CONCURRENCY: rules.concurrency
      .default(500)
      .description(
        'The number of concurrent attempts in each process of the pool `webhooks-slow`. A waiting attempt costs only a socket.',
      )
      .note('The limit of open files applies as for `WEBHOOKS_CONCURRENCY`.')
      .tag('webhooks-slow'),
    ROUTING_CONCURRENCY: rules.concurrency
      .default(32)
      .description('The number of concurrent requests of each process of the pool `routing` to the routing server.')
      .tag('routing'),
    MAIL_CONCURRENCY: rules.concurrency
      .default(10)
      .description('The number of mails that each process of the pool `mail` sends concurrently.')
      .tag('mail'),
    MESSAGES_CONCURRENCY: rules.concurrency
      .default(50)
      .description('The number of text messages that each process of the pool `messages` sends concurrently.')
      .tag('messages'),
  },
  Operation: {
    SHUTDOWN_GRACE_MS: rules.graceMs
      .default(9_000)
      .description('How long work in progress may continue after SIGTERM, SIGINT or SIGHUP.')
      .note('`npm run dev` sets 3000.')
      .tag('API', 'workers'),
    OPS_HOST: Joi.string()
      .default('127.0.0.1')
      .description("The address on which the operators' port listens.")
      .tag('API', 'workers'),
    OPS_PORT: Joi.number()
      .integer()
      .min(0)
      .max(65_535)
      .description(
        "The operators' port, on which each process serves `/healthz`, `/readyz` and `/metrics`, and the API also `/ops`.",
      )
      .note('Without it, there is no such port. 0 means any free port, which the log names.')
      .tag('API', 'workers'),
    // Long enough that nobody can guess it.
    OPS_TOKEN: Joi.string()
      .pattern(/^[\x21-\x7e]{20,200}$/)
      .messages({
        'string.pattern.base': '{{#label}} must be 20 to 200 characters without spaces (openssl rand -hex 24)',
      })
      .description("The token for [the queues](operations.md#the-queues) at `/ops` on the API's operators' port.")
      .note(
        '20 to 200 characters without spaces.',
        'Without it, the queue pages are off, unless `OPS_AUTH` is `personal`.',
      )
      .tag('API'),
    OPS_AUTH: Joi.valid('shared', 'personal')
      .default('shared')
      .description(
        'With `shared`, `/ops` accepts `OPS_TOKEN` and [personal tokens](operations.md#tokens-of-operators), and `/metrics` needs no token. With `personal`, both need a personal token.',
      )
      .tag('API', 'workers'),
    OTEL_EXPORTER_OTLP_ENDPOINT: rules.baseUrl
      .custom(rules.withoutUser)
      .messages({
        'traces.form':
          '{{#label}} must be an address without user and query: put passwords in OTEL_EXPORTER_OTLP_HEADERS',
      })
      .description('The OpenTelemetry collector that receives the [traces](operations.md#traces).')
      .note('Without it, no traces are sent.')
      .example('http://HOST:4318')
      .tag('API', 'workers'),
    OTEL_TRACES_SAMPLER_ARG: Joi.number()
      .min(0)
      .max(1)
      .default(1)
      .description('The share of all traces that is sent; 1 means every trace.')
      .tag('API', 'workers'),
    LOG_LEVEL: Joi.string()
      .valid('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent')
      .default('info')
      .description('The least severe level that is logged. The log is JSON lines on standard output.')
      .tag('API', 'workers'),
  },
};

/** Every setting of the service, with its rules and its default. `readConfig` reads them. */
export const settings = Joi.object(Object.assign({}, ...Object.values(settingTopics)));
