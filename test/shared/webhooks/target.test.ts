import { expect } from 'chai';
import fc from 'fast-check';
import { checkTargetUrl, isLocalTarget, isPublicAddress } from '../../../shared/webhooks/target.ts';

const NOT_PUBLIC = 'must not point to an address that is not public';
const LOCAL_NAME = 'must not name a local or cloud-internal host';

function expectRefused(hosts: readonly string[], reason: string): void {
  for (const host of hosts) expect(checkTargetUrl(`https://${host}/hook`, []), host).to.equal(reason);
}

function expectAllowed(hosts: readonly string[]): void {
  for (const host of hosts) expect(checkTargetUrl(`https://${host}/hook`, []), host).to.equal(null);
}

describe('checkTargetUrl', () => {
  it('allows public names and public addresses, on any other port', () => {
    expectAllowed(['example.com', 'hooks.partner.test', 'partner.example.:8443', 'bücher.example', '例え.テスト']);
    expectAllowed(['93.184.216.34', '8.8.8.8:1', '[2606:4700::1111]', '[2a00:1450:4001::5]:8443', '1572395042']);
    expectAllowed(['localhost.example.com', 'internal.example.com', 'local.partner.test', 'notlocalhost.example']);
  });

  it('requires https', () => {
    for (const scheme of ['http', 'ftp', 'ws', 'file', 'gopher', 'javascript']) {
      expect(checkTargetUrl(`${scheme}://example.com/`, []), scheme).to.equal('must be an https URL');
    }
  });

  it('refuses what is no absolute URL, or not the one it looks like', () => {
    const others = ['', 'example.com/hook', '//example.com/', 'https://', 'https://exa mple.com/', 'https://[::1/'];
    const hidden = ['https:\\\\example.com', 'ht\ttps://example.com/', ' https://example.com/', 'https://a.b/\u0000'];
    const zones = ['https://[fe80::1%25eth0]/', 'https://[fe80::1%eth0]/', 'https://1.2.3.4.5/', 'https://256.1.1.1/'];
    for (const url of [...others, ...hidden, ...zones])
      expect(checkTargetUrl(url, []), url).to.equal('must be a valid URL');
  });

  it('refuses a user name or a password', () => {
    for (const user of ['user', 'user:password', ':password', 'example.com']) {
      expect(checkTargetUrl(`https://${user}@example.com/`, [])).to.equal('must not contain a user name or password');
    }
  });

  it('refuses the ports of mail', () => {
    for (const port of [25, 465, 587, '0025']) {
      expect(checkTargetUrl(`https://example.com:${port}/`, [])).to.equal('must not use port 25, 465 or 587');
    }
  });

  it('refuses more than 2,048 characters', () => {
    const url = `https://example.com/${'x'.repeat(2028)}`;
    expect(checkTargetUrl(url, [])).to.equal(null);
    expect(checkTargetUrl(`${url}x`, [])).to.equal('must not be longer than 2,048 characters');
  });

  it('refuses IPv4 literals that are not public, in every spelling', () => {
    expectRefused(['127.0.0.1', '127.1', '127.0.1', '2130706433', '0x7f000001', '017700000001', '0x7f.1'], NOT_PUBLIC);
    expectRefused(['0177.0.0.1', '0x7F.0x0.0x0.0x1', '127.0.0.1.', '127.0.0.1..', '%31%32%37.0.0.1', '0'], NOT_PUBLIC);
    expectRefused(['１２７.０.０.１', '127。0。0。1', '①②⑦.⓪.⓪.①', '127｡1', '0x7f。1'], NOT_PUBLIC);
    expectRefused(['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '0.0.0.0', '169.254.1.1'], NOT_PUBLIC);
    expectRefused(['100.64.0.1', '192.0.2.1', '198.18.0.1', '203.0.113.9', '224.0.0.1', '255.255.255.255'], NOT_PUBLIC);
  });

  it('refuses IPv6 literals that are not public, or carry an IPv4 address', () => {
    expectRefused(
      ['[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[fe80::1]', '[fc00::1]', '[fd12::1]', '[ff02::1]'],
      NOT_PUBLIC,
    );
    expectRefused(['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]', '[::ffff:0:127.0.0.1]'], NOT_PUBLIC);
    expectRefused(['[64:ff9b::127.0.0.1]', '[64:ff9b::a9fe:a9fe]', '[64:ff9b:1::a00:1]'], NOT_PUBLIC);
    expectRefused(['[2002:7f00:1::]', '[2002:a9fe:a9fe::1]', '[2001:0:7f00:1::]', '[2001::80ff:fffe]'], NOT_PUBLIC);
    expectRefused(['[2001:db8::1]', '[3fff::1]', '[100::1]', '[100:0:0:1::1]', '[5f00::1]', '[fec0::1]'], NOT_PUBLIC);
  });

  it('refuses the metadata addresses of clouds', () => {
    expectRefused(['169.254.169.254', '2852039166', '0xa9fea9fe', '168.63.129.16', '100.100.100.200'], NOT_PUBLIC);
    expectRefused(
      ['192.0.0.192', '169.254.170.2', '[fd00:ec2::254]', '[fd20:ce::254]', '[fe80::a9fe:a9fe]'],
      NOT_PUBLIC,
    );
  });

  it('refuses names that are local or belong to a cloud', () => {
    expectRefused(['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'localhost.localdomain'], LOCAL_NAME);
    expectRefused(
      ['intranet', 'ip6-localhost', 'instance-data', 'db', 'com.', 'ｌｏｃａｌｈｏｓｔ', 'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ'],
      LOCAL_NAME,
    );
    expectRefused(
      ['printer.local', 'printer。local', 'a.b.internal', 'nas.lan', 'nas.home.arpa', 'a.local..'],
      LOCAL_NAME,
    );
    expectRefused(['metadata.google.internal', 'metadata.google.internal.', 'metadata.goog'], LOCAL_NAME);
    expectRefused(['instance-data.ec2.internal', 'kubernetes.default.svc', 'localtest.me', 'x.lvh.me'], LOCAL_NAME);
  });

  it('refuses every private IPv4 address in every spelling', () => {
    fc.assert(
      fc.property(privateIpv4, spelling, (octets, spell) => {
        expect(checkTargetUrl(`https://${spell(octets)}/`, [])).to.equal(NOT_PUBLIC);
      }),
    );
  });

  it('lifts the https and public rules for the exact origin of a local target, and no other rule', () => {
    const local = ['http://127.0.0.1:4000', 'https://localhost:4443'];
    expect(checkTargetUrl('http://127.0.0.1:4000/hook?x=1', local)).to.equal(null);
    expect(checkTargetUrl('https://localhost:4443/', local)).to.equal(null);
    expect(checkTargetUrl('http://127.0.0.1:4001/', local)).to.equal('must be an https URL');
    expect(checkTargetUrl('https://127.0.0.1:4000/', local)).to.equal(NOT_PUBLIC);
    expect(checkTargetUrl('http://localhost:4000/', local)).to.equal('must be an https URL');
    expect(checkTargetUrl('http://user@127.0.0.1:4000/', local)).to.equal('must not contain a user name or password');
    expect(checkTargetUrl('http://127.0.0.1:25/', ['http://127.0.0.1:25'])).to.match(/port/);
  });
});

describe('isLocalTarget', () => {
  it('compares whole origins', () => {
    const local = ['http://127.0.0.1:4000'];
    expect(isLocalTarget('http://127.0.0.1:4000/a', local)).to.equal(true);
    expect(isLocalTarget('http://127.1:4000/a', local)).to.equal(true);
    expect(isLocalTarget('http://127.0.0.1:40000/a', local)).to.equal(false);
    expect(isLocalTarget('http://127.0.0.1:4000.example.com/', local)).to.equal(false);
    expect(isLocalTarget('http://127.0.0.1:4000@example.com/', local)).to.equal(false);
    expect(isLocalTarget('data:text/plain,x', ['null'])).to.equal(false);
    expect(isLocalTarget('no url', local)).to.equal(false);
  });
});

describe('isPublicAddress', () => {
  it('passes public unicast', () => {
    for (const address of [
      '1.1.1.1',
      '93.184.216.34',
      '172.32.0.1',
      '168.63.129.17',
      '2606:4700::1111',
      '2001:200::1',
    ]) {
      expect(isPublicAddress(address), address).to.equal(true);
    }
  });

  it('passes no special-purpose range of IANA, at neither of its ends', () => {
    for (const range of specialRanges) {
      for (const address of range.split(' ')) expect(isPublicAddress(address), address).to.equal(false);
    }
  });

  it('passes nothing but addresses in the usual notation', () => {
    for (const text of [
      '',
      'example.com',
      '127.1',
      '0x8.8.8.8',
      '134744072',
      '08.8.8.8',
      '8.8.8.8 ',
      '[2606:4700::1]',
    ]) {
      expect(isPublicAddress(text), text).to.equal(false);
    }
    expect(isPublicAddress('2606:4700::1111%eth0')).to.equal(false);
  });

  it('passes no IPv6 address that carries a private IPv4 address', () => {
    fc.assert(fc.property(privateIpv4, embedding, (octets, embed) => !isPublicAddress(embed(hex(octets), octets))));
  });

  it('passes no IPv6 address outside of 2000::/3', () => {
    const group = fc.integer({ min: 0, max: 0xffff });
    const outside = group.filter((first) => first >> 13 !== 1);
    fc.assert(
      fc.property(outside, fc.array(group, { minLength: 7, maxLength: 7 }), (first, rest) => {
        expect(isPublicAddress([first, ...rest].map((part) => part.toString(16)).join(':'))).to.equal(false);
      }),
    );
  });
});

const specialRanges = [
  '0.0.0.0 0.255.255.255',
  '10.0.0.0 10.255.255.255',
  '100.64.0.0 100.127.255.255',
  '127.0.0.0 127.255.255.255',
  '169.254.0.0 169.254.255.255',
  '172.16.0.0 172.31.255.255',
  '192.0.0.0 192.0.0.255',
  '192.0.2.0 192.0.2.255',
  '192.31.196.0 192.31.196.255',
  '192.52.193.0 192.52.193.255',
  '192.88.99.0 192.88.99.255',
  '192.168.0.0 192.168.255.255',
  '192.175.48.0 192.175.48.255',
  '198.18.0.0 198.19.255.255',
  '198.51.100.0 198.51.100.255',
  '203.0.113.0 203.0.113.255',
  '224.0.0.0 239.255.255.255',
  '240.0.0.0 255.255.255.255',
  '168.63.129.16',
  ':: ::1',
  '::ffff:0.0.0.0 ::ffff:8.8.8.8 ::ffff:255.255.255.255',
  '64:ff9b:: 64:ff9b::8.8.8.8 64:ff9b::ffff:ffff',
  '64:ff9b:1:: 64:ff9b:1:ffff:ffff:ffff:ffff:ffff',
  '100:: 100::ffff:ffff:ffff:ffff 100:0:0:1:: 100:0:0:1:ffff:ffff:ffff:ffff',
  '2001:: 2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff',
  '2001:db8:: 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff',
  '2002:: 2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  '2620:4f:8000:: 2620:4f:8000:ffff:ffff:ffff:ffff:ffff',
  '3ffe:: 3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  '3fff:: 3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff',
  '5f00:: 5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  'fc00:: fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  'fe80:: febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  'fec0:: feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  'ff00:: ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
];

type Octets = [number, number, number, number];

const octet = fc.integer({ min: 0, max: 255 });

const privateIpv4: fc.Arbitrary<Octets> = fc.oneof(
  fc.tuple(fc.constantFrom(0, 10, 127), octet, octet, octet),
  fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), octet, octet),
  fc.tuple(fc.constant(192), fc.constant(168), octet, octet),
  fc.tuple(fc.constant(169), fc.constant(254), octet, octet),
  fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), octet, octet),
);

const fullWidth = (text: string) => text.replace(/[!-~]/g, (char) => String.fromCharCode(char.charCodeAt(0) + 0xfee0));

const base = fc.constantFrom(
  (n: number) => String(n),
  (n: number) => `0${n.toString(8)}`,
  (n: number) => `0x${n.toString(16)}`,
  (n: number) => `0X000${n.toString(16).toUpperCase()}`,
);

/** A way to write an IPv4 address in a URL: one to four numbers, each in any base, perhaps dressed up or embedded. */
const spelling: fc.Arbitrary<(octets: Octets) => string> = fc
  .tuple(
    fc.constantFrom(1, 2, 3, 4),
    fc.tuple(base, base, base, base),
    fc.constantFrom(
      (text: string) => text,
      fullWidth,
      (text: string) => `${text}.`,
      (text: string) => text.replaceAll('.', '。'),
      (text: string) => text.replaceAll('0', '%30'),
    ),
  )
  .map(([count, bases, dress]) => (octets: Octets) => {
    const last = octets.slice(count - 1).reduce((sum, part) => sum * 256 + part, 0);
    const numbers = [...octets.slice(0, count - 1), last];
    return dress(numbers.map((number, index) => bases[index]?.(number)).join('.'));
  });

function hex([a, b, c, d]: Octets): string {
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}

const embedding: fc.Arbitrary<(groups: string, octets: Octets) => string> = fc.constantFrom(
  (groups: string) => `::${groups}`,
  (groups: string) => `::ffff:${groups}`,
  (_: string, octets: Octets) => `::ffff:${octets.join('.')}`,
  (groups: string) => `::ffff:0:${groups}`,
  (groups: string) => `64:ff9b::${groups}`,
  (groups: string) => `64:ff9b:1::${groups}`,
  (groups: string) => `2002:${groups}::1`,
  (groups: string) => `2001:0:${groups}::1`,
  (_: string, octets: Octets) => `2001:0:102:304:0:ffff:${hex(octets.map((part) => part ^ 255) as Octets)}`,
  (groups: string) => `2606:4700::5efe:${groups}`,
  (groups: string) => `2606:4700::200:5efe:${groups}`,
);
