import fc from 'fast-check';

export type Octets = [number, number, number, number];

const octet = fc.integer({ min: 0, max: 255 });

/** Non-public addresses: private, shared, loopback, link-local, benchmarking, multicast, reserved, metadata. */
export const notPublicIpv4: fc.Arbitrary<Octets> = fc.oneof(
  fc.tuple(fc.constantFrom(0, 10, 127), octet, octet, octet),
  fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), octet, octet),
  fc.tuple(fc.constant(192), fc.constant(168), octet, octet),
  fc.tuple(fc.constant(169), fc.constant(254), octet, octet),
  fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), octet, octet),
  fc.tuple(fc.constant(198), fc.constantFrom(18, 19), octet, octet),
  fc.tuple(fc.integer({ min: 224, max: 255 }), octet, octet, octet),
  fc.constantFrom<Octets>([168, 63, 129, 16], [192, 0, 0, 192], [192, 80, 8, 124], [255, 255, 255, 255]),
);

const fullWidth = (text: string) => text.replace(/[!-~]/g, (char) => String.fromCharCode(char.charCodeAt(0) + 0xfee0));

const base = fc.constantFrom(
  (n: number) => String(n),
  (n: number) => `0${n.toString(8)}`,
  (n: number) => `0x${n.toString(16)}`,
  (n: number) => `0X000${n.toString(16).toUpperCase()}`,
);

/** An IPv4 address in a URL in any allowed spelling: one to four numbers, each in any base. */
export const spelling: fc.Arbitrary<(octets: Octets) => string> = fc
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

function hexGroups([a, b, c, d]: Octets): string {
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}

/** An IPv6 address that embeds an IPv4 address, in any spelling. */
export const embedding: fc.Arbitrary<(octets: Octets) => string> = fc.constantFrom(
  (octets: Octets) => `::${hexGroups(octets)}`,
  (octets: Octets) => `::ffff:${hexGroups(octets)}`,
  (octets: Octets) => `::ffff:${octets.join('.')}`,
  (octets: Octets) => `::ffff:0:${hexGroups(octets)}`,
  (octets: Octets) => `64:ff9b::${hexGroups(octets)}`,
  (octets: Octets) => `64:ff9b:1::${hexGroups(octets)}`,
  (octets: Octets) => `2002:${hexGroups(octets)}::1`,
  (octets: Octets) => `2001:0:${hexGroups(octets)}::1`,
  (octets: Octets) => `2001:0:102:304:0:ffff:${hexGroups(octets.map((part) => part ^ 255) as Octets)}`,
  (octets: Octets) => `2606:4700::5efe:${hexGroups(octets)}`,
  (octets: Octets) => `2606:4700::200:5efe:${hexGroups(octets)}`,
);
