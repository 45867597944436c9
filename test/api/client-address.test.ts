import { expect } from 'chai';
import { clientAddress, clientNetwork } from '../../api/http/forwarded.ts';
import type { RequestContext } from '../../api/part.ts';
import { withLogLines } from '../support/log-lines.ts';
import { useTestContext } from '../support/service.ts';

/** X-Forwarded-For as proxies write it, and the client that limits count behind one trusted proxy. */
const cases: [forwarded: string, address: string][] = [
  ['203.0.113.51', '203.0.113.51'],
  ['203.0.113.51:40001', '203.0.113.51'],
  [' 203.0.113.51:40002 ', '203.0.113.51'],
  ['198.51.100.1, 203.0.113.51:40003', '203.0.113.51'],
  ['"203.0.113.51:40004"', '203.0.113.51'],
  ['for="203.0.113.51:40005"', '203.0.113.51'],
  ['::ffff:203.0.113.51', '203.0.113.51'],
  ['[::ffff:cb00:7133]:443', '203.0.113.51'],
  ['2001:db8::1', '2001:db8::1'],
  ['2001:DB8:0:0::1', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['[2001:db8::1]:40001', '2001:db8::1'],
  ['For="[2001:db8::1]:40002"', '2001:db8::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['[fe80::1%25eth0]:80', 'fe80::1'],
  ...['unknown', '_hidden', '198.51.100.1, ', '1.2.3', '2130706433', '300.1.1.1', 'a.example:1', '"', '[]:80', '%'].map(
    (junk): [string, string] => [junk, 'unknown'],
  ),
];

describe('client addresses behind a proxy', () => {
  const ctx = useTestContext({ TRUSTED_PROXY_HOPS: '1' });
  const requestFrom = (forwarded: string, remoteAddress = '127.0.0.1') =>
    ({ get: () => forwarded, req: { socket: { remoteAddress } } }) as unknown as RequestContext;

  it('limits count each form of an address as the same client, and everything that is no address as one client', () => {
    for (const [forwarded, address] of cases) {
      expect(clientAddress(requestFrom(forwarded), ctx), forwarded).to.equal(address);
    }
  });

  it('a proxy that sends no address is logged once, without what it sent', () => {
    const logged = withLogLines({ ...ctx, config: { ...ctx.config } });
    for (const junk of ['secret-junk', 'secret-junk', 'other']) clientAddress(requestFrom(junk), logged.ctx);
    expect(logged.lines).to.have.length(1);
    expect(JSON.stringify(logged.lines)).not.to.include('secret-junk');
  });

  it('without a trusted proxy or without the header, limits count by the address of the connection', () => {
    const direct = { ...ctx, config: { ...ctx.config, trustedProxyHops: 0 } };
    expect(clientAddress(requestFrom('203.0.113.51', '::ffff:198.51.100.9'), direct)).to.equal('198.51.100.9');
    expect(clientAddress(requestFrom('', '198.51.100.9'), ctx)).to.equal('198.51.100.9');
  });

  it('all addresses of an IPv6 /64 network are one client', () => {
    for (const address of ['2001:db8::1', '2001:db8::ffff:1', '[2001:db8::2]:80'])
      expect(clientNetwork(address)).to.equal('2001:db8::/64');
    expect(clientNetwork('::ffff:203.0.113.51')).to.equal('203.0.113.51');
  });
});
