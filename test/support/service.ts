import { createApp } from '../../api/app.ts';
import { answerLimitMs } from '../../api/http/answer-in-time.ts';
import { serve } from '../../api/http/serve.ts';
import { accountOf } from '../../shared/accounts/account.ts';
import { type Config, readConfig } from '../../shared/base/config.ts';
import type { Context } from '../../shared/base/context.ts';
import { connectMongo, disconnectMongo } from '../../shared/base/mongo/connect-mongo.ts';
import type { Mode } from '../../shared/base/terms.ts';
import { createKey, type NewKey } from '../../shared/keys/manage-keys.ts';
import { migrate } from '../../shared/process/migrate-database.ts';
import { openContext } from '../../shared/process/open-context.ts';
import { type Client, clientOf } from './client.ts';
import { scaled } from './machine-speed.ts';
import { useStarted } from './use-started.ts';

/** The settings of a test, as the environment of a process. */
export const testSettings = (settings: Record<string, string> = {}) => ({
  SERVICE_ENV: 'development',
  MONGO_URL: process.env.TEST_RUN_MONGO_URL,
  REDIS_URL: process.env.TEST_REDIS_URL,
  PORT: '0',
  PUBLIC_BASE_URL: 'https://rides.example',
  SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
  LOG_LEVEL: 'silent',
  ...settings,
});

export const testConfig = (settings?: Record<string, string>): Readonly<Config> => readConfig(testSettings(settings));

/**
 * A context on the test run's servers, with all indexes. Data of other tests may exist. The time limits of the operations
 * of MongoDB, and of commands to the run's own Redis, apply only with `timeLimits`, for tests of these limits: on a busy
 * machine, the servers may take longer.
 */
export async function testContext(
  settings: Record<string, string> = {},
  { timeLimits = false } = {},
): Promise<Context> {
  const config = testConfig(settings);
  const isRunsOwn = !settings.MONGO_URL && !settings.SECRETS_KEY;
  try {
    await connectMongo(config.secrets.mongoUrl, { timeLimits: false });
    if (!isRunsOwn || !isMigrated) await migrate(config.secrets.keys);
    if (isRunsOwn) isMigrated = true;
    if (timeLimits) {
      await disconnectMongo();
      await connectMongo(config.secrets.mongoUrl);
    }
    const ctx = await openContext(config, 'test');
    if (!timeLimits && !settings.REDIS_URL) Object.assign(ctx.redis.options, { commandTimeout: undefined });
    return ctx;
  } catch (error) {
    // The next test file of this process connects again.
    await disconnectMongo();
    throw error;
  }
}

/** The settings of a test, or a function that returns them, for settings that are known only once the servers run. */
export type Given = Settings | (() => Settings | Promise<Settings>);
type Settings = Record<string, string>;

/** Opens a context before the tests of the surrounding describe, and closes it after them. */
export const useTestContext = (given: Given = {}): Context =>
  useStarted(async () => testContext(await settingsOf(given)));

/** True once the test run's database has its indexes. Checking that takes longer than most tests. */
let isMigrated = false;

export interface TestApi {
  ctx: Context;
  url: string;
  /** Creates a new key. A key per test isolates rides and rate limits. */
  key(mode?: Mode, webhookUrl?: string): Promise<NewKey>;
  /** A partner with a new key. */
  partner(mode?: Mode, webhookUrl?: string): Promise<Client & NewKey>;
  close(): Promise<void>;
}

/** The real API on a free port of loopback. Without `timeLimits`, a request may take longer than 3 s on a slow machine. */
export async function startTestApi(
  settings?: Record<string, string>,
  options?: { timeLimits?: boolean },
): Promise<TestApi> {
  const ctx = await testContext(settings, options);
  // Below the time after which the API closes a silent connection.
  const limitMs = options?.timeLimits ? undefined : Math.min(scaled(answerLimitMs), 10_000);
  const server = await serve(ctx, createApp(ctx, [], limitMs));
  const url = `http://127.0.0.1:${server.port}`;
  const account = await accountOf('tests@rides.example');
  const key = (mode: Mode = 'test', webhookUrl?: string) =>
    createKey(ctx.config, { accountId: account._id, name: 'test', mode, webhookUrl });
  return {
    ctx,
    url,
    key,
    async partner(mode, webhookUrl) {
      const created = await key(mode, webhookUrl);
      return { ...created, ...clientOf(url, created.key) };
    },
    async close() {
      await server.close();
      await ctx.close();
    },
  };
}

/**
 * Starts the API before the tests of the surrounding describe, and closes it after them. Each test may set the clock
 * `ctx.now`.
 */
export function useTestApi(given: Given = {}): TestApi {
  const api = useStarted(async () => startTestApi(await settingsOf(given)));
  let now: Context['now'];
  before(() => {
    now = api.ctx.now;
  });
  afterEach(() => {
    api.ctx.now = now;
  });
  return api;
}

export const settingsOf = async (given: Given): Promise<Settings> => (typeof given === 'function' ? given() : given);

/** A partner with a new key for each test of the surrounding describe. */
export function usePartner(api: TestApi, mode?: Mode): Client & NewKey {
  const partner = {} as Client & NewKey;
  beforeEach(async () => {
    Object.assign(partner, await api.partner(mode));
  });
  return partner;
}
