import { createHash } from 'node:crypto';
import type { Config } from '../base/config.ts';
import { maxPrice, type SimulatorStep } from '../base/terms.ts';
import type { Driver, Offer, RideState, TestScenario, Timer } from './ride-types.ts';

/**
 * The script of a test scenario (contract, section 3, rule 5): for each step of the simulated driver, the next step and
 * the delay in ms at speed 1. `create` is the ride's creation. Pure.
 */
type Script = Partial<Record<SimulatorStep | 'create', [next: SimulatorStep, afterMs: number]>>;

const minuteMs = 60_000;

const wholeTrip: Script = {
  create: ['offer', 2_000],
  offer: ['accept', 3_000],
  accept: ['arrive', 3_000],
  arrive: ['start', 3_000],
  start: ['complete', 3_000],
};

const threeOffers: Script = {
  ...wholeTrip,
  offer: ['offer_2', 500],
  offer_2: ['offer_3', 500],
  offer_3: ['accept', 2_000],
};

const scripts: Record<TestScenario, Script> = {
  default: wholeTrip,
  counter_offer: wholeTrip,
  no_offers: {},
  three_offers: threeOffers,
  three_offers_no_accept: { ...threeOffers, offer_3: undefined },
  no_auto_accept: { ...wholeTrip, offer: undefined },
  offer_withdrawn: { ...wholeTrip, offer: ['withdraw', 2_000] },
  driver_cancels: { ...wholeTrip, arrive: ['driver_cancel', 3_000] },
  // The ride stalls again after each manual step.
  stalls: { create: wholeTrip.create, offer: wholeTrip.offer },
  // Takes almost 7 minutes, so that people can watch it.
  slow: {
    create: ['offer', 5_000],
    offer: ['accept', 10_000],
    accept: ['arrive', 2 * minuteMs],
    arrive: ['start', 30_000],
    start: ['complete', 4 * minuteMs],
  },
  // These change the answer to the creation (creation.ts) or a delivery (deliver-event.ts), not the trip.
  rate_limited: wholeTrip,
  unavailable: wholeTrip,
  duplicate_event: wholeTrip,
};

/** The step after `done`, and its delay in ms at speed 1; undefined at the end of the script. */
export function nextStep(scenario: TestScenario, done: SimulatorStep | 'create') {
  const next = scripts[scenario][done];
  return next && { step: next[0], afterMs: next[1] };
}

/**
 * The duration in ms, at speed 1, of the drive to the pickup (after `accept`) or to the destination (after `start`): it
 * ends with the script's next step. 3 s if the script has none, because then a manual step follows.
 */
export const simulatedDriveMs = (scenario: TestScenario | undefined, done: 'accept' | 'start'): number =>
  nextStep(scenario ?? 'default', done)?.afterMs ?? 3_000;

/** The timer of the simulated driver's next step; empty for a live ride or at the end of the script. */
export function simulatedTimers(
  ride: Pick<RideState, 'mode' | 'scenario'>,
  done: SimulatorStep | 'create' | undefined,
  at: Date,
  { simulationSpeed }: Pick<Config, 'simulationSpeed'>,
): Timer[] {
  const next = ride.mode === 'test' && done ? nextStep(ride.scenario ?? 'default', done) : undefined;
  return next ? [{ name: next.step, dueAt: new Date(at.getTime() + next.afterMs / simulationSpeed) }] : [];
}

/** A number from 0 to 65535, always the same for a ride. */
export const numberFrom = (rideId: string): number => createHash('sha256').update(rideId).digest().readUInt16BE();

type OfferStep = Extract<SimulatorStep, `offer${string}`>;

type SimulatedOffer = Pick<Offer, 'driver' | 'price' | 'etaMinutes'>;

/** The offer of a step's simulated driver, one of twelve by the ride's id: a second run must make the same. */
export function simulatedOffer(
  ride: Pick<RideState, '_id' | 'fare' | 'scenario' | 'rebids'>,
  step: OfferStep,
): SimulatedOffer {
  const { driver, etaMinutes } = driverOfStep(ride, step);
  const driveMs = simulatedDriveMs(ride.scenario, 'accept');
  return {
    driver,
    price: priced(ride.fare, priceFactors[ride.scenario ?? 'default']?.[step] ?? 1),
    // A drive of seconds keeps the ETA of a real driver. A drive of minutes takes as long as its ETA says.
    etaMinutes: driveMs < minuteMs ? etaMinutes : driveMs / minuteMs,
  };
}

/** The offer of the first simulated driver without a live offer on the ride, those of the script first. */
export function nextSimulatedOffer(
  ride: Pick<RideState, '_id' | 'fare' | 'scenario' | 'offers' | 'rebids' | 'excludedDrivers'>,
): SimulatedOffer {
  // Stryker disable next-line ArrayDeclaration: no driver has another id
  const live = ride.offers.flatMap(({ driver, withdrawnAt }) => (withdrawnAt ? [] : driver.driverId));
  // Stryker disable next-line ArrayDeclaration: no driver has another id
  const bidding = new Set([...live, ...(ride.excludedDrivers ?? [])]);
  const step = offerSteps.find((each) => !bidding.has(driverOfStep(ride, each).driver.driverId));
  if (step) return simulatedOffer(ride, step);
  // Stryker disable next-line ArithmeticOperator: the drivers of the script are all bidding here
  let number = people.length + 1;
  while (bidding.has(anotherDriver(number).driver.driverId)) number += 1;
  return { price: ride.fare, ...anotherDriver(number) };
}

/** The script step of this ride that is an offer of this driver; undefined for a driver outside the script. */
export const offerStepOf = (ride: Pick<RideState, '_id' | 'rebids'>, { driverId }: Driver): OfferStep | undefined =>
  offerSteps.find((step) => driverOfStep(ride, step).driver.driverId === driverId);

/** The driver of a script step. A successor has other drivers, because the one who cancelled is not asked. */
function driverOfStep({ _id, rebids = 0 }: Pick<RideState, '_id' | 'rebids'>, step: OfferStep): SimulatedDriver {
  const place = offerSteps.indexOf(step);
  // Four apart, so that the three drivers of a ride are three people.
  const driver = people[(numberFrom(_id) + 4 * place) % people.length] as Driver;
  if (rebids === 0) return { etaMinutes: etas[step], driver };
  const digits = 70 + 3 * rebids + place;
  const name = otherNames[digits % otherNames.length] as string;
  const other = {
    driverId: `${driver.driverId}-${rebids}`,
    name,
    phone: `+120255501${digits}`,
    plate: `TST 20${digits}`,
  };
  return { etaMinutes: etas[step], driver: { ...driver, ...other } };
}

const threePrices = { offer: 1.1, offer_2: 1, offer_3: 1.25 } as const;

/** Price divided by fare, for each offer of a scenario. The default is 1. */
const priceFactors: Partial<Record<TestScenario, Partial<Record<OfferStep, number>>>> = {
  counter_offer: { offer: 1.2 },
  three_offers: threePrices,
  three_offers_no_accept: threePrices,
};

/**
 * A price, rounded to the cent and at most the highest price. For fares below 1 USD it keeps more digits: different
 * prices could round to the same price or to 0.
 */
function priced(fare: number, factor: number): number {
  if (factor === 1) return fare;
  // Stryker disable next-line EqualityOperator: a fare of exactly 1 times a factor has two decimals
  return Math.min(maxPrice, Number(fare < 1 ? (fare * factor).toPrecision(6) : (fare * factor).toFixed(2)));
}

type SimulatedDriver = Omit<SimulatedOffer, 'price'>;

const offerSteps = ['offer', 'offer_2', 'offer_3'] as const satisfies readonly OfferStep[];

const etas: Record<OfferStep, number> = { offer: 4, offer_2: 7, offer_3: 2 };

/** The drivers of the scripts. The phone numbers are from the range that is reserved for fiction. */
export const people: readonly Driver[] = (
  [
    ['Alex Rivera', 43, 4.9, 'Toyota Camry, silver'],
    ['Mina Petrov', 61, 4.8, 'Hyundai Ioniq, grey'],
    ['Tom Adeyemi', 62, 5, 'Ford Transit, white'],
    ['Lena Fischer', 63, 4.7, 'Skoda Octavia, green'],
    ['Sam Okafor', 68, 4.7, 'Honda Accord, black'],
    ['Yuki Tanaka', 64, 4.9, 'Toyota Sienna, blue'],
    ['Omar Khalil', 65, 4.6, 'Kia Carnival, silver'],
    ['Eva Novak', 66, 4.8, 'Tesla Model 3, red'],
    ['Kim Larsen', 91, 4.8, 'Kia Niro, white'],
    ['Diego Santos', 67, 4.9, 'Chevrolet Malibu, black'],
    ['Asha Rao', 69, 5, 'Toyota Corolla, grey'],
    ['Ben Carter', 60, 4.7, 'Volkswagen ID.4, blue'],
  ] as const
).map(([name, digits, rating, vehicle], index) => ({
  driverId: `sim_${index + 1}`,
  ...{ name, phone: `+120255501${digits}`, rating, vehicle, plate: `TST 10${digits}` },
}));

const otherNames = ['Noor Haddad', 'Chris Moreau', 'Ines Duarte', 'Jo Lindqvist', 'Ravi Menon', 'Mia Kowalski'];

/** A driver for a manual offer. A ride receives at most 50 offers, so two digits distinguish them. */
function anotherDriver(number: number): SimulatedDriver {
  const digits = String(number).padStart(2, '0');
  return {
    etaMinutes: 3 + (number % 10),
    driver: {
      driverId: `sim_${number}`,
      name: otherNames[number % otherNames.length] as string,
      phone: `+120255501${digits}`,
      rating: 4.6,
      vehicle: 'Nissan Leaf, blue',
      plate: `TST 20${digits}`,
    },
  };
}
