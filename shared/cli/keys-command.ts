import { parseArgs } from 'node:util';
import { type Account, AccountModel, accountOf, operatorEmail } from '../accounts/account.ts';
import { ConfigError, readConfig } from '../config.ts';
import { AppError, describeError } from '../errors.ts';
import {
  createKey,
  type KeySettings,
  listKeys,
  revokeKey,
  rollSigningSecret,
  rotateKey,
  setWebhookUrl,
} from '../keys/manage-keys.ts';
import { rekeySecrets } from '../keys/rekey.ts';
import { assertCheck } from '../keys/secrets-check.ts';
import { connectMongo, disconnectMongo } from '../mongo/connection.ts';

export const usage = `Usage: npm run -s keys -- COMMAND
  create --name NAME --mode test|live [--webhook-url URL] [--account EMAIL] [--json]
  list [--account EMAIL] [--json]
  rotate KEYID [--json]           a new secret; the old one is dead at once
  revoke KEYID
  set-webhook KEYID URL           where the key's events go by default
  roll-secret KEYID [--json]      a new signing secret, for the very next delivery
  rekey [--json]                  encrypts with the first SECRETS_KEY what an older one holds, while the service runs
With npm run dev running, --port N chooses one of several. A secret is shown this once: keep it.`;

/** A wrong command line: its message is what the user is told. */
class UsageError extends Error {}

type Arguments = ReturnType<typeof readArguments>;
type Command = (config: KeySettings, args: Arguments) => Promise<object | object[]>;

const commands: Record<string, Command> = {
  create: async (config, { values }) => {
    const { name, mode, account, 'webhook-url': webhookUrl } = values;
    if (!name) throw new UsageError('create needs --name NAME');
    if (mode !== 'test' && mode !== 'live') throw new UsageError('create needs --mode test or --mode live');
    if (account !== undefined && !/^[^@\s]+@[^@\s]+$/.test(account))
      throw new UsageError('--account is an e-mail address');
    const owner: Account = await accountOf(account ?? operatorEmail);
    return createKey(config, { accountId: owner._id, name, mode, webhookUrl });
  },
  list: async (_config, { values }) => listedKeys(values.account),
  rotate: async (_config, { keyId }) => rotateKey(keyId(), 'anyone'),
  revoke: async (_config, { keyId }) => {
    await revokeKey(keyId(), 'anyone');
    return { keyId: keyId(), revoked: true };
  },
  'set-webhook': async (config, { keyId, url }) => {
    await setWebhookUrl(config, keyId(), url(), 'anyone');
    return { keyId: keyId(), webhookUrl: url() };
  },
  'roll-secret': async (config, { keyId }) => rollSigningSecret(config, keyId(), 'anyone'),
  rekey: async (config) => rekeySecrets(config.secrets.keys),
};

/** With a wrong SECRETS_KEY these would store what no process of the service can open. */
const encrypting = ['create', 'roll-secret', 'rekey'];

/**
 * The keys' command line: prints the answer and resolves with the exit code, 0, or 1 with one line that says what is
 * wrong, or 2 for a wrong command line. Reads the settings from env, or from the environment.
 */
export async function keysCommand(argv: readonly string[], env?: NodeJS.ProcessEnv): Promise<number> {
  try {
    const args = readArguments(argv);
    if (args.values.help || args.command === 'help') {
      console.log(usage);
      return 0;
    }
    const command = Object.hasOwn(commands, args.command) ? commands[args.command] : undefined;
    if (!command) throw new UsageError(args.command ? `unknown command ${args.command}` : 'no command');
    const config = readConfig(env);
    await connectMongo(config.secrets.mongoUrl);
    try {
      if (encrypting.includes(args.command)) await assertCheck(config.secrets.keys);
      print(await command(config, args), args.values.json);
    } finally {
      await disconnectMongo();
    }
    return 0;
  } catch (error) {
    const isUsage = error instanceof UsageError || isParseError(error);
    const isForeseen = isUsage || error instanceof AppError || error instanceof ConfigError;
    const { name, code } = describeError(error);
    const message = isForeseen ? (error as Error).message : ['unexpected error:', name, code].filter(Boolean).join(' ');
    console.error(`keys: ${message}${isUsage ? `\n${usage}` : ''}`);
    return isUsage ? 2 : 1;
  }
}

function readArguments(argv: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      name: { type: 'string' },
      mode: { type: 'string' },
      'webhook-url': { type: 'string' },
      account: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const [command = '', ...rest] = positionals;
  const surplus = rest[command === 'set-webhook' ? 2 : ['create', 'list', 'rekey'].includes(command) ? 0 : 1];
  if (surplus !== undefined) throw new UsageError(`${command} does not take ${surplus}`);
  const needed = (index: number, what: string) => () => {
    const value = rest[index];
    if (!value) throw new UsageError(`${command} needs ${what}`);
    return value;
  };
  return { command, values, keyId: needed(0, 'a KEYID'), url: needed(1, 'a URL') };
}

const isParseError = (error: unknown): boolean =>
  String((error as { code?: string }).code).startsWith('ERR_PARSE_ARGS_');

async function listedKeys(email?: string): Promise<object[]> {
  const account = email && (await AccountModel.findOne({ email: email.trim().toLowerCase() }).lean());
  if (email && !account) return [];
  const found = await listKeys(account ? { accountId: account._id } : 'anyone');
  return found.map((key) => ({
    keyId: key._id,
    name: key.name,
    mode: key.mode,
    key: key.hint,
    webhookUrl: key.webhookUrl ?? null,
    createdAt: key.createdAt.toISOString(),
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
    revokedAt: key.revokedAt?.toISOString() ?? null,
  }));
}

/** One line of JSON, or for people a line for each field of one answer, and for each answer of a list. */
function print(answer: object | object[], asJson: boolean): void {
  if (asJson) console.log(JSON.stringify(answer));
  else if (!Array.isArray(answer))
    for (const [field, value] of Object.entries(answer)) console.log(`${field}: ${value ?? '-'}`);
  else if (answer.length === 0) console.log('no keys');
  else
    for (const row of answer)
      console.log(
        Object.values(row)
          .map((value) => value ?? '-')
          .join('  '),
      );
}
