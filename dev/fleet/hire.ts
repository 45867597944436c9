import { AppError } from '../../shared/base/errors.ts';
import { type CarType, needs } from '../../shared/base/terms.ts';
import { createDriver, type NewDriver, revokeDriver } from '../../shared/drivers/manage-drivers.ts';
import { between, oneOf, type Random, randomOf } from './random.ts';

const firstNames = ['Ada', 'Ben', 'Chioma', 'Dana', 'Elif', 'Farid', 'Grace', 'Hiro', 'Ines', 'Jonas', 'Kofi'] as const;
const lastNames = [
  'Adler',
  'Brandt',
  'Castro',
  'Diallo',
  'Evans',
  'Fischer',
  'Gomez',
  'Haddad',
  'Ito',
  'Jansen',
] as const;
const cars: Record<CarType, readonly [string, ...string[]]> = {
  regular: ['Toyota Prius', 'Hyundai Ioniq', 'Skoda Octavia', 'Honda Civic'],
  comfort: ['Toyota Camry', 'BMW 5', 'Mercedes E', 'Volvo S90'],
  family: ['Kia Carnival', 'VW Multivan', 'Ford Galaxy', 'Honda Odyssey'],
};
const colours = ['black', 'white', 'silver', 'blue', 'red'] as const;
const batchSize = 50;

/** Creates drivers in the connected database. The same seed gives the same drivers, except for ids and keys. */
export async function hireDrivers(
  count: number,
  seed: number,
  carType?: CarType,
): Promise<{ driverId: string; key: string }[]> {
  const hired: { driverId: string; key: string }[] = [];
  for (let from = 0; from < count; from += batchSize) {
    const size = Math.min(batchSize, count - from);
    hired.push(
      ...(await Promise.all(
        Array.from({ length: size }, (_, index) => createDriver(personOf(seed, from + index, carType))),
      )),
    );
  }
  return hired;
}

/** Revokes drivers, because nobody can use them after the fleet has ended: their keys are lost. */
export async function dismissDrivers(driverIds: readonly string[]): Promise<void> {
  for (let from = 0; from < driverIds.length; from += batchSize) {
    await Promise.all(driverIds.slice(from, from + batchSize).map(dismiss));
  }
}

/** Revokes a driver. Ignores an AppError, because an operator may have revoked the driver already. */
async function dismiss(driverId: string): Promise<void> {
  await revokeDriver(driverId).catch((error) => {
    if (!(error instanceof AppError)) throw error;
  });
}

function personOf(seed: number, index: number, onlyCar?: CarType): NewDriver {
  const random = randomOf(seed, index, 'person');
  const carType = onlyCar ?? carTypeOf(random);
  return {
    name: `${oneOf(random, firstNames)} ${oneOf(random, lastNames)}`,
    // These numbers are reserved for fiction.
    phone: `+1202555${String(100 + (index % 100)).padStart(4, '0')}`,
    vehicle: `${oneOf(random, cars[carType])}, ${oneOf(random, colours)}`,
    plate: `F ${1_000 + index}`,
    carType,
    seats: carType === 'family' ? 6 : 4,
    equipment: needs.filter(() => random() < 0.5),
    rating: Math.round(between(random, 4.2, 5) * 10) / 10,
  };
}

function carTypeOf(random: Random): CarType {
  const share = random();
  if (share < 0.7) return 'regular';
  return share < 0.9 ? 'comfort' : 'family';
}
