/** The compiled command is started by its file, the source by npm. */
const isCompiled = import.meta.filename.endsWith('.js');
const program = isCompiled ? 'node dist/cli/keys.js' : 'npm run -s keys --';

const usages = {
  create: `Usage: ${program} create --name NAME
           --mode test|live [--webhook-url URL]
           [--account EMAIL] [--json]

Creates a key and prints its secret key and signing secret.
Neither is shown again.

  --name NAME        what it is called, up to 100 characters
  --mode test|live   test rides get simulated drivers
  --webhook-url URL  where the events of its rides go
  --account EMAIL    whose key it is; else the operator's
  --json             prints one line of JSON

Examples
  ${program} create --name Desk --mode test
  ${program} create --name Desk --mode live --json \\
    --webhook-url https://partner.example/events`,
  list: `Usage: ${program} list [--account EMAIL] [--json]

Lists all keys, or those of one account, oldest first, with
the last characters of each secret key and no more of it.

Examples
  ${program} list
  ${program} list --account ops@partner.example
  ${program} list --json`,
  rotate: `Usage: ${program} rotate KEYID [--json]

Gives a key a new secret and prints it, once. The old one is
dead at once; rides, webhook URL and signing secret stay.

Example
  ${program} rotate key_1a2B3c4D5e6F7g`,
  revoke: `Usage: ${program} revoke KEYID [--json]

Ends a key for good, on its next request. Its rides go on,
and their events are sent.

Example
  ${program} revoke key_1a2B3c4D5e6F7g`,
  'set-webhook': `Usage: ${program} set-webhook KEYID URL [--json]
       ${program} set-webhook KEYID --none [--json]

Sets where a key's events go, unless a ride has a webhookUrl
of its own. With --none only such rides send events.

Examples
  ${program} set-webhook key_1a2B3c4D5e6F7g \\
    https://partner.example/events
  ${program} set-webhook key_1a2B3c4D5e6F7g --none`,
  'roll-secret': `Usage: ${program} roll-secret KEYID [--json]

Gives a key a new signing secret and prints it, once. The
very next delivery is signed with it.

Example
  ${program} roll-secret key_1a2B3c4D5e6F7g`,
  rekey: `Usage: ${program} rekey [--json]

Encrypts with the first key of SECRETS_KEY what an older one
holds, while the service runs. Run it until none remain.

Example
  SECRETS_KEY=new,old ${program} rekey`,
};

export type CommandName = keyof typeof usages;
export const commandNames = Object.keys(usages) as CommandName[];

const overview = `Usage: ${program} COMMAND

  create       makes a key and prints its two secrets, once
  list         lists all keys, without their secrets
  rotate       gives a key a new secret; the old one is dead
  revoke       ends a key for good
  set-webhook  sets where a key's events go by default
  roll-secret  gives a key a new signing secret
  rekey        encrypts anew what an older SECRETS_KEY holds

Each takes --help, and --json for one line of JSON.${isCompiled ? '' : '\n--port N asks the npm run dev of that port, not the newest.'}

Examples
  ${program} create --name Desk --mode test
  ${program} set-webhook --help`;

/** How one command is used, or all of them in short. */
export const usageOf = (command?: CommandName): string => (command ? usages[command] : overview);

/** The form of a command's line, and where there is more; without a command all of them. */
export function usageInShort(command?: CommandName): string {
  const [form = ''] = usageOf(command).split('\n\n');
  return command ? `${form}\nMore: ${program} ${command} --help` : overview;
}

/** What is typed to make the first key. */
export const howToCreate = `${program} create --name NAME --mode test`;
