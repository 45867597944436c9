/** The compiled command is started by its file, the source by npm. */
const isCompiled = import.meta.filename.endsWith('.js');
const program = isCompiled ? 'node dist/cli/ops.js' : 'npm run -s ops --';

const usages = {
  queues: `Usage: ${program} queues [--json]

Shows what each queue holds in Redis, and what MongoDB says:
how late the oldest event and timer are, and whose events
wait, so that a slow partner stands in front.

Examples
  ${program} queues
  ${program} queues --json`,
  pause: `Usage: ${program} pause POOL [--by NAME] [--json]

Lets the workers of a pool take no more jobs. They finish
what they are doing. Jobs wait until resume. If Redis loses
its data, the pause ends.

Example
  ${program} pause webhooks`,
  resume: `Usage: ${program} resume POOL [--by NAME] [--json]
       ${program} resume account|key|driver ID
           [--by NAME] [--json]

Ends a pause of a pool, or a suspension.

Examples
  ${program} resume webhooks
  ${program} resume key key_1a2B3c4D5e6F7g`,
  sweep: `Usage: ${program} sweep [--by NAME] [--json]

Has the workers look at every ride, event and mail with
something left to do, and add the jobs that are missing.
They do so by themselves after Redis has lost its data.

Example
  ${program} sweep`,
  ride: `Usage: ${program} ride RIDEID [--cancel] [--by NAME]
           [--json]

Shows what happened to a ride, and how its events were
delivered. Shows nobody's name, phone or address.

  --cancel  cancels it; the partner is told, as for a ride
            that the partner cancels

Examples
  ${program} ride ride_1a2B3c4D5e6F7g
  ${program} ride ride_1a2B3c4D5e6F7g --cancel`,
  suspend: `Usage: ${program} suspend account|key|driver ID
           [--by NAME] [--json]

Refuses a key, all keys of an account, or a driver's key
from the next request on. Rides of partners go on and their
events are sent; a driver's ride and offers end. People of a
suspended account can look at their dashboard, no more.

Examples
  ${program} suspend key key_1a2B3c4D5e6F7g
  ${program} suspend account acct_1a2B3c4D5e6F7g`,
  resend: `Usage: ${program} resend --since TIME --until TIME
           [--key KEYID] [--send] [--by NAME] [--json]

Lists the events whose attempt failed or timed out in a
stretch of time and that have not arrived since, for example
during an outage of this service's network. With --send, it
sends them again: marked X-Service-Redelivery, in the order
of each ride, at most 10 a second for each key. A repeat
sends only what neither waits nor has arrived.

  --key   only the events of this key
  --send  sends what it would otherwise only list

Example
  ${program} resend \\
    --since 2026-11-05T09:30Z --until 2026-11-05T10:05Z`,
  erase: `Usage: ${program} erase RIDEID [--by NAME] [--json]

Erases at once what is personal in a ride that has ended and
has nothing left to send. Otherwise that happens 30 days
after its end (ERASE_AFTER_DAYS). It cannot be undone.

Example
  ${program} erase ride_1a2B3c4D5e6F7g`,
};

export type CommandName = keyof typeof usages;
export const commandNames = Object.keys(usages) as CommandName[];

const overview = `Usage: ${program} COMMAND

  queues   shows what waits, and how late it is
  pause    lets a pool take no more jobs
  resume   ends a pause or a suspension
  sweep    looks for all missing jobs now
  ride     shows what happened to a ride, or cancels it
  suspend  refuses an account, a key or a driver
  resend   lists or resends the events that failed in a
           stretch of time
  erase    erases what is personal in a ride

Each takes --help, and --json for one line of JSON. What
changes something is noted with --by NAME, or else the name
of the system's user.${isCompiled ? '' : '\n--port N asks the npm run dev of that port, not the newest.'}

Examples
  ${program} queues
  ${program} suspend --help`;

/** How one command is used, or all of them in short. */
export const usageOf = (command?: CommandName): string => (command ? usages[command] : overview);

/** The form of a command's line, and where there is more; without a command all of them. */
export function usageInShort(command?: CommandName): string {
  const [form = ''] = usageOf(command).split('\n\n');
  return command ? `${form}\nMore: ${program} ${command} --help` : overview;
}
