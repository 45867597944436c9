import { parseCommandLine, UsageError } from '../../shared/cli/command-line.ts';
import { isWellFormedKey, newSigningSecret } from '../../shared/keys/key-format.ts';

export const usage = `Usage: npm run listen -- --key KEY --forward URL
           [--secret whsec_...] [--after CURSOR]
           [--url BASE]

Brings the events of a key to a receiver on this machine,
until Ctrl-C. It reads them from the service, so the
receiver need not be reachable from outside, and needs no
webhook URL. Each is sent once, in order and signed, as the
service sends it. After a lost connection it goes on where
it was.

  --key KEY           the key whose events come
  --forward URL       where they go
  --secret whsec_...  signs them; else one is made and shown
  --after CURSOR      begins after this place: a cursor of
                      an earlier run, or "first" for the
                      first event ever; else with now
  --url BASE          the service's address; else that of
                      the newest npm run dev

Examples
  npm run listen -- --key svc_test_... \\
    --forward http://localhost:3000/hook
  npm run listen -- --key svc_test_... \\
    --forward http://localhost:3000/hook \\
    --secret whsec_... --url https://rides.example`;

export interface ListenArguments {
  key: string;
  forward: URL;
  secret: string;
  /** Whether the secret was made for this run. */
  isNewSecret: boolean;
  after: string;
  /** The service's address without its versioned base; undefined for the newest stack's. */
  url?: string;
}

const text = { type: 'string' } as const;
const options = { key: text, forward: text, secret: text, after: text, url: text } as const;

/** Reads the command line, or throws UsageError. A message never repeats the key or the secret. */
export function readArguments(args: readonly string[]): ListenArguments {
  const { values } = parseCommandLine({ args: [...args], options });
  const { key, forward, secret, after = 'now', url } = values;
  if (key === undefined) throw new UsageError('--key is missing');
  if (!isWellFormedKey(key)) throw new UsageError('--key takes a whole key, such as svc_test_...');
  if (forward === undefined) throw new UsageError('--forward is missing');
  if (secret !== undefined && !/^whsec_[\x21-\x7e]+$/.test(secret)) throw new UsageError('--secret begins with whsec_');
  if (!/^(now|first|cur_\w+)$/.test(after)) throw new UsageError('--after takes first, or a cursor such as cur_...');
  return {
    key,
    forward: addressIn('forward', forward, 'http://localhost:3000/hook'),
    secret: secret ?? newSigningSecret(),
    isNewSecret: secret === undefined,
    after,
    ...(url !== undefined && { url: withoutBase(addressIn('url', url, 'http://127.0.0.1:4100')) }),
  };
}

function addressIn(option: string, value: string, example: string): URL {
  const isHttp = URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
  if (!isHttp) throw new UsageError(`--${option} takes an address such as ${example}`);
  return new URL(value);
}

/** Both `https://rides.example` and `https://rides.example/v1` name the service. */
const withoutBase = ({ origin, pathname }: URL): string => (origin + pathname).replace(/(\/api)?(\/v1)?\/*$/, '');
