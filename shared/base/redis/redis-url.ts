interface HostAndPort {
  host: string;
  port: number;
}

interface Credentials {
  username?: string;
  password?: string;
}

type RedisAddress =
  | { kind: 'server'; url: string }
  | { kind: 'cluster'; nodes: HostAndPort[]; tls: boolean; credentials: Credentials }
  | {
      kind: 'sentinel';
      sentinels: HostAndPort[];
      /** The name of the primary, as the sentinels know it. */
      name: string;
      db: number;
      tls: boolean;
      credentials: Credentials;
      sentinelPassword?: string;
    };

/** The rules that an invalid address breaks: of its scheme, or of a single server, a cluster or sentinels. */
type WrongRedisUrl = 'scheme' | 'server' | 'cluster' | 'sentinel';

/**
 * Reads `redis://` and `rediss://` addresses, and these two formats (with TLS they begin with `rediss-`):
 *
 * - `redis-cluster://USER:PASSWORD@HOST:PORT,HOST:PORT`
 * - `redis-sentinel://USER:PASSWORD@HOST:PORT,HOST:PORT/NAME/DATABASE?sentinelPassword=PASSWORD`
 *
 * Names and passwords are percent-encoded.
 */
export function readRedisUrl(url: string): RedisAddress | WrongRedisUrl {
  if (/^rediss?:\/\//.test(url)) return namesOneServer(url) ? { kind: 'server', url } : 'server';
  const [, secure, kind] = /^redis(s?)-(cluster|sentinel):\/\//.exec(url) ?? [];
  if (kind !== 'cluster' && kind !== 'sentinel') return 'scheme';
  try {
    const read = kind === 'cluster' ? readCluster : readSentinel;
    return { ...read(partsOf(url, kind === 'cluster' ? 6379 : 26379)), tls: secure === 's' };
  } catch {
    return kind;
  }
}

/** True if ioredis would read the address as that of one server. */
function namesOneServer(url: string): boolean {
  try {
    const { hostname, username, password } = new URL(url);
    for (const part of [username, password]) decodeURIComponent(part);
    return /^[^\s,]+$/.test(hostname);
  } catch {
    return false;
  }
}

type Parts = ReturnType<typeof partsOf>;

function partsOf(url: string, defaultPort: number) {
  const [, userinfo, hosts = '', path = '', query = ''] =
    /^[a-z-]+:\/\/(?:([^@/?]*)@)?([^@/?]+)(?:\/([^?]*))?(?:\?(.*))?$/.exec(url) ?? [];
  return {
    hosts: hosts.split(',').map((host) => hostAndPort(host, defaultPort)),
    credentials: userinfo === undefined ? {} : credentialsOf(userinfo),
    path: path.split('/').map(decodeURIComponent),
    parameters: query.split('&').filter(Boolean).map(parameterOf),
  };
}

function readCluster({ hosts, credentials, path, parameters }: Parts) {
  if (path.join('') !== '' || parameters.length > 0) throw new TypeError();
  return { kind: 'cluster', nodes: hosts, credentials } as const;
}

function readSentinel({ hosts, credentials, path, parameters }: Parts) {
  const [name = '', db = '0', ...more] = path;
  const { sentinelPassword, ...unknown } = Object.fromEntries(parameters) as { sentinelPassword?: string };
  if (name === '' || !/^\d{1,5}$/.test(db) || more.length > 0 || Object.keys(unknown).length > 0) throw new TypeError();
  return { kind: 'sentinel', sentinels: hosts, name, db: Number(db), credentials, sentinelPassword } as const;
}

function hostAndPort(text: string, defaultPort: number): HostAndPort {
  const [, ipv6, name, port = defaultPort] = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = ipv6 ?? name;
  if (!host || Number(port) < 1 || Number(port) > 65_535) throw new TypeError();
  return { host, port: Number(port) };
}

function parameterOf(text: string): [name: string, value: string] {
  const [name = '', ...value] = text.split('=');
  return [decodeURIComponent(name), decodeURIComponent(value.join('='))];
}

/** `USER:PASSWORD` or `:PASSWORD`. */
function credentialsOf(userinfo: string): Credentials {
  const [username = '', password = '', ...more] = userinfo.split(':').map(decodeURIComponent);
  if (password === '' || more.length > 0) throw new TypeError();
  return { ...(username && { username }), password };
}
