import { aligned, cut, labelled, printable } from '../columns.ts';
import type { ListedDriver } from './commands.ts';
import { type CommandName, howToCreate } from './usage.ts';

const labels = {
  driverId: 'Driver id',
  key: 'Secret key',
  suspended: 'Suspended',
  revoked: 'Revoked',
};

const nextSteps: Record<Exclude<CommandName, 'list'>, string> = {
  create: 'Keep the secret key: it is not shown again.',
  rotate: 'Keep the secret key: it is not shown again. The old one is dead.',
  suspend: 'The key is dead on its next request. Offers and ride end within seconds.',
  resume: 'The key is accepted again. The driver is offline.',
  revoke: 'The key is dead on its next request. Offers and ride end within seconds.',
};

/** Prints an answer: one line of JSON, or for people labelled lines, the last of which says what to do next. */
export function printAnswer(command: CommandName, answer: object | object[], asJson: boolean): void {
  if (asJson) console.log(JSON.stringify(answer));
  else if (command === 'list') console.log(tableOf(answer as ListedDriver[], process.stdout.columns).join('\n'));
  else console.log([...labelled(answer, labels), nextSteps[command]].join('\n'));
}

/** Two lines for each driver, so that the id is whole. Only long texts are cut. Exported for its test. */
export function tableOf(drivers: readonly ListedDriver[], columns = 80): string[] {
  if (drivers.length === 0) return [`No drivers. Make one: ${howToCreate}`];
  const rows = drivers.map(({ driverId, carType, seats, key, ...driver }) => [
    driverId,
    carType,
    String(seats),
    key.slice(-4),
    driver.revokedAt ? 'revoked' : driver.suspendedAt ? 'suspended' : 'active',
    printable(driver.name),
  ]);
  const [head = '', ...lines] = aligned([['DRIVER ID', 'CAR', 'SEATS', 'KEY ENDS IN', 'STATE', 'NAME'], ...rows]);
  const width = Math.min(100, Math.max(60, columns));
  return [
    head,
    ...drivers.flatMap(({ vehicle, plate }, index) => [
      cut(lines[index] ?? '', width),
      cut(`  ${printable(vehicle)}, ${printable(plate)}`, width),
    ]),
  ];
}
