import {
  createDriver,
  listDrivers,
  revokeDriver,
  rotateDriverKey,
  suspendDriver,
} from '../../shared/drivers/manage-drivers.ts';
import { resumeDriver } from '../../shared/rides/driver/settle-driver.ts';
import type { DriversArguments } from './arguments.ts';
import type { CommandName } from './usage.ts';

/** What each command does in the connected database, and its answer. */
export const commands: Record<CommandName, (args: DriversArguments) => Promise<object | object[]>> = {
  create: ({ driver }) => createDriver(driver),
  list: () => listedDrivers(),
  async suspend({ driverId }) {
    await suspendDriver(driverId);
    return { driverId, suspended: true };
  },
  async resume({ driverId }) {
    await resumeDriver(driverId);
    return { driverId, suspended: false };
  },
  rotate: ({ driverId }) => rotateDriverKey(driverId),
  async revoke({ driverId }) {
    await revokeDriver(driverId);
    return { driverId, revoked: true };
  },
};

export interface ListedDriver {
  driverId: string;
  name: string;
  phone: string;
  rating: number;
  vehicle: string;
  plate: string;
  carType: string;
  seats: number;
  key: string;
  createdAt: string;
  suspendedAt: string | null;
  revokedAt: string | null;
}

async function listedDrivers(): Promise<ListedDriver[]> {
  const found = await listDrivers();
  return found.map(
    ({ _id, hint, createdAt, suspendedAt, revokedAt, rotatedAt: _, leavesSince: __, left: ___, ...driver }) => ({
      driverId: _id,
      ...driver,
      key: hint,
      createdAt: createdAt.toISOString(),
      suspendedAt: suspendedAt?.toISOString() ?? null,
      revokedAt: revokedAt?.toISOString() ?? null,
    }),
  );
}
