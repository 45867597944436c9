/** The compiled command is started by its file, the source by npm. */
const isCompiled = import.meta.filename.endsWith('.js');
const program = isCompiled ? 'node dist/cli/drivers.js' : 'npm run -s drivers --';

const usages = {
  create: `Usage: ${program} create --name NAME
           --phone PHONE --vehicle VEHICLE --plate PLATE
           --car-type regular|comfort|family --seats N
           [--rating 0..5] [--json]

Creates a driver and prints the driver's secret key. It is
not shown again.

  --name NAME        shown to partners, up to 100 characters
  --phone PHONE      shown once the driver is chosen
  --vehicle VEHICLE  such as "Toyota Prius, blue"
  --plate PLATE      the car's licence plate
  --car-type TYPE    which rides the driver is asked for
  --seats N          for how many passengers, 1 to 20
  --rating RATING    0 to 5; else 5
  --json             prints { driverId, key } in one line

Example
  ${program} create --name "Dana Okoye" \\
    --phone +12025550100 --vehicle "Toyota Prius, blue" \\
    --plate "T 104" --car-type regular --seats 4 --json`,
  list: `Usage: ${program} list [--json]

Lists all drivers, oldest first, with the last characters of
each secret key and no more of it.

Examples
  ${program} list
  ${program} list --json`,
  suspend: `Usage: ${program} suspend DRIVERID [--json]

Refuses the driver's key from its next request on. Within
seconds the driver's offers are withdrawn and the ride that
the driver is on is cancelled.

Example
  ${program} suspend driver_1a2B3c4D5e6F7g`,
  resume: `Usage: ${program} resume DRIVERID [--json]

Accepts the key of a suspended driver again.

Example
  ${program} resume driver_1a2B3c4D5e6F7g`,
  rotate: `Usage: ${program} rotate DRIVERID [--json]

Gives a driver a new secret key and prints it, once. The old
one is dead at once; the ride that the driver is on goes on.

Example
  ${program} rotate driver_1a2B3c4D5e6F7g --json`,
  revoke: `Usage: ${program} revoke DRIVERID [--json]

Ends a driver for good, as a suspension does for a time.

Example
  ${program} revoke driver_1a2B3c4D5e6F7g`,
};

export type CommandName = keyof typeof usages;
export const commandNames = Object.keys(usages) as CommandName[];

const overview = `Usage: ${program} COMMAND

  create   makes a driver and prints the key, once
  list     lists all drivers, without their keys
  suspend  refuses a driver's key, and ends their ride
  resume   accepts it again
  rotate   gives a driver a new key; the old one is dead
  revoke   ends a driver for good

Each takes --help, and --json for one line of JSON.${isCompiled ? '' : '\n--port N asks the npm run dev of that port, not the newest.'}

Examples
  ${program} list
  ${program} create --help`;

/** How one command is used, or all of them in short. */
export const usageOf = (command?: CommandName): string => (command ? usages[command] : overview);

/** The form of a command's line, and where there is more; without a command all of them. */
export function usageInShort(command?: CommandName): string {
  const [form = ''] = usageOf(command).split('\n\n');
  return command ? `${form}\nMore: ${program} ${command} --help` : overview;
}

/** What is typed to make the first driver. */
export const howToCreate = `${program} create --help`;
