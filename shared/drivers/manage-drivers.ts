import Joi from 'joi';
import type mongoose from 'mongoose';
import { AppError } from '../base/errors.ts';
import { newDriverId, sha256 } from '../base/ids.ts';
import { mongoNow } from '../base/mongo/clock.ts';
import { characterFault } from '../base/shown-text.ts';
import { type CarType, carTypes, type Need, needs } from '../base/terms.ts';
import { keyHint, newDriverKey } from '../keys/key-format.ts';
import { DriverModel, type DriverRecord, driverSessions, drivers } from './driver.ts';

export interface NewDriver {
  name: string;
  phone: string;
  vehicle: string;
  plate: string;
  carType: CarType;
  seats: number;
  /** 0 to 5; a new driver has 5. */
  rating?: number;
  /** The needs that the car and its driver can serve; none by default. */
  equipment?: Need[];
}

const text = (longest: number) =>
  Joi.string()
    .trim()
    .max(longest)
    .required()
    .custom((typed: string, { message }) => {
      const fault = characterFault(typed);
      return fault ? message({ custom: `{{#label}} ${fault}` }) : typed;
    });

const newDriverSchema = Joi.object<Required<Omit<NewDriver, 'equipment'>> & NewDriver>({
  name: text(100),
  phone: text(30),
  vehicle: text(100),
  plate: text(20),
  carType: Joi.valid(...carTypes).required(),
  seats: Joi.number().integer().min(1).max(20).required(),
  rating: Joi.number().min(0).max(5).default(5),
  equipment: Joi.array()
    .items(Joi.valid(...needs))
    .unique(),
});

/** Creates a driver. Only this returns the secret key. Throws `invalid_request`, which names the invalid field. */
export async function createDriver(input: NewDriver): Promise<{ driverId: string; key: string }> {
  const { value, error } = newDriverSchema.validate(input, { errors: { wrap: { label: false } } });
  if (error) throw new AppError('invalid_request', { message: error.message });
  const driverId = newDriverId();
  const key = newDriverKey();
  await DriverModel.create({ _id: driverId, ...value, ...hashed(key), createdAt: await mongoNow() });
  return { driverId, key };
}

/** All drivers, oldest first, without the hashes of their keys. */
export async function listDrivers(): Promise<Omit<DriverRecord, 'hash'>[]> {
  return DriverModel.find({}, { hash: 0 }).sort({ createdAt: 1, _id: 1 }).lean();
}

/**
 * Suspends a driver: refuses the driver's key from its next request until `resumeDriver`, and ends the driver's
 * sessions permanently. The workers then withdraw the driver's offers and cancel the driver's moving ride. Like every
 * change below, throws `not_found` for a driver who is unknown or revoked.
 */
export async function suspendDriver(driverId: string): Promise<void> {
  const now = await mongoNow();
  await change(driverId, { $set: { suspendedAt: now, leavesSince: now } });
  await driverSessions.endAll(driverId);
}

/** Gives the driver a new secret key and returns it. The old key stops working at once. An active ride continues. */
export async function rotateDriverKey(driverId: string): Promise<{ driverId: string; key: string }> {
  const key = newDriverKey();
  await change(driverId, { $set: { ...hashed(key), rotatedAt: await mongoNow() } });
  await driverSessions.endAll(driverId);
  return { driverId, key };
}

/** Revokes a driver: like a suspension, but permanent. */
export async function revokeDriver(driverId: string): Promise<void> {
  const now = await mongoNow();
  await change(driverId, { $set: { revokedAt: now, leavesSince: now } });
  await driverSessions.endAll(driverId);
}

const hashed = (key: string) => ({ hash: sha256(key), hint: keyHint(key) });

async function change(driverId: string, update: mongoose.mongo.UpdateFilter<DriverRecord>): Promise<void> {
  const { matchedCount } = await drivers.updateOne({ _id: driverId, revokedAt: { $exists: false } }, update);
  if (matchedCount === 0) throw unknownDriver();
}

export const unknownDriver = () => new AppError('not_found', { message: 'No active driver has this id' });
