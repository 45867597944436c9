import { newCommand } from '../../cli/parser.ts';
import { isWellFormedKey, newSigningSecret } from '../../shared/keys/key-format.ts';
import { UsageError } from '../../shared/process/command-line.ts';

export interface ListenArguments {
  key: string;
  forward: URL;
  secret: string;
  /** True if the secret was generated for this run. */
  isNewSecret: boolean;
  after: string;
  /** The service's address without its versioned base. Undefined means the default. */
  url?: string;
}

/** What differs between `npm run listen` and `/docs/listen.mjs`. */
interface Program {
  /** The words that start the program. */
  invocation: string;
  /** The default of `--url`, for the help. */
  defaultUrl: string;
}

/**
 * Reads the command line; without --key or --secret, reads RIDES_KEY and RIDES_SECRET. Throws UsageError with a message
 * that never contains the key or the secret.
 */
export function readArguments(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  { invocation, defaultUrl }: Program,
): ListenArguments {
  const about = `Forwards the events of a key to a receiver on this machine
until Ctrl-C. It polls the service for events, so the
receiver needs no public address and no webhook URL. Each
event is sent once, in order, with the headers of a real
delivery. After a lost connection it resumes where it
stopped. While the receiver is not running, its events wait.
HTTPS_PROXY is ignored.

Every user of this machine can read command lines. Pass the
key and the secret as the variables RIDES_KEY and
RIDES_SECRET instead; the options override them.`;
  const given = newCommand(`RIDES_KEY=KEY ${invocation}`, about, [
    `export RIDES_KEY=svc_test_...\n  ${invocation} --forward http://localhost:3000/hook`,
    `export RIDES_SECRET=whsec_...
  ${invocation} --forward http://localhost:3000/hook \\
    --url https://rides.example`,
  ])
    .usage('--forward <URL> [options]')
    .option('--forward <URL>', "the receiver's address", parseAddress('forward', 'http://localhost:3000/hook'))
    .option('--key <KEY>', 'the key')
    .option('--secret <SECRET>', 'whsec_..., signs the events; default: a new one, which is printed')
    .option(
      '--after <CURSOR>',
      'begins after this cursor of an earlier run, or with the oldest event if it is "first"; default: only new events',
    )
    .option(
      '--url <BASE>',
      `the service's address; default: ${defaultUrl}. Must be HTTPS, except for an address of this machine`,
      parseAddress('url', 'http://127.0.0.1:4100'),
    )
    .parse(argv, { from: 'user' })
    .opts<{ key?: string; forward?: URL; secret?: string; after?: string; url?: URL }>();
  const { forward, after = 'now', url } = given;
  const key = given.key ?? (env.RIDES_KEY || undefined);
  const secret = given.secret ?? (env.RIDES_SECRET || undefined);
  if (key === undefined) throw new UsageError('RIDES_KEY is not set, and --key is missing');
  if (!isWellFormedKey(key)) throw new UsageError('RIDES_KEY and --key must be a whole key, such as svc_test_...');
  if (forward === undefined) throw new UsageError('--forward is missing');
  if (secret !== undefined && !/^whsec_[\x21-\x7e]+$/.test(secret))
    throw new UsageError('RIDES_SECRET and --secret must begin with whsec_');
  if (!/^(now|first|cur_\w+)$/.test(after)) throw new UsageError('--after must be first or a cursor such as cur_...');
  return {
    ...{ key, forward, after, secret: secret ?? newSigningSecret(), isNewSecret: secret === undefined },
    ...(url !== undefined && { url: withoutBase(assertPrivate(url)) }),
  };
}

const parseAddress = (option: string, example: string) => (value: string) => {
  const isHttp = URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
  if (!isHttp) throw new UsageError(`--${option} must be an address such as ${example}`);
  return new URL(value);
};

/** Refuses an address to which the key would be sent unencrypted over the network. */
function assertPrivate(url: URL): URL {
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol === 'https:' || isLoopback) return url;
  throw new UsageError(
    '--url must be https, except for an address of this machine: plain http would send the key unencrypted',
  );
}

/** Both `https://rides.example` and `https://rides.example/v1` name the service. */
const withoutBase = ({ origin, pathname }: URL): string => (origin + pathname).replace(/(\/api)?(\/v1)?\/*$/, '');
