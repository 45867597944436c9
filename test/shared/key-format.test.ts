import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import {
  isWellFormedDriverKey,
  isWellFormedKey,
  keyHint,
  newApiKey,
  newDriverKey,
  newSigningSecret,
} from '../../shared/keys/key-format.ts';

const secret = 'abcdefghijklmnopqrstuvwxyz012345';
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The CRC-32 in base 62, with six digits. */
function checksumOf(body: string): string {
  let [rest, text] = [crc32(body), ''];
  for (let place = 0; place < 6; place += 1) [text, rest] = [digits[rest % 62] + text, Math.floor(rest / 62)];
  return text;
}
const withChecksum = (body: string) => body + checksumOf(body);

describe('the format of keys', () => {
  it('a key has the prefix of its mode, 32 characters and a checksum', () => {
    expect(newApiKey('live', secret)).to.equal(withChecksum(`svc_live_${secret}`));
    expect(newApiKey('test')).to.match(/^svc_test_[0-9A-Za-z]{38}$/);
    expect(newDriverKey()).to.match(/^svc_driver_[0-9A-Za-z]{38}$/);
    expect(newApiKey('test')).not.to.equal(newApiKey('test'));
    expect(newSigningSecret(secret)).to.equal(`whsec_${secret}`);
    expect(newSigningSecret()).to.match(/^whsec_[0-9A-Za-z]{32}$/);
  });

  for (const [title, text, isPartners, isDrivers] of [
    ['a live key', newApiKey('live'), true, false],
    ['a test key', newApiKey('test'), true, false],
    ["a driver's key", newDriverKey(), false, true],
    ['a key with a wrong checksum', `svc_live_${secret}000000`, false, false],
    ["a driver's key with a wrong checksum", `svc_driver_${secret}000000`, false, false],
    ['a key of another kind', withChecksum(`svc_other_${secret}`), false, false],
    ['a key that is too short', withChecksum(`svc_live_${secret.slice(1)}`), false, false],
    ['a key that is too long', withChecksum(`svc_live_${secret}0`), false, false],
    ['a key after other text', withChecksum(` svc_live_${secret}`), false, false],
    ["a driver's key after other text", withChecksum(` svc_driver_${secret}`), false, false],
    ['a key before a line break', `${newApiKey('live', secret)}\n`, false, false],
    ['a live key with the prefix of a test key', newApiKey('live', secret).replace('live', 'test'), false, false],
    ['a key with two characters swapped', newApiKey('live', secret).replace('ab', 'ba'), false, false],
    ['a key in capitals', newApiKey('live', secret).toUpperCase(), false, false],
    ['a key without its prefix', newApiKey('live', secret).slice('svc_live_'.length), false, false],
    ['a key in quotes', `"${newApiKey('live', secret)}"`, false, false],
    ['a key with a sign', withChecksum(`svc_live_${secret.slice(1)}-`), false, false],
    ['an empty text', '', false, false],
  ] as const) {
    it(`${title} is ${isPartners ? '' : 'not '}well-formed for a partner and ${isDrivers ? '' : 'not '}for a driver`, () => {
      expect([isWellFormedKey(text), isWellFormedDriverKey(text)]).to.deep.equal([isPartners, isDrivers]);
    });
  }

  it('the hint of a key is its prefix and its last four characters', () => {
    expect(keyHint(`svc_live_${secret}ABwxyz`)).to.equal('svc_live_...wxyz');
    expect(keyHint(`svc_driver_${secret}ABwxyz`)).to.equal('svc_driver_...wxyz');
  });
});
