import { expect } from 'chai';
import { keys as keysProgram } from '../../cli/keys/key-commands.ts';
import { accountOf } from '../../shared/accounts/account.ts';
import type { Config } from '../../shared/base/config.ts';
import { encrypt, SecretDamaged, type SecretsKeys, secretsKey } from '../../shared/base/encryption.ts';
import { connectMongo, disconnectMongo } from '../../shared/base/mongo/connect-mongo.ts';
import { keys } from '../../shared/keys/api-key.ts';
import { deliverySettings } from '../../shared/keys/delivery-settings.ts';
import { addEndpoint, viewEndpointSecret } from '../../shared/keys/manage-endpoints.ts';
import { createKey, type NewKey } from '../../shared/keys/manage-keys.ts';
import { rekeySecrets } from '../../shared/keys/rekey.ts';
import { rollSigningSecret } from '../../shared/keys/replace-secret.ts';
import { assertSecretsKeys } from '../../shared/keys/secrets-check.ts';
import { openMail } from '../../shared/mail/mail.ts';
import { mails } from '../../shared/mail/mail-row.ts';
import { migrate } from '../../shared/process/migrate-database.ts';
import { runToEnd } from '../support/command-line.ts';
import { onceInsteadOf } from '../support/failing-mongo.ts';
import { ownDatabase } from '../support/own-database.ts';
import { testConfig, testSettings } from '../support/service.ts';

const bytes = (byte: number) => Buffer.alloc(32, byte);
const [old, next] = [secretsKey(bytes(1)), secretsKey(bytes(2))];

describe('rekey', () => {
  let database: Awaited<ReturnType<typeof ownDatabase>>;
  let accountId: string;
  beforeEach(async () => {
    database = await ownDatabase();
    await migrate([old]);
    accountId = (await accountOf('rekey@rides.example'))._id;
  });
  afterEach(() => disconnectMongo());

  const withKeys = (...secretsKeys: SecretsKeys): Readonly<Config> => {
    const config = testConfig();
    return { ...config, secrets: { ...config.secrets, keys: secretsKeys } };
  };
  const make = (secretsKeys: SecretsKeys = [old]) =>
    createKey(withKeys(...secretsKeys), { accountId, name: 'desk', mode: 'test' });
  async function makeSome(count: number): Promise<NewKey[]> {
    return Promise.all(Array.from({ length: count }, () => make()));
  }
  const stored = async (keyId: string) => (await keys.findOne({ _id: keyId }))?.signingSecret ?? '';
  const secretOf = async (keyId: string, ...secretsKeys: SecretsKeys) =>
    (await deliverySettings(withKeys(...secretsKeys), keyId)).signingSecret;
  const refusal = (...secretsKeys: SecretsKeys) =>
    assertSecretsKeys(secretsKeys).then(
      () => 'accepted',
      (error) => error.message,
    );

  it('rekey re-encrypts every secret of an older key, and keeps its value', async () => {
    const made = await makeSome(7);
    const under = await make([next]);
    const owned = { endpointId: 'endpoint_of_rekey', keyId: under.keyId, accountId };
    const further = { url: 'https://partner.example/', events: ['ride.status' as const] };
    const added = await addEndpoint(withKeys(old), owned, further);
    const before = await stored(under.keyId);
    expect(await rekeySecrets([next, old], 3)).to.deep.equal({ rekeyed: 8, remaining: 0 });
    expect(await viewEndpointSecret(withKeys(next), owned)).to.equal(added?.signingSecret);
    for (const { keyId, signingSecret } of made) expect(await secretOf(keyId, next)).to.equal(signingSecret);
    expect(await stored(under.keyId)).to.equal(before);
    expect(await rekeySecrets([next, old], 3)).to.deep.equal({ rekeyed: 0, remaining: 0 });
  });

  it('rekey re-encrypts a waiting mail, so that only the newer key is needed', async () => {
    await rekeySecrets([next, old]);
    const mail = { to: 'guest@partner.example', subject: 'A subject', text: 'A text' };
    await rekeySecrets([next, old]);
    const row = { _id: 'mail_1', state: 'waiting' as const, createdAt: new Date(), dueAt: new Date() };
    await mails.insertOne({ ...row, sealed: encrypt(JSON.stringify(mail), [old], row._id) });
    await mails.insertOne({ ...row, _id: 'mail_2', state: 'sent' });
    expect(await refusal(next)).to.match(/^Setting SECRETS_KEY does not decrypt the text of mail_1: /);
    expect(await rekeySecrets([next, old])).to.deep.equal({ rekeyed: 1, remaining: 0 });
    const stored = await mails.findOne({ _id: row._id });
    expect(stored && openMail(withKeys(next), stored)).to.deep.equal(mail);
    expect(await refusal(next)).to.equal('accepted');
  });

  it('a start without the older key is allowed only once rekey has left no secret under that key', async () => {
    await make();
    expect(await refusal(next)).to.include('SECRETS_KEY');
    expect(await refusal(next, old)).to.equal('accepted');
    await rekeySecrets([next, old]);
    expect(await refusal(next)).to.equal('accepted');
    expect(await refusal(old)).to.include('SECRETS_KEY');
  });

  it('rekey does not overwrite a secret that is rolled at the same time', async () => {
    const { keyId } = await make();
    const bulkWrite = keys.bulkWrite.bind(keys) as (...args: unknown[]) => unknown;
    let rolled = '';
    onceInsteadOf(keys, 'bulkWrite', async (...args) => {
      rolled = (await rollSigningSecret(withKeys(old), keyId, 'anyone')).signingSecret;
      return bulkWrite(...args);
    });
    expect(await rekeySecrets([next, old])).to.deep.equal({ rekeyed: 0, remaining: 1 });
    expect(await secretOf(keyId, old)).to.equal(rolled);
    expect(await refusal(next), 'the older key is still needed').to.include('SECRETS_KEY');
    expect(await rekeySecrets([next, old])).to.deep.equal({ rekeyed: 1, remaining: 0 });
    expect(await secretOf(keyId, next)).to.equal(rolled);
  });

  it('rekey skips secrets that do not decrypt, reports their ids, and continues', async () => {
    const made = await makeSome(5);
    const ids = made.map(({ keyId }) => keyId).sort();
    const [damaged = '', copied = ''] = [ids[0], ids[3]];
    await keys.updateOne({ _id: damaged }, { $set: { signingSecret: `key:${old.id}:AAAA` } });
    await keys.updateOne({ _id: copied }, { $set: { signingSecret: encrypt('whsec_x', [old], 'key_other') } });
    expect(await rekeySecrets([next, old], 1)).to.deep.equal({
      rekeyed: 3,
      remaining: 2,
      unopened: [damaged, copied],
    });
    const error = await secretOf(damaged, next, old).catch((thrown) => thrown);
    expect(error).to.be.instanceOf(SecretDamaged);
  });

  describe('on the command line', () => {
    async function run(secretsKeys: number[], ...argv: string[]) {
      const SECRETS_KEY = secretsKeys.map((byte) => bytes(byte).toString('base64')).join(',');
      const settings = testSettings({ MONGO_URL: database.url, SECRETS_KEY });
      const { code, out, err } = await runToEnd(keysProgram, argv, settings);
      await connectMongo(database.url);
      return { code, lines: [...out, ...err] };
    }

    it('rekey prints the number of secrets that still use older keys, as text and as JSON', async () => {
      await makeSome(2);
      const printed = ['Rekeyed         2', 'Remaining       0', 'Older keys can be removed from SECRETS_KEY.'].join(
        '\n',
      );
      expect(await run([2, 1], 'rekey')).to.deep.equal({ code: 0, lines: [printed] });
      expect(await run([2, 1], 'rekey', '--json')).to.deep.equal({ code: 0, lines: ['{"rekeyed":0,"remaining":0}'] });
    });

    it('roll-secret repairs an API key whose secret uses a lost SECRETS_KEY', async () => {
      const { keyId } = await make([next]);
      expect(await refusal(old)).to.include(keyId);
      expect((await run([1], 'rekey', '--json')).lines).to.deep.equal([
        `{"rekeyed":0,"remaining":1,"unopened":["${keyId}"]}`,
      ]);
      expect((await run([1], 'rekey')).lines[0]).to.match(
        /key, run roll-secret\.\nFor the others, see docs\/operations\.md/,
      );
      expect((await run([1], 'roll-secret', keyId)).code).to.equal(0);
      expect(await refusal(old)).to.equal('accepted');
    });

    it('commands refuse to encrypt with a SECRETS_KEY that does not decrypt this database', async () => {
      const { keyId } = await make();
      for (const argv of [['rekey'], ['roll-secret', keyId], ['create', '--name', 'x', '--mode', 'test']]) {
        const { code, lines } = await run([3], ...argv);
        expect({ code, lines: lines.length }, argv[0]).to.deep.equal({ code: 1, lines: 1 });
        expect(lines[0]).to.match(/^keys: Setting SECRETS_KEY does not decrypt /);
      }
      const { code } = await run([3], 'revoke', keyId);
      expect(code, 'revoke works without the SECRETS_KEY').to.equal(0);
    });
  });
});
