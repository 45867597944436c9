import { expect } from 'chai';
import { accountOf } from '../../shared/accounts/account.ts';
import type { SentForm } from '../../shared/accounts/sent-form.ts';
import { newKeyId, sha256 } from '../../shared/base/ids.ts';
import { KeyModel, keys } from '../../shared/keys/api-key.ts';
import type { KeyOwner } from '../../shared/keys/change-key.ts';
import { deliverySettings } from '../../shared/keys/delivery-settings.ts';
import { findCaller } from '../../shared/keys/find-caller.ts';
import {
  createKey,
  createKeyByForm,
  findKey,
  listKeys,
  renameKey,
  revokeKey,
  setWebhookUrl,
  viewSigningSecret,
} from '../../shared/keys/manage-keys.ts';
import { rollSigningSecret, rotateKey } from '../../shared/keys/replace-secret.ts';
import { onceInsteadOf } from '../support/failing-mongo.ts';
import { useTestContext } from '../support/service.ts';

const newForm = (session = 'session'): SentForm => ({ id: newKeyId(), session });

describe('keys', () => {
  const ctx = useTestContext();
  let accountId: string;

  before(async () => {
    accountId = (await accountOf('keys@rides.example'))._id;
  });

  const make = (changes: Partial<Parameters<typeof createKey>[1]> = {}) =>
    createKey(ctx.config, { accountId, name: 'desk', mode: 'test', ...changes });
  const codeOf = (promise: Promise<unknown>) =>
    promise.then(
      () => 'done',
      (error) => error.code,
    );
  /**
   * Counts the writes of keys from now on. Returns a function that resolves with their number once all of them have
   * ended.
   */
  const countWrites = () => {
    const writes: Promise<unknown>[] = [];
    const updateOne = keys.updateOne.bind(keys) as (...args: unknown[]) => Promise<unknown>;
    Object.assign(keys, {
      updateOne: (...args: unknown[]) => {
        const write = updateOne(...args);
        writes.push(write);
        return write;
      },
    });
    return async () => {
      await Promise.allSettled(writes);
      return writes.length;
    };
  };
  afterEach(() => void Reflect.deleteProperty(keys, 'updateOne'));
  const findsKey = async (key: string) => (await findCaller(key, Date.now()))?.keyId ?? null;
  const changesOf = (keyId: string, owner: KeyOwner) => [
    () => revokeKey(keyId, owner),
    () => rotateKey(keyId, owner),
    () => rollSigningSecret(ctx.config, keyId, owner),
    () => setWebhookUrl(ctx.config, keyId, 'https://partner.example/', owner),
    () => renameKey(keyId, 'other', owner),
    () => viewSigningSecret(ctx.config, keyId, owner),
  ];

  it('createKey stores the key only as a hash, and the signing secret encrypted', async () => {
    const made = await make();
    const stored = JSON.stringify(await keys.findOne({ _id: made.keyId }));
    expect(stored).not.to.include(made.key).and.not.include(made.signingSecret);
    expect(stored).not.to.include(made.key.slice(9, -6));
    expect(stored).to.include(sha256(made.key));
    expect(await deliverySettings(ctx.config, made.keyId)).to.deep.include({ signingSecret: made.signingSecret });
  });

  it('a revoked key stops working, and cannot be changed, but is found, without secrets', async () => {
    const { key, keyId } = await make();
    expect(await findsKey(key)).to.equal(keyId);
    await revokeKey(keyId, 'anyone');
    expect(await findsKey(key)).to.equal(null);
    for (const change of changesOf(keyId, 'anyone')) expect(await codeOf(change())).to.equal('not_found');
    const found = await findKey(keyId, { accountId });
    expect(found).to.include({ _id: keyId, name: 'desk', mode: 'test' }).and.not.have.any.keys('hash', 'signingSecret');
    expect(found.revokedAt).to.be.a('date');
  });

  it('an account cannot find or change the key of another account', async () => {
    const { keyId } = await make();
    const stored = await keys.findOne({ _id: keyId });
    const other = { accountId: (await accountOf('other@rides.example'))._id };
    for (const change of [...changesOf(keyId, other), () => findKey(keyId, other)]) {
      expect(await codeOf(change())).to.equal('not_found');
    }
    expect(await keys.findOne({ _id: keyId })).to.deep.equal(stored);
  });

  it('listKeys returns the keys oldest first, without secrets', async () => {
    const owner = (await accountOf(`list-${Date.now()}@rides.example`))._id;
    const made = [await make({ accountId: owner, name: 'one' }), await make({ accountId: owner, name: 'two' })];
    const listed = await listKeys({ accountId: owner });
    expect(listed.map(({ name }) => name)).to.deep.equal(['one', 'two']);
    for (const { key, signingSecret } of made) {
      const text = JSON.stringify(listed);
      expect(text).not.to.include(key).and.not.include(signingSecret).and.not.include(sha256(key));
    }
    for (const entry of listed) expect(entry).not.to.have.any.keys('hash', 'signingSecret');
  });

  it('reading or changing a key without an owner does not compile', () => {
    const withoutOwner = [
      // @ts-expect-error: the owner is missing
      () => listKeys(),
      // @ts-expect-error: the owner is missing
      () => revokeKey('key_1'),
      // @ts-expect-error: the owner is missing
      () => rotateKey('key_1'),
      // @ts-expect-error: the owner is missing
      () => rollSigningSecret(ctx.config, 'key_1'),
      // @ts-expect-error: the owner is missing
      () => setWebhookUrl(ctx.config, 'key_1', 'https://partner.example/'),
      // @ts-expect-error: the owner is missing
      () => findKey('key_1'),
      // @ts-expect-error: the owner is missing
      () => renameKey('key_1', 'other'),
      // @ts-expect-error: the owner is missing
      () => viewSigningSecret(ctx.config, 'key_1'),
    ];
    expect(withoutOwner).to.have.length(8);
  });

  it('renameKey and setWebhookUrl report whether they changed anything', async () => {
    const { keyId } = await make();
    expect([await renameKey(keyId, ' night ', 'anyone'), await renameKey(keyId, 'night', 'anyone')]).to.deep.equal([
      true,
      false,
    ]);
    const set = (url: string | null) => setWebhookUrl(ctx.config, keyId, url, 'anyone');
    const url = 'https://partner.example/';
    expect([await set(null), await set(url), await set(url), await set(null)]).to.deep.equal([
      false,
      true,
      false,
      true,
    ]);
    expect(await codeOf(renameKey(keyId, ' ', 'anyone'))).to.equal('invalid_request');
  });

  it('a key remembers the last 50 forms that changed it, and applies each of them once', async () => {
    const { keyId } = await make();
    const send = (form: number) => renameKey(keyId, `name ${form}`, 'anyone', `form ${form}`);
    const nameAfter = async (form: number) => {
      await send(form);
      return (await findKey(keyId, 'anyone')).name;
    };
    for (let form = 0; form <= 50; form++) await send(form);
    expect(await nameAfter(1)).to.equal('name 50');
    expect(await nameAfter(0)).to.equal('name 0');
    expect(await nameAfter(50)).to.equal('name 0');
  });

  describe('key limit per account', () => {
    let few: string;
    beforeEach(async () => {
      few = (await accountOf(`few-${newKeyId()}@rides.example`))._id;
    });
    const within = (most: number, form = newForm()) =>
      createKeyByForm(ctx.config, { accountId: few, name: 'desk', mode: 'test', form, most });
    const active = async () => (await listKeys({ accountId: few })).filter(({ revokedAt }) => !revokedAt);

    it('concurrent creations and revocations never exceed the key limit', async () => {
      for (let round = 0; round < 5; round += 1) {
        const [victim] = await active();
        await Promise.all([
          ...Array.from({ length: 8 }, () => within(4)),
          ...(victim ? [revokeKey(victim._id, 'anyone')] : []),
        ]);
        expect((await active()).length).to.be.at.most(4);
      }
      await Promise.all(Array.from({ length: 4 }, () => within(4)));
      expect(await active()).to.have.length(4);
      expect(await within(4)).to.equal('full');
    });
  });

  it('a rotation changes only the secret of a key', async () => {
    const made = await make({ mode: 'live', webhookUrl: 'https://partner.example/hook' });
    const rotated = await rotateKey(made.keyId, 'anyone');
    expect(rotated.keyId).to.equal(made.keyId);
    expect(rotated.key).to.match(/^svc_live_/);
    expect(await findsKey(made.key)).to.equal(null);
    expect(await findsKey(rotated.key)).to.equal(made.keyId);
    expect(await deliverySettings(ctx.config, made.keyId)).to.deep.equal({
      webhookUrl: 'https://partner.example/hook',
      signingSecret: made.signingSecret,
    });
  });

  for (const webhookUrl of ['https://localhost/', '']) {
    it(`a key refuses "${webhookUrl}" as its webhook URL, at creation and later`, async () => {
      expect(await codeOf(make({ webhookUrl }))).to.equal('invalid_request');
      const { keyId } = await make();
      expect(await codeOf(setWebhookUrl(ctx.config, keyId, webhookUrl, 'anyone'))).to.equal('invalid_request');
      expect((await deliverySettings(ctx.config, keyId)).webhookUrl).to.equal(undefined);
    });
  }

  it('an index refuses a second key with the same secret', async () => {
    const { keyId } = await make();
    const stored = await KeyModel.findById(keyId).lean();
    expect(await codeOf(keys.insertOne({ ...stored, _id: `${keyId}2` } as never))).to.equal(11_000);
  });

  it('concurrent requests write the last use of a key once', async () => {
    const { key, keyId } = await make();
    const written = countWrites();
    const now = Date.now();
    await Promise.all(Array.from({ length: 300 }, () => findCaller(key, now)));
    expect(await written()).to.equal(1);
    // Simulates a request that read the key before `lastUsedAt` was written.
    await keys.findOneAndUpdate({ _id: keyId }, { $unset: { lastUsedAt: 1 } });
    await findCaller(key, now + 59_000);
    expect(await written()).to.equal(1);
    await findCaller(key, now + 61_000);
    expect(await written()).to.equal(2);
  });

  it('after a failed write, the next request writes the last use of a key', async () => {
    const { key, keyId } = await make();
    const now = Date.now();
    onceInsteadOf(keys, 'updateOne', () => Promise.reject(new Error('MongoDB is away')));
    expect((await findCaller(key, now))?.keyId).to.equal(keyId);
    const written = countWrites();
    await findCaller(key, now + 1);
    expect(await written()).to.equal(1);
    expect((await keys.findOne({ _id: keyId }))?.lastUsedAt?.getTime()).to.equal(now + 1);
  });
});
