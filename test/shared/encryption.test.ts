import { expect } from 'chai';
import {
  decrypt,
  encrypt,
  SecretDamaged,
  SecretsKeyMissing,
  type SecretsKeys,
  secretsKey,
} from '../../shared/base/encryption.ts';

const [a, b, c] = [secretsKey(Buffer.alloc(32, 1)), secretsKey(Buffer.alloc(32, 2)), secretsKey(Buffer.alloc(32, 3))];

describe('encryption at rest', () => {
  it('a ciphertext decrypts to the original text', () => {
    for (const plain of ['whsec_abc', '', 'Zoë 🚕']) {
      expect(decrypt(encrypt(plain, [a], 'key_1'), [a], 'key_1')).to.equal(plain);
    }
  });

  it('each encryption of a text gives another ciphertext, which does not contain the text', () => {
    const sealed = [1, 2].map(() => encrypt('whsec_abc', [a], 'key_1'));
    expect(sealed[0]).not.to.equal(sealed[1]);
    const base64 = sealed[0]?.split(':').at(-1) ?? '';
    expect(Buffer.from(base64, 'base64').toString('latin1')).not.to.include('whsec');
  });

  it('encryption uses the first key of a list, and decryption works with all of them, in any order', () => {
    const sealed = encrypt('whsec_abc', [b, a], 'key_1');
    for (const keys of [[b], [b, a], [a, b], [a, c, b]] as unknown as SecretsKeys[]) {
      expect(decrypt(sealed, keys, 'key_1')).to.equal('whsec_abc');
    }
  });

  it('each ciphertext names its key by an id of 8 hex digits that differs between keys', () => {
    expect(encrypt('whsec_abc', [a, b], 'key_1').startsWith(`key:${a.id}:`)).to.equal(true);
    expect(new Set([a.id, b.id, c.id]).size).to.equal(3);
    for (const { id } of [a, b, c]) expect(id).to.match(/^[0-9a-f]{8}$/);
    expect(secretsKey(Buffer.alloc(32, 1)).id).to.equal(a.id);
  });

  it('decryption throws SecretsKeyMissing for a ciphertext of an unlisted key', () => {
    const sealed = encrypt('whsec_abc', [a], 'key_1');
    expect(() => decrypt(sealed, [b, c], 'key_1')).to.throw(SecretsKeyMissing, a.id);
  });

  it('decryption throws SecretDamaged for a ciphertext that was modified or copied to another record', () => {
    const sealed = encrypt('whsec_abc', [a], 'key_1');
    expect(() => decrypt(sealed, [b, a], 'key_2')).to.throw(SecretDamaged);
    const bytes = Buffer.from(sealed.split(':').at(-1) ?? '', 'base64');
    for (let i = 0; i < bytes.length; i++) {
      const changed = Buffer.from(bytes);
      changed[i] = (changed[i] ?? 0) ^ 1;
      const text = `key:${a.id}:${changed.toString('base64')}`;
      expect(() => decrypt(text, [b, a], 'key_1'), `byte ${i}`).to.throw(SecretDamaged);
    }
  });

  it('decryption throws SecretDamaged for a truncated or malformed ciphertext', () => {
    const sealed = encrypt('', [a], 'key_1');
    const bytes = Buffer.from(sealed.split(':').at(-1) ?? '', 'base64');
    for (const length of [0, 11, 12, 16, 20, 24, 27]) {
      const cut = bytes.subarray(0, length).toString('base64');
      expect(() => decrypt(`key:${a.id}:${cut}`, [a], 'key_1'), `${length} bytes`).to.throw(SecretDamaged);
      expect(() => decrypt(cut, [a], 'key_1'), `${length} bytes without a name`).to.throw(SecretDamaged);
    }
    for (const text of ['key:', `key:${a.id}`, 'key:nonsense:AAAA', 'nonsense', '']) {
      expect(() => decrypt(text, [a], 'key_1'), text).to.throw(SecretDamaged);
    }
  });
});
