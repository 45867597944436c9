import { ratingOf } from '../../shared/drivers/driver.ts';
import { listDrivers } from '../../shared/drivers/manage-drivers.ts';
import { aligned, printable, truncate } from '../columns.ts';
import { invocation } from '../program.ts';

type ListedDriver = Awaited<ReturnType<typeof listedDrivers>>[number];

export async function listedDrivers() {
  const found = await listDrivers();
  return found.map(
    ({
      _id,
      hint,
      createdAt,
      suspendedAt,
      revokedAt,
      rotatedAt: _,
      leavesSince: __,
      left: ___,
      ratings,
      ...driver
    }) => ({
      driverId: _id,
      ...driver,
      /** The rating that partners see, the number of the operator, and the number of rides whose ratings it contains. */
      rating: ratingOf({ ...driver, ratings }),
      operatorRating: driver.rating,
      ratedRides: ratings?.count ?? 0,
      key: hint,
      createdAt: createdAt.toISOString(),
      suspendedAt: suspendedAt?.toISOString() ?? null,
      revokedAt: revokedAt?.toISOString() ?? null,
    }),
  );
}

/** Lists each driver on two lines, so that the id is never truncated. Other long texts are truncated. */
export function tableOf(drivers: readonly ListedDriver[], columns = 80): string[] {
  if (drivers.length === 0) return [`No drivers. Make one: ${invocation('drivers')} create --help`];
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
    ...drivers.flatMap(({ vehicle, plate, equipment = [], rating, operatorRating, ratedRides }, index) => [
      truncate(lines[index] ?? '', width),
      truncate(
        `  rated ${rating} (${ratedRides} rides, set to ${operatorRating}), ${[vehicle, plate, ...equipment].map(printable).join(', ')}`,
        width,
      ),
    ]),
  ];
}
