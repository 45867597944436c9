import { type Need, needs } from '../../shared/base/terms.ts';
import {
  createDriver,
  type NewDriver,
  revokeDriver,
  rotateDriverKey,
  suspendDriver,
} from '../../shared/drivers/manage-drivers.ts';
import { UsageError } from '../../shared/process/command-line.ts';
import { resumeDriver } from '../../shared/rides/driver/settle-driver.ts';
import { labelledBy } from '../columns.ts';
import { recordAudit } from '../operator.ts';
import { commandOf, type Program } from '../program.ts';
import { connectTo, type MongoContext } from '../run-program.ts';
import { listedDrivers, tableOf } from './drivers-table.ts';

const command = commandOf<MongoContext>();
const driverIdOf = (_values: object, driverId = '') => ({ driverId });
const shownWith = labelledBy({
  driverId: 'Driver id',
  key: 'Secret key',
  suspended: 'Suspended',
  revoked: 'Revoked',
});

/** `npm run drivers`: manages drivers and their keys. */
export const drivers: Program<MongoContext> = {
  name: 'drivers',
  examples: ['PROGRAM list', 'PROGRAM create --help'],
  connect: connectTo({ needsSecretsKey: false }),
  commands: {
    create: command({
      summary: 'creates a driver and prints the key once',
      needed: {
        '--name <NAME>': 'shown to partners, up to 100 characters',
        '--phone <PHONE>': 'shown once the driver is chosen',
        '--vehicle <VEHICLE>': 'such as "Toyota Prius, blue"',
        '--plate <PLATE>': "the car's licence plate",
        '--car-type <TYPE>': 'which ride requests the driver receives: regular, comfort or family',
        '--seats <N>': 'number of passenger seats, 1 to 20',
      },
      options: {
        '--rating <RATING>': '0 to 5; counts as 10 ratings of passengers; default: 5',
        '--equipment <LIST>': `needs that the driver can serve: ${needs.join(', ')}, separated by commas`,
      },
      about: `Creates a driver and prints the driver's secret key. It is
not shown again.`,
      recorded: 'by name',
      examples: [
        `PROGRAM create --name "Dana Okoye" \\
    --phone +12025550100 --vehicle "Toyota Prius, blue" \\
    --plate "T 104" --car-type regular --seats 4 --json`,
      ],
      read: ({ name, phone, vehicle, plate, carType, seats, rating, equipment }): NewDriver => ({
        ...{ name, phone, vehicle, plate },
        carType: carType as NewDriver['carType'],
        seats: numberOption('seats', seats),
        rating: rating === undefined ? undefined : numberOption('rating', rating),
        ...(equipment !== undefined && { equipment: listOption(equipment) as Need[] }),
      }),
      async run({ nowMs }, driver, by) {
        const made = await createDriver(driver);
        await recordAudit(nowMs, by, { action: 'driver_created', about: made.driverId });
        return made;
      },
      print: shownWith('Keep the secret key: it is not shown again.'),
    }),
    list: command({
      summary: 'lists all drivers, without their keys',
      about: `Lists all drivers, oldest first, with the last characters of
each secret key.`,
      examples: ['PROGRAM list', 'PROGRAM list --json'],
      read: () => null,
      run: () => listedDrivers(),
      print: (listed) => tableOf(listed, process.stdout.columns),
    }),
    suspend: command({
      summary: "refuses a driver's key and ends their ride",
      operands: '<DRIVERID>',
      about: `Refuses the driver's key from its next request on. Within
seconds the driver's offers are withdrawn and the ride that
the driver is on is cancelled.`,
      recorded: 'by name',
      examples: ['PROGRAM suspend driver_1a2B3c4D5e6F7g'],
      read: driverIdOf,
      async run({ nowMs }, { driverId }, by) {
        await suspendDriver(driverId);
        await recordAudit(nowMs, by, { action: 'driver_suspended', about: driverId });
        return { driverId, suspended: true };
      },
      print: shownWith('The key stops working on the next request. Offers and ride end within seconds.'),
    }),
    resume: command({
      summary: 'accepts a suspended key again',
      operands: '<DRIVERID>',
      about: 'Accepts the key of a suspended driver again.',
      recorded: 'by name',
      examples: ['PROGRAM resume driver_1a2B3c4D5e6F7g'],
      read: driverIdOf,
      async run({ nowMs }, { driverId }, by) {
        await resumeDriver(driverId);
        await recordAudit(nowMs, by, { action: 'driver_resumed', about: driverId });
        return { driverId, suspended: false };
      },
      print: shownWith('The key is accepted again. The driver is offline.'),
    }),
    rotate: command({
      summary: 'replaces the secret key of a driver',
      operands: '<DRIVERID>',
      about: `Gives a driver a new secret key and prints it once. The old
key stops working at once. An active ride continues.`,
      recorded: 'by name',
      examples: ['PROGRAM rotate driver_1a2B3c4D5e6F7g --json'],
      read: driverIdOf,
      async run({ nowMs }, { driverId }, by) {
        const rotated = await rotateDriverKey(driverId);
        await recordAudit(nowMs, by, { action: 'driver_key_rotated', about: driverId });
        return rotated;
      },
      print: shownWith('Keep the secret key: it is not shown again. The old key no longer works.'),
    }),
    revoke: command({
      summary: "revokes a driver's key permanently",
      operands: '<DRIVERID>',
      about: 'Like suspend, but permanent: resume is not possible.',
      recorded: 'by name',
      examples: ['PROGRAM revoke driver_1a2B3c4D5e6F7g'],
      read: driverIdOf,
      async run({ nowMs }, { driverId }, by) {
        await revokeDriver(driverId);
        await recordAudit(nowMs, by, { action: 'driver_revoked', about: driverId });
        return { driverId, revoked: true };
      },
      print: shownWith('The key stops working on the next request. Offers and ride end within seconds.'),
    }),
  },
};

const listOption = (value: string): string[] => value.split(',').map((word) => word.trim());

function numberOption(option: string, value: string): number {
  if (value.trim() === '' || !Number.isFinite(Number(value))) throw new UsageError(`--${option} must be a number`);
  return Number(value);
}
