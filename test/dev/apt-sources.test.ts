import { expect } from 'chai';
import { parseDeb822, parseOneLine } from '../../dev/servers/debian-packages.ts';

describe('apt sources', () => {
  it('apt sources are read in deb822 format', () => {
    const text = `# comment
Types: deb deb-src
URIs: http://deb.debian.org/debian
Suites: bookworm bookworm-updates
# in between
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: https://example.org/apt
Suites: stable
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 mQINBFit2ioBEADhWpZ8
 -----END PGP PUBLIC KEY BLOCK-----

Enabled: no
Types: deb
URIs: https://off.example.org/apt
Suites: stable

Types: deb-src
URIs: http://deb.debian.org/debian
Suites: bookworm
`;
    const [own, embedded, ...others] = parseDeb822(text);
    expect(own).to.deep.equal({
      uris: 'http://deb.debian.org/debian',
      suites: 'bookworm bookworm-updates',
      components: 'main contrib',
      signedBy: '/usr/share/keyrings/debian-archive-keyring.gpg',
      trusted: undefined,
    });
    expect(embedded?.signedBy).to.match(/^\n -----BEGIN.*\n mQIN.*END PGP PUBLIC KEY BLOCK-----$/s);
    expect(others).to.deep.equal([]);
  });

  it('apt sources are read in one-line format', () => {
    const text = `# deb http://off.example/ x main
deb http://deb.debian.org/debian bookworm main contrib # comment
  deb [arch=amd64 signed-by=/a/one.gpg,/a/two.gpg trusted=yes] https://example.org/apt stable main
deb-src http://deb.debian.org/debian bookworm main
`;
    expect(parseOneLine(text)).to.deep.equal([
      {
        uris: 'http://deb.debian.org/debian',
        suites: 'bookworm',
        components: 'main contrib',
        signedBy: undefined,
        trusted: undefined,
      },
      {
        uris: 'https://example.org/apt',
        suites: 'stable',
        components: 'main',
        signedBy: '/a/one.gpg /a/two.gpg',
        trusted: 'yes',
      },
    ]);
  });
});
