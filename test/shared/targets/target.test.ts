import { expect } from 'chai';
import fc from 'fast-check';
import { checkTargetUrl, isLocalTarget } from '../../../shared/targets/target.ts';
import { notPublicIpv4, spelling } from '../../support/webhook-addresses.ts';

const NOT_PUBLIC = 'must not point to an address that is not public';
const LOCAL_NAME = 'must not name a local or cloud-internal host';
const NO_NAME = 'must name a host of at most 253 characters, with labels of 1 to 63 characters';

function expectRefused(hosts: readonly string[], reason: string): void {
  for (const host of hosts) expect(checkTargetUrl(`https://${host}/hook`, []), host).to.equal(reason);
}

function expectAllowed(hosts: readonly string[]): void {
  for (const host of hosts) expect(checkTargetUrl(`https://${host}/hook`, []), host).to.equal(null);
}

describe('checkTargetUrl', () => {
  it('checkTargetUrl allows public names and addresses on any port except mail ports', () => {
    expectAllowed(['example.com', 'hooks.partner.test', 'partner.example.:8443', 'bücher.example', '例え.テスト']);
    expectAllowed(['93.184.216.34', '8.8.8.8:1', '[2606:4700::1111]', '[2a00:1450:4001::5]:8443', '1572395042']);
    expectAllowed(['localhost.example.com', 'internal.example.com', 'local.partner.test', 'notlocalhost.example']);
  });

  it('checkTargetUrl refuses URLs that are not https', () => {
    for (const scheme of ['http', 'ftp', 'ws', 'file', 'gopher', 'javascript']) {
      expect(checkTargetUrl(`${scheme}://example.com/`, []), scheme).to.equal('must be an https URL');
    }
  });

  it('checkTargetUrl refuses texts that are not absolute URLs, and URLs with hidden or invalid parts', () => {
    const others = ['', 'example.com/hook', '//example.com/', 'https://', 'https://exa mple.com/', 'https://[::1/'];
    const hidden = ['https:\\\\example.com', 'ht\ttps://example.com/', ' https://example.com/', 'https://a.b/\u0000'];
    const zones = ['https://[fe80::1%25eth0]/', 'https://[fe80::1%eth0]/', 'https://1.2.3.4.5/', 'https://256.1.1.1/'];
    const ports = ['https://example.com:0/', 'https://example.com:00/', 'https://example.com:65536/'];
    for (const url of [...others, ...hidden, ...zones, ...ports])
      expect(checkTargetUrl(url, []), url).to.equal('must be a valid URL');
  });

  it('checkTargetUrl checks the host that the service would connect to, in any spelling of the URL', () => {
    for (const url of [
      'HTTPS://127.0.0.1/',
      'https:127.0.0.1',
      'https:/127.1',
      'https:///127.0.0.1/',
      'https://@127.1/',
    ]) {
      expect(checkTargetUrl(url, []), url).to.equal(NOT_PUBLIC);
    }
    for (const rest of ['#.example.com', '?.example.com', '/@example.com', ':443', ':8443/', ':/']) {
      expect(checkTargetUrl(`https://127.0.0.1${rest}`, []), rest).to.equal(NOT_PUBLIC);
      expect(checkTargetUrl(`https://localhost${rest}`, []), rest).to.equal(LOCAL_NAME);
    }
    expect(checkTargetUrl('https://example.com#@127.0.0.1', [])).to.equal(null);
    expect(checkTargetUrl('https://example.com@127.0.0.1/', [])).to.match(/user name/);
  });

  it('checkTargetUrl refuses a user name or a password', () => {
    for (const user of ['user', 'user:password', ':password', 'example.com']) {
      expect(checkTargetUrl(`https://${user}@example.com/`, [])).to.equal('must not contain a user name or password');
    }
  });

  it('checkTargetUrl refuses the ports of mail servers', () => {
    for (const port of [25, 465, 587, '0025']) {
      expect(checkTargetUrl(`https://example.com:${port}/`, [])).to.equal('must not use port 25, 465 or 587');
    }
    expect(checkTargetUrl('https://example.com:２５/', [])).to.equal('must be a valid URL');
  });

  it('checkTargetUrl refuses URLs of more than 2,048 characters', () => {
    const url = `https://example.com/${'x'.repeat(2028)}`;
    expect(checkTargetUrl(url, [])).to.equal(null);
    expect(checkTargetUrl(`${url}x`, [])).to.equal('must not be longer than 2,048 characters');
  });

  it('names too long for DNS are refused: a label over 63 characters, or over 253 in total, in ASCII', () => {
    const name = (length: number) => `${`${'a'.repeat(49)}.`.repeat(5)}${'b'.repeat(length - 250)}`;
    expectAllowed([`${'a'.repeat(63)}.example`, `x.${'a'.repeat(63)}.example.`, name(253), `${name(253)}.`]);
    // The label has 63 characters in its `xn--...` form; one more is too long.
    expectAllowed([`${'ü'.repeat(57)}.example`]);
    const hosts = [`${'a'.repeat(64)}.example`, `x.${'a'.repeat(64)}.example.`, name(254), 'a..example', '.a.example'];
    expectRefused([...hosts, `${'ü'.repeat(58)}.example`], NO_NAME);
  });

  it('checkTargetUrl refuses IPv4 literals that are not public, in every spelling', () => {
    expectRefused(['127.0.0.1', '127.1', '127.0.1', '2130706433', '0x7f000001', '017700000001', '0x7f.1'], NOT_PUBLIC);
    expectRefused(['0177.0.0.1', '0x7F.0x0.0x0.0x1', '127.0.0.1.', '127.0.0.1..', '%31%32%37.0.0.1', '0'], NOT_PUBLIC);
    expectRefused(['0x', '0x.0x.0x.0x', '0x7f.0x', '00000177.1', '4294967295', '037777777777'], NOT_PUBLIC);
    expectRefused(['127.0.0.1%2e', '127%2e0%2e0%2e1', '%30x7f.1', '127.0.0.1...'], NOT_PUBLIC);
    expectRefused(['１２７.０.０.１', '127。0。0。1', '①②⑦.⓪.⓪.①', '127｡1', '0x7f。1'], NOT_PUBLIC);
    expectRefused(['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '0.0.0.0', '169.254.1.1'], NOT_PUBLIC);
    expectRefused(['100.64.0.1', '192.0.2.1', '198.18.0.1', '203.0.113.9', '224.0.0.1', '255.255.255.255'], NOT_PUBLIC);
  });

  it('checkTargetUrl refuses IPv6 literals that are not public, or contain an IPv4 address', () => {
    expectRefused(
      ['[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[fe80::1]', '[fc00::1]', '[fd12::1]', '[ff02::1]'],
      NOT_PUBLIC,
    );
    expectRefused(['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]', '[::ffff:0:127.0.0.1]'], NOT_PUBLIC);
    expectRefused(['[::0.0.0.1]', '[::FFFF:7F00:1]', '[0:0:0:0:0:ffff:127.0.0.1]', '[::8.8.8.8]'], NOT_PUBLIC);
    expectRefused(
      ['[2606:4700::5efe:127.0.0.1]', '[2606:4700::200:5efe:10.0.0.1]', '[fe80::5efe:8.8.8.8]'],
      NOT_PUBLIC,
    );
    expectRefused(['[64:ff9b::127.0.0.1]', '[64:ff9b::a9fe:a9fe]', '[64:ff9b:1::a00:1]'], NOT_PUBLIC);
    expectRefused(['[2002:7f00:1::]', '[2002:a9fe:a9fe::1]', '[2001:0:7f00:1::]', '[2001::80ff:fffe]'], NOT_PUBLIC);
    expectRefused(['[2001:db8::1]', '[3fff::1]', '[100::1]', '[100:0:0:1::1]', '[5f00::1]', '[fec0::1]'], NOT_PUBLIC);
  });

  it('checkTargetUrl refuses cloud-metadata addresses', () => {
    expectRefused(['169.254.169.254', '2852039166', '0xa9fea9fe', '168.63.129.16', '100.100.100.200'], NOT_PUBLIC);
    expectRefused(
      ['0xa83f8110', '2822734096', '0250.077.0201.020', '192.80.8.124', '１６８.６３.１２９.１６'],
      NOT_PUBLIC,
    );
    expectRefused(
      [
        ...['192.0.0.192', '169.254.170.2', '169.254.170.23', '169.254.0.23', '[fd00:ec2::23]', '[fd00:ec2::254]'],
        ...['[fd20:ce::254]', '[fe80::a9fe:a9fe]'],
      ],
      NOT_PUBLIC,
    );
  });

  it('checkTargetUrl refuses local and cloud-internal names', () => {
    expectRefused(['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'localhost.localdomain'], LOCAL_NAME);
    expectRefused(
      ['intranet', 'ip6-localhost', 'instance-data', 'db', 'com.', 'ｌｏｃａｌｈｏｓｔ', 'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ'],
      LOCAL_NAME,
    );
    expectRefused(
      ['localhost6.localdomain6', 'ip6-loopback', 'a.b.localhost', 'localhost%2e', '%6cocalhost'],
      LOCAL_NAME,
    );
    expectRefused(['local\u00adhost', 'local\u200bhost', 'localho\u017ft', 'localhost。', '.', '..'], LOCAL_NAME);
    expectRefused(
      ['host.docker.internal', 'x.svc.cluster.local', 'vault.service.consul', 'x.onion', 'x.mail'],
      LOCAL_NAME,
    );
    expectRefused(
      ['printer.local', 'printer。local', 'a.b.internal', 'nas.lan', 'nas.home.arpa', 'a.local..'],
      LOCAL_NAME,
    );
    expectRefused(['metadata.google.internal', 'metadata.google.internal.', 'metadata.goog'], LOCAL_NAME);
    expectRefused(['METADATA.tencentyun.com', 'api.metadata.cloud.ibm.com', 'metadata.exoscale.com..'], LOCAL_NAME);
    expectRefused(['instance-data.ec2.internal', 'kubernetes.default.svc', 'localtest.me', 'x.lvh.me'], LOCAL_NAME);
  });

  it('checkTargetUrl refuses random non-public IPv4 addresses in random spellings', () => {
    fc.assert(
      fc.property(notPublicIpv4, spelling, (octets, spell) => {
        expect(checkTargetUrl(`https://${spell(octets)}/`, [])).to.equal(NOT_PUBLIC);
      }),
    );
  });

  it('a listed local origin needs neither https nor a public address, but all other rules apply', () => {
    const local = ['http://127.0.0.1:4000', 'https://localhost:4443'];
    expect(checkTargetUrl('http://127.0.0.1:4000/hook?x=1', local)).to.equal(null);
    expect(checkTargetUrl('https://localhost:4443/', local)).to.equal(null);
    expect(checkTargetUrl('http://127.0.0.1:4001/', local)).to.equal('must be an https URL');
    expect(checkTargetUrl('https://127.0.0.1:4000/', local)).to.equal(NOT_PUBLIC);
    expect(checkTargetUrl('http://localhost:4000/', local)).to.equal('must be an https URL');
    expect(checkTargetUrl('http://127.0.0.1:4000.example.com/', local)).to.equal('must be a valid URL');
    expect(checkTargetUrl('http://user@127.0.0.1:4000/', local)).to.equal('must not contain a user name or password');
    expect(checkTargetUrl('http://127.0.0.1:25/', ['http://127.0.0.1:25'])).to.match(/port/);
  });
});

describe('isLocalTarget', () => {
  it('isLocalTarget compares whole origins', () => {
    const local = ['http://127.0.0.1:4000'];
    expect(isLocalTarget(new URL('http://127.0.0.1:4000/a'), local)).to.equal(true);
    expect(isLocalTarget(new URL('http://127.1:4000/a'), local)).to.equal(true);
    expect(isLocalTarget(new URL('http://127.0.0.1:40000/a'), local)).to.equal(false);
    expect(isLocalTarget(new URL('http://127.0.0.1:4000@example.com/'), local)).to.equal(false);
    expect(isLocalTarget(new URL('data:text/plain,x'), ['null'])).to.equal(false);
  });
});
