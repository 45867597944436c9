import { expect } from 'chai';
import fc from 'fast-check';
import { isPublicAddress } from '../../../shared/targets/target.ts';
import { embedding, notPublicIpv4 } from '../../support/webhook-addresses.ts';

describe('isPublicAddress', () => {
  it('isPublicAddress accepts public unicast addresses', () => {
    for (const address of [
      ...['1.1.1.1', '93.184.216.34', '172.32.0.1', '168.63.129.17', '2606:4700::1111', '2001:200::1'],
      '2606:4700::1:5efe:808:808',
    ]) {
      expect(isPublicAddress(address), address).to.equal(true);
    }
  });

  it('isPublicAddress rejects the first and last address of every special-purpose range of IANA', () => {
    for (const range of specialRanges) {
      for (const address of range.split(' ')) expect(isPublicAddress(address), address).to.equal(false);
    }
  });

  it('isPublicAddress accepts the addresses next to the special-purpose ranges', () => {
    for (const address of besideSpecialRanges.join(' ').split(' ')) {
      expect(isPublicAddress(address), address).to.equal(true);
    }
  });

  it('isPublicAddress rejects texts that are not addresses in standard notation', () => {
    for (const text of [
      ...['', 'example.com', '127.1', '0x8.8.8.8', '134744072', '08.8.8.8', '8.8.8.8 ', '[2606:4700::1]'],
    ]) {
      expect(isPublicAddress(text), text).to.equal(false);
    }
    expect(isPublicAddress('2606:4700::1111%eth0')).to.equal(false);
  });

  it('isPublicAddress rejects IPv6 addresses that contain a non-public IPv4 address', () => {
    fc.assert(fc.property(notPublicIpv4, embedding, (octets, embed) => !isPublicAddress(embed(octets))));
  });

  it('isPublicAddress rejects IPv6 addresses outside of 2000::/3', () => {
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
  '168.63.129.16 192.80.8.124',
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

const besideSpecialRanges = [
  '1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255 169.255.0.0',
  '172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.1.255 192.0.3.0 192.31.195.255 192.31.197.0',
  '192.52.192.255 192.52.194.0 192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0 192.175.47.255 192.175.49.0',
  '198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255',
  '168.63.129.15 168.63.129.17 192.80.8.123 192.80.8.125',
  '2000:: 2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2001:200:: 2001:db7:ffff:ffff:ffff:ffff:ffff:ffff 2001:db9::',
  '2003:: 2620:4f:7fff:ffff:ffff:ffff:ffff:ffff 2620:4f:8001:: 3ffd:ffff:ffff:ffff:ffff:ffff:ffff:ffff 3fff:1000::',
];
