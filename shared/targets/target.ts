import ipaddr from 'ipaddr.js';

const maxUrlLength = 2048;
export const tooLong = 'must not be longer than 2,048 characters';

/** Ports of mail servers, which could interpret a request as a mail. */
const mailPorts = new Set(['25', '465', '587']);

/** Domain suffixes that do not exist in the public DNS: only an internal name server can resolve them. */
const localSuffixes = [
  'localhost',
  'localdomain',
  'localdomain6',
  'local',
  'internal',
  'intranet',
  'lan',
  'home',
  'home.arpa',
  'corp',
  'private',
  'svc',
  'consul',
  'mail',
  'onion',
  'alt',
];

/** Public names that resolve to the machine itself or to a cloud's metadata host. */
const localNames = [
  'localtest.me',
  'lvh.me',
  'vcap.me',
  'metadata.goog',
  'metadata.cloud.ibm.com',
  'metadata.exoscale.com',
  'metadata.tencentyun.com',
  'metadata.packet.net',
  'metadata.platformequinix.com',
];

/** Cloud-metadata hosts with public addresses. */
const notPublicV4 = ranges(
  '168.63.129.16/32', // Azure, DHCP too
  '192.80.8.124/32', // Equinix Metal, formerly Packet
);

const assignedV6 = ranges('2000::/3');

const notPublicV6 = ranges(
  '2001::/23', // IETF protocol assignments, Teredo among them
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: carries an IPv4 address, public or not
  '2620:4f:8000::/48', // AS112
  '3ffe::/16', // the former 6bone
  '3fff::/20', // documentation
);

/**
 * Checks a webhook URL (contract, section 6, rule 2: HTTPS and public). Returns null if it is allowed; otherwise public
 * text that continues a sentence after the field's name ("must be an https URL"). Resolves no name: `send` does that at
 * every attempt. An origin listed in `localTargets` may be http and not public.
 */
export function checkTargetUrl(url: string, localTargets: readonly string[]): string | null {
  if (url.length > maxUrlLength) return tooLong;
  const parsed = parse(url);
  if (parsed === null) return 'must be a valid URL';
  if (parsed.username !== '' || parsed.password !== '') return 'must not contain a user name or password';
  if (mailPorts.has(parsed.port)) return 'must not use port 25, 465 or 587';
  // URL accepts port 0, but nothing can be reached there.
  if (parsed.port === '0') return 'must be a valid URL';
  if (isLocalTarget(parsed, localTargets)) return null;
  if (parsed.protocol !== 'https:') return 'must be an https URL';
  return checkHost(hostOf(parsed));
}

/** True if `localTargets` contains the origin of `url`, in the form of `URL.origin` (`http://127.0.0.1:4000`). */
export function isLocalTarget({ origin }: URL, localTargets: readonly string[]): boolean {
  return origin !== 'null' && localTargets.includes(origin);
}

/**
 * True if a resolved IPv4 or IPv6 address is public unicast, the only kind that this service connects to (contract,
 * section 6, rule 2). False for special-purpose ranges of the IANA registries, cloud-metadata hosts, IPv6 forms that
 * contain an IPv4 address (even a public one), addresses with a zone id, and any text that is not an address.
 */
export function isPublicAddress(address: string): boolean {
  if (!isAddress(address) || address.includes('%')) return false;
  const parsed = ipaddr.parse(address);
  // ipaddr.js reports 'unicast' for every range that it does not know, including most of the unassigned IPv6 space.
  if (parsed.range() !== 'unicast') return false;
  if (parsed instanceof ipaddr.IPv4) return !within(parsed, notPublicV4);
  return within(parsed, assignedV6) && !within(parsed, notPublicV6) && !isIsatap(parsed);
}

const nat64 = ranges('64:ff9b::/96');
const localNat64 = ranges('64:ff9b:1::/48');

/**
 * The IPv4 address in an address that DNS64 has made of it, in the well-known or the local prefix (RFC 6052, RFC 8215);
 * undefined for any other address. It may be public or not.
 */
export function ipv4Inside(address: string): string | undefined {
  if (!ipaddr.IPv6.isValid(address) || address.includes('%')) return undefined;
  const parsed = ipaddr.IPv6.parse(address);
  const { parts } = parsed;
  const isLocal = within(parsed, localNat64);
  if (!isLocal && !within(parsed, nat64)) return undefined;
  const bytes = parsed.toByteArray();
  // Within the local prefix, networks use /96 or the whole /48, which leaves out byte 8.
  const isLast = !isLocal || [3, 4, 5].every((part) => parts[part] === 0);
  const isFirst = isLocal && bytes[8] === 0 && bytes.slice(11).every((byte) => byte === 0);
  if (!isLast && !isFirst) return undefined;
  return (isLast ? bytes.slice(12) : [...bytes.slice(6, 8), ...bytes.slice(9, 11)]).join('.');
}

/** The host of a URL as used in DNS and certificates: without IPv6 brackets and trailing dots. */
export function hostOf(url: URL): string {
  // Stryker disable next-line Regex: a host has brackets only at its ends
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.+$/, '');
}

function checkHost(host: string): string | null {
  if (isAddress(host)) return isPublicAddress(host) ? null : 'must not point to an address that is not public';
  const isLocal =
    !host.includes('.') || [...localSuffixes, ...localNames].some((name) => `.${host}`.endsWith(`.${name}`));
  if (isLocal) return 'must not name a local or cloud-internal host';
  return isValidDnsName(host) ? null : 'must name a host of at most 253 characters, with labels of 1 to 63 characters';
}

/** True if DNS allows the lengths of this name and its labels, in ASCII (RFC 1035, section 2.3.4). */
function isValidDnsName(name: string): boolean {
  return name.length <= 253 && name.split('.').every((label) => label.length >= 1 && label.length <= 63);
}

// WHATWG `URL` normalizes most spellings of an address: numbers in any base, short forms, full-width digits, dots of
// other scripts, escapes. It also removes or replaces whitespace, control characters and backslashes, so URLs with
// these are refused first.
function parse(url: string): URL | null {
  return /[\s\\\p{Cc}]/u.test(url) || !URL.canParse(url) ? null : new URL(url);
}

// Accepts only the usual spelling, because ipaddr.js also accepts 127.1 and 0x7f000001 as addresses.
function isAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
}

/** True if an address has an ISATAP interface id (RFC 5214), which contains an IPv4 address under any prefix. */
function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return ((parts[4] ?? 0) & 0xfdff) === 0 && parts[5] === 0x5efe;
}

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

function ranges(...cidrs: string[]): Range[] {
  return cidrs.map((cidr) => ipaddr.parseCIDR(cidr));
}

function within(address: ipaddr.IPv4 | ipaddr.IPv6, list: Range[]): boolean {
  return list.some((range) => address.match(range));
}
