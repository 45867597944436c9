import { AccountModel, accountOf, operatorEmail } from '../../shared/accounts/account.ts';
import { type AuditAction, commandLine } from '../../shared/accounts/audit.ts';
import { mailedAddresses } from '../../shared/accounts/members.ts';
import { describeError } from '../../shared/base/errors.ts';
import { derivedMailId } from '../../shared/base/ids.ts';
import type { Mode } from '../../shared/base/terms.ts';
import { contractLimit } from '../../shared/keys/api-key.ts';
import { untilSettingsApply } from '../../shared/keys/delivery-settings.ts';
import { createKey, findKey, limitKey, revokeKey, setWebhookUrl } from '../../shared/keys/manage-keys.ts';
import { rekeySecrets } from '../../shared/keys/rekey.ts';
import { rollSigningSecret, rotateKey } from '../../shared/keys/replace-secret.ts';
import { assertCheck } from '../../shared/keys/secrets-check.ts';
import { type KeyNews, keyMail } from '../../shared/mail/key-mails.ts';
import { canSendMail, storeMail } from '../../shared/mail/mail.ts';
import { UsageError } from '../../shared/process/command-line.ts';
import { labelledBy } from '../columns.ts';
import { recordAudit } from '../operator.ts';
import { commandOf, type Program } from '../program.ts';
import { connectTo, type MongoContext } from '../run-program.ts';
import { accountFor, listedKeys, tableOf } from './keys-table.ts';

const command = commandOf<MongoContext>();
const shownWith = labelledBy({
  keyId: 'Key id',
  key: 'Secret key',
  mode: 'Mode',
  name: 'Name',
  webhookUrl: 'Webhook URL',
  signingSecret: 'Signing secret',
  revoked: 'Revoked',
  perMinute: 'In 60 seconds',
  perHour: 'In an hour',
  rekeyed: 'Rekeyed',
  remaining: 'Remaining',
  unopened: 'Unopened',
});
const keyIdOf = (_values: object, keyId = '') => ({ keyId });

/** `npm run keys`: manages the partners' keys. */
export const keys: Program<MongoContext> = {
  name: 'keys',
  examples: ['PROGRAM create --name Desk --mode test', 'PROGRAM set-webhook --help'],
  connect: connectTo({ needsSecretsKey: true }),
  commands: {
    create: command({
      summary: 'creates a key and prints its two secrets once',
      needed: {
        '--name <NAME>': 'name of the key, up to 100 characters',
        '--mode <test|live>': 'test rides get simulated drivers',
      },
      options: {
        '--webhook-url <URL>': 'receives the events of its rides',
        '--account <EMAIL>': 'owner of the key; default: the operator',
      },
      about: `Creates a key and prints its secret key and signing secret.
Neither is shown again.`,
      recorded: 'by name',
      examples: [
        'PROGRAM create --name Desk --mode test',
        `PROGRAM create --name Desk --mode live --json \\
    --webhook-url https://partner.example/events`,
      ],
      read({ name, mode, account: email, webhookUrl }) {
        if (mode !== 'test' && mode !== 'live') throw new UsageError('create needs --mode test or --mode live');
        return { name, mode: mode as Mode, email: checkedEmail(email), webhookUrl };
      },
      async run(ctx, { name, mode, email, webhookUrl }, by) {
        await assertCheck(ctx.config.secrets.keys);
        const { _id: accountId } = (await accountFor(email)) ?? (await accountOf(email ?? operatorEmail));
        const made = await createKey(ctx.config, { accountId, name, mode, webhookUrl });
        await recordAndMail(ctx, 'created', made.keyId, by);
        return made;
      },
      print: shownWith('Keep the secret key and the signing secret: neither is shown again.'),
    }),
    list: command({
      summary: 'lists all keys, without their secrets',
      options: { '--account <EMAIL>': 'only the keys of this account' },
      about: `Lists all keys, or those of one account, oldest first, with
the last characters of each secret key.`,
      examples: ['PROGRAM list', 'PROGRAM list --account ops@partner.example', 'PROGRAM list --json'],
      read: ({ account }) => checkedEmail(account),
      run: (_ctx, email) => listedKeys(email),
      print: (listed, { nowMs }) => tableOf(listed, nowMs, process.stdout.columns),
    }),
    rotate: command({
      summary: 'replaces the secret key',
      operands: '<KEYID>',
      about: `Replaces the secret key and prints the new one once. The old
one stops working at once. Rides, webhook URL and signing
secret do not change.`,
      recorded: 'by name',
      examples: ['PROGRAM rotate key_1a2B3c4D5e6F7g'],
      read: keyIdOf,
      async run(ctx, { keyId }, by) {
        const rotated = await rotateKey(keyId, 'anyone');
        await recordAndMail(ctx, 'rotated', keyId, by);
        return rotated;
      },
      print: shownWith('Keep the secret key: it is not shown again. The old one no longer works.'),
    }),
    revoke: command({
      summary: 'revokes a key permanently',
      operands: '<KEYID>',
      about: `Revokes a key permanently, from its next request on. Its
rides continue, and their events are still sent.`,
      recorded: 'by name',
      examples: ['PROGRAM revoke key_1a2B3c4D5e6F7g'],
      read: keyIdOf,
      async run(ctx, { keyId }, by) {
        await revokeKey(keyId, 'anyone');
        await recordOnKey(ctx, 'key_revoked', keyId, by);
        return { keyId, revoked: true };
      },
      print: shownWith('The key stops working on its next request. Its rides continue.'),
    }),
    'set-webhook': command({
      summary: 'sets the default webhook URL of a key',
      operands: '<KEYID> [URL]',
      options: { '--none': 'removes the URL' },
      about: `Sets the webhook URL for the rides of a key that have no
webhookUrl of their own. With --none, only rides that have
one send events.`,
      recorded: 'by name',
      examples: [
        `PROGRAM set-webhook key_1a2B3c4D5e6F7g \\
    https://partner.example/events`,
        'PROGRAM set-webhook key_1a2B3c4D5e6F7g --none',
      ],
      read({ none }, keyId = '', url) {
        if (none ? url !== undefined : !url) throw new UsageError('set-webhook needs either a URL or --none');
        return { keyId, url: url ?? null };
      },
      async run(ctx, { keyId, url }, by) {
        if (await setWebhookUrl(ctx.config, keyId, url, 'anyone')) await recordOnKey(ctx, 'webhook_url_set', keyId, by);
        await untilSettingsApply(keyId);
        return { keyId, webhookUrl: url };
      },
      print: (answer) =>
        shownWith(
          answer.webhookUrl
            ? 'It applies from the next delivery attempt.'
            : 'Only rides with their own webhookUrl send events.',
        )(answer),
    }),
    'roll-secret': command({
      summary: 'replaces the signing secret of a key',
      operands: '<KEYID>',
      about: `Gives a key a new signing secret and prints it once. The
next delivery attempt is signed with it.`,
      recorded: 'by name',
      examples: ['PROGRAM roll-secret key_1a2B3c4D5e6F7g'],
      read: keyIdOf,
      async run(ctx, { keyId }, by) {
        await assertCheck(ctx.config.secrets.keys);
        const rolled = await rollSigningSecret(ctx.config, keyId, 'anyone');
        await recordOnKey(ctx, 'signing_secret_rolled', keyId, by);
        await untilSettingsApply(keyId);
        return rolled;
      },
      print: shownWith('Keep the signing secret: it is not shown again. The next delivery attempt is signed with it.'),
    }),
    limit: command({
      summary: 'sets how many rides a key can create',
      operands: '<KEYID>',
      options: {
        '--per-minute <N>': 'rides in any 60 seconds',
        '--per-hour <N>': 'rides in any hour',
        '--default': 'removes the limit of the key',
      },
      about: `Sets how many rides a key can create in any 60 seconds and
in any hour, from its next request on. Without an own limit
or with --default, these are ${contractLimit.perMinute} and ${contractLimit.perHour}.`,
      recorded: 'by name',
      examples: [
        `PROGRAM limit key_1a2B3c4D5e6F7g \\
    --per-minute 300 --per-hour 3000`,
        'PROGRAM limit key_1a2B3c4D5e6F7g --default',
      ],
      read({ perMinute, perHour, default: isDefault }, keyId = '') {
        const isLimit = perMinute !== undefined && perHour !== undefined;
        if (isDefault ? (perMinute ?? perHour) !== undefined : !isLimit)
          throw new UsageError('limit needs either --per-minute N and --per-hour N, or --default');
        return { keyId, limit: isLimit ? { perMinute: Number(perMinute), perHour: Number(perHour) } : null };
      },
      async run(ctx, { keyId, limit }, by) {
        if (await limitKey(keyId, limit)) await recordOnKey(ctx, 'limit_changed', keyId, by);
        return { keyId, ...(limit ?? contractLimit) };
      },
      print: shownWith('It applies from the next request.'),
    }),
    rekey: command({
      summary: 're-encrypts secrets with the newest key',
      about: `Re-encrypts the secrets under older keys of SECRETS_KEY with
its first key, while the service runs. Repeat it until none
remain.`,
      recorded: 'if known',
      examples: ['SECRETS_KEY=new,old PROGRAM rekey'],
      read: () => null,
      async run({ config, nowMs }, _args, by) {
        await assertCheck(config.secrets.keys);
        const answer = await rekeySecrets(config.secrets.keys);
        await recordAudit(nowMs, by, { action: 'secrets_rekeyed' });
        return answer;
      },
      print: (answer) => shownWith(afterRekey(answer))(answer),
    }),
  },
};

function checkedEmail(email: string | undefined): string | undefined {
  if (email !== undefined && !/^[^@\s]+@[^@\s]+$/.test(email)) throw new UsageError('invalid e-mail in --account');
  return email;
}

function afterRekey({ unopened, remaining }: { unopened?: string[]; remaining: number }): string {
  if (unopened)
    return `Some secrets cannot be decrypted. For a key, run roll-secret.
For the others, see docs/operations.md, "Rotating SECRETS_KEY".`;
  return remaining ? 'Run it again until none remain.' : 'Older keys can be removed from SECRETS_KEY.';
}

/** Records the operator's action in the audit log of the key's account, which its dashboard shows. */
async function recordOnKey({ nowMs }: MongoContext, action: AuditAction, keyId: string, by: string): Promise<void> {
  const { accountId } = await findKey(keyId, 'anyone');
  await recordAudit(nowMs, by, { accountId, action, keyId });
}

/**
 * Records a new or rotated key in the audit log, and reports it by mail to the account's owners and developers. Never fails,
 * because the new secret already exists and must be printed.
 */
async function recordAndMail(ctx: MongoContext, what: KeyNews['what'], keyId: string, by: string): Promise<void> {
  const { config, nowMs } = ctx;
  try {
    await recordOnKey(ctx, `key_${what}`, keyId, by);
    const { accountId, name, mode } = await findKey(keyId, 'anyone');
    const account = await AccountModel.findById(accountId).lean();
    if (!account || !canSendMail(config)) return;
    for (const to of mailedAddresses(account)) {
      const mail = keyMail(config, to, { what, keyId, name, mode, at: new Date(nowMs), from: commandLine });
      await storeMail(config, mail, nowMs, derivedMailId(what, keyId, String(nowMs), to));
    }
  } catch (error) {
    console.error(`Done, but not recorded in the account's log or not mailed: ${describeError(error).name}`);
  }
}
