import { AccountModel, accountOf, operatorEmail } from '../../shared/accounts/account.ts';
import { type AuditAction, audit, commandLine } from '../../shared/accounts/audit.ts';
import { describeError } from '../../shared/base/errors.ts';
import type { Mode } from '../../shared/base/terms.ts';
import { untilSettingsApply } from '../../shared/keys/delivery-settings.ts';
import { createKey, findKey, revokeKey, setWebhookUrl } from '../../shared/keys/manage-keys.ts';
import { rekeySecrets } from '../../shared/keys/rekey.ts';
import { rollSigningSecret, rotateKey } from '../../shared/keys/replace-secret.ts';
import { assertCheck } from '../../shared/keys/secrets-check.ts';
import { type KeyNews, keyMail } from '../../shared/mail/key-mails.ts';
import { canSendMail, storeMail } from '../../shared/mail/mail.ts';
import { UsageError } from '../../shared/process/command-line.ts';
import { labelledBy } from '../columns.ts';
import { commandOf, type Program, type Words } from '../program.ts';
import { connectTo, type MongoPlace } from '../run-program.ts';
import { listedKeys, tableOf } from './list.ts';

const command = commandOf<MongoPlace>();
const accountOption = { type: 'string', value: 'EMAIL' } as const;
const shownWith = labelledBy({
  keyId: 'Key id',
  key: 'Secret key',
  mode: 'Mode',
  name: 'Name',
  webhookUrl: 'Webhook URL',
  signingSecret: 'Signing secret',
  revoked: 'Revoked',
  rekeyed: 'Rekeyed',
  remaining: 'Remaining',
  unopened: 'Unopened',
});
const keyIdOf = (words: Words) => ({ keyId: words.need('a KEYID') });

/** `npm run keys`: the partners' keys. */
export const keys: Program<MongoPlace> = {
  name: 'keys',
  examples: ['PROGRAM create --name Desk --mode test', 'PROGRAM set-webhook --help'],
  connect: connectTo({ needsSecretsKey: true }),
  commands: {
    create: command({
      summary: 'makes a key and prints its two secrets, once',
      options: {
        name: { type: 'string', value: 'NAME', isNeeded: true },
        mode: { type: 'string', value: 'test|live', isNeeded: true },
        'webhook-url': { type: 'string', value: 'URL' },
        account: accountOption,
      },
      about: `Creates a key and prints its secret key and signing secret.
Neither is shown again.`,
      rows: {
        '--name NAME': 'what it is called, up to 100 characters',
        '--mode test|live': 'test rides get simulated drivers',
        '--webhook-url URL': 'where the events of its rides go',
        '--account EMAIL': "whose key it is; else the operator's",
        '--json': 'prints one line of JSON',
      },
      examples: [
        'PROGRAM create --name Desk --mode test',
        `PROGRAM create --name Desk --mode live --json \\
    --webhook-url https://partner.example/events`,
      ],
      read(words, { name, mode, account: email, 'webhook-url': webhookUrl }) {
        words.end();
        if (!name) throw new UsageError('create needs --name NAME');
        if (mode !== 'test' && mode !== 'live') throw new UsageError('create needs --mode test or --mode live');
        return { name, mode: mode as Mode, email: checkedEmail(email), webhookUrl };
      },
      async run(place, { name, mode, email, webhookUrl }) {
        await assertCheck(place.config.secrets.keys);
        const { _id: accountId } = await accountOf(email ?? operatorEmail);
        const made = await createKey(place.config, { accountId, name, mode, webhookUrl });
        await reported(place, 'created', made.keyId);
        return made;
      },
      print: shownWith('Keep the secret key and the signing secret: neither is shown again.'),
    }),
    list: command({
      summary: 'lists all keys, without their secrets',
      options: { account: accountOption },
      about: `Lists all keys, or those of one account, oldest first, with
the last characters of each secret key and no more of it.`,
      examples: ['PROGRAM list', 'PROGRAM list --account ops@partner.example', 'PROGRAM list --json'],
      read: (_words, { account: email }) => checkedEmail(email),
      run: (_place, email) => listedKeys(email),
      print: (listed, { nowMs }) => tableOf(listed, nowMs, process.stdout.columns),
    }),
    rotate: command({
      summary: 'gives a key a new secret; the old one is dead',
      forms: ['KEYID'],
      about: `Gives a key a new secret and prints it, once. The old one is
dead at once; rides, webhook URL and signing secret stay.`,
      examples: ['PROGRAM rotate key_1a2B3c4D5e6F7g'],
      read: keyIdOf,
      async run(place, { keyId }) {
        const rotated = await rotateKey(keyId, 'anyone');
        await reported(place, 'rotated', keyId);
        return rotated;
      },
      print: shownWith('Keep the secret key: it is not shown again. The old one is dead.'),
    }),
    revoke: command({
      summary: 'ends a key for good',
      forms: ['KEYID'],
      about: `Ends a key for good, on its next request. Its rides go on,
and their events are sent.`,
      examples: ['PROGRAM revoke key_1a2B3c4D5e6F7g'],
      read: keyIdOf,
      async run(place, { keyId }) {
        await revokeKey(keyId, 'anyone');
        await noted(place, 'key_revoked', keyId);
        return { keyId, revoked: true };
      },
      print: shownWith('It is dead on its next request. Its rides go on.'),
    }),
    'set-webhook': command({
      summary: "sets where a key's events go by default",
      forms: ['KEYID URL', 'KEYID --none'],
      options: { none: { type: 'boolean' } },
      about: `Sets where a key's events go, unless a ride has a webhookUrl
of its own. With --none only such rides send events.`,
      examples: [
        `PROGRAM set-webhook key_1a2B3c4D5e6F7g \\
    https://partner.example/events`,
        'PROGRAM set-webhook key_1a2B3c4D5e6F7g --none',
      ],
      read(words, { none }) {
        const { keyId } = keyIdOf(words);
        if (none) words.end('with --none');
        return { keyId, url: none ? null : words.need('a URL, or --none') };
      },
      async run(place, { keyId, url }) {
        if (await setWebhookUrl(place.config, keyId, url, 'anyone')) await noted(place, 'webhook_url_set', keyId);
        await untilSettingsApply(keyId);
        return { keyId, webhookUrl: url };
      },
      print: (answer) =>
        shownWith(
          answer.webhookUrl
            ? 'The next delivery goes there.'
            : 'Only rides with a webhookUrl of their own send events.',
        )(answer),
    }),
    'roll-secret': command({
      summary: 'gives a key a new signing secret',
      forms: ['KEYID'],
      about: `Gives a key a new signing secret and prints it, once. The
very next delivery is signed with it.`,
      examples: ['PROGRAM roll-secret key_1a2B3c4D5e6F7g'],
      read: keyIdOf,
      async run(place, { keyId }) {
        await assertCheck(place.config.secrets.keys);
        const rolled = await rollSigningSecret(place.config, keyId, 'anyone');
        await noted(place, 'signing_secret_rolled', keyId);
        await untilSettingsApply(keyId);
        return rolled;
      },
      print: shownWith('Keep it: it is not shown again. The next delivery is signed with it.'),
    }),
    rekey: command({
      summary: 'encrypts anew what an older SECRETS_KEY holds',
      about: `Encrypts with the first key of SECRETS_KEY what an older one
holds, while the service runs. Run it until none remain.`,
      examples: ['SECRETS_KEY=new,old PROGRAM rekey'],
      read: () => null,
      async run({ config }) {
        await assertCheck(config.secrets.keys);
        return rekeySecrets(config.secrets.keys);
      },
      print: (answer) => shownWith(afterRekey(answer))(answer),
    }),
  },
};

function checkedEmail(email: string | undefined): string | undefined {
  if (email !== undefined && !/^[^@\s]+@[^@\s]+$/.test(email)) throw new UsageError('--account is an e-mail address');
  return email;
}

function afterRekey({ unopened, remaining }: { unopened?: string[]; remaining: number }): string {
  if (unopened) return 'The unopened keys need a new signing secret: roll-secret KEYID.';
  return remaining ? 'Run it again until none remain.' : 'The older keys can go from SECRETS_KEY.';
}

/** The account of the key sees in its dashboard what the operator did. */
async function noted({ nowMs }: MongoPlace, action: AuditAction, keyId: string): Promise<void> {
  const { accountId } = await findKey(keyId, 'anyone');
  await audit({ accountId, action, keyId, from: commandLine }, nowMs);
}

/**
 * Notes a new key or a rotation, and reports it to the account's address if people read it. Never fails: the new secret exists
 * already, and must be printed.
 */
async function reported(place: MongoPlace, what: KeyNews['what'], keyId: string): Promise<void> {
  const { config, nowMs } = place;
  try {
    await noted(place, `key_${what}`, keyId);
    const { accountId, name, mode } = await findKey(keyId, 'anyone');
    const account = await AccountModel.findById(accountId).lean();
    if (!account || account.email === operatorEmail || !canSendMail(config)) return;
    const mail = keyMail(config, account.email, { what, keyId, name, mode, at: new Date(nowMs), from: commandLine });
    await storeMail(config, mail, nowMs);
  } catch (error) {
    console.error(`The account's log or its mail lacks this: ${describeError(error).name}`);
  }
}
