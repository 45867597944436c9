import { isWellFormedKey, newSigningSecret } from '../../shared/keys/key-format.ts';
import { parseCommandLine, UsageError } from '../../shared/process/command-line.ts';

export const usage = `Usage: RIDES_KEY=KEY npm run listen -- --forward URL
           [--key KEY] [--secret whsec_...]
           [--after CURSOR] [--url BASE]

Brings the events of a key to a receiver on this machine,
until Ctrl-C. It reads them from the service, so the
receiver need not be reachable from outside, and needs no
webhook URL. Each is sent once, in order and signed, as the
service sends it. After a lost connection it goes on where
it was.

  --forward URL       where they go
  --key KEY           the key whose events come
  --secret whsec_...  signs them; else one is made and shown
  --after CURSOR      begins after this place: a cursor of
                      an earlier run, or "first" for the
                      first event ever; else with now
  --url BASE          the service's address; else that of
                      the newest npm run dev. HTTPS, but
                      for an address of this machine

Everybody on this machine can read a command line. So give
the key and the secret as the variables RIDES_KEY and
RIDES_SECRET; the options replace them.

Examples
  export RIDES_KEY=svc_test_...
  npm run listen -- --forward http://localhost:3000/hook
  export RIDES_SECRET=whsec_...
  npm run listen -- --forward http://localhost:3000/hook \\
    --url https://rides.example`;

export interface ListenArguments {
  key: string;
  forward: URL;
  secret: string;
  /** The secret was made for this run. */
  isNewSecret: boolean;
  after: string;
  /** The service's address without its versioned base; undefined for the newest stack's. */
  url?: string;
}

const text = { type: 'string' } as const;
const options = { key: text, forward: text, secret: text, after: text, url: text } as const;

/**
 * Reads the command line, and the key and the secret from the environment where it has none. Throws UsageError, whose message never
 * repeats the key or the secret.
 */
export function readArguments(args: readonly string[], env: NodeJS.ProcessEnv): ListenArguments {
  const { values } = parseCommandLine({ args: [...args], options });
  const { forward, after = 'now', url } = values;
  const key = values.key ?? (env.RIDES_KEY || undefined);
  const secret = values.secret ?? (env.RIDES_SECRET || undefined);
  if (key === undefined) throw new UsageError('RIDES_KEY is not set, and --key is missing');
  if (!isWellFormedKey(key)) throw new UsageError('RIDES_KEY and --key take a whole key, such as svc_test_...');
  if (forward === undefined) throw new UsageError('--forward is missing');
  if (secret !== undefined && !/^whsec_[\x21-\x7e]+$/.test(secret))
    throw new UsageError('RIDES_SECRET and --secret begin with whsec_');
  if (!/^(now|first|cur_\w+)$/.test(after)) throw new UsageError('--after takes first, or a cursor such as cur_...');
  return {
    key,
    forward: addressIn('forward', forward, 'http://localhost:3000/hook'),
    secret: secret ?? newSigningSecret(),
    isNewSecret: secret === undefined,
    after,
    ...(url !== undefined && { url: withoutBase(privately(addressIn('url', url, 'http://127.0.0.1:4100'))) }),
  };
}

function addressIn(option: string, value: string, example: string): URL {
  const isHttp = URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
  if (!isHttp) throw new UsageError(`--${option} takes an address such as ${example}`);
  return new URL(value);
}

/** The address, to which the key is sent: over HTTPS, or without leaving this machine. */
function privately(url: URL): URL {
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol === 'https:' || isLoopback) return url;
  throw new UsageError(
    '--url takes plain http for an address of this machine only: the key would be sent in the clear',
  );
}

/** Both `https://rides.example` and `https://rides.example/v1` name the service. */
const withoutBase = ({ origin, pathname }: URL): string => (origin + pathname).replace(/(\/api)?(\/v1)?\/*$/, '');
