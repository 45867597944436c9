import { createHash } from 'node:crypto';
import { pointAt } from './position.ts';
import type { Driver, Location, RideState, SimulatorStep, TestScenario } from './ride-types.ts';

/**
 * The script of test mode (contract, section 3, rule 5): after which step the simulated driver takes which next one, and
 * how many milliseconds later. `create` is the ride's creation. Pure.
 */
type Script = Partial<Record<SimulatorStep | 'create', [next: SimulatorStep, afterMs: number]>>;

const wholeTrip: Script = {
  create: ['offer', 2_000],
  offer: ['accept', 3_000],
  accept: ['arrive', 3_000],
  arrive: ['start', 3_000],
  start: ['complete', 3_000],
};

const scripts: Record<TestScenario, Script> = {
  default: wholeTrip,
  counter_offer: wholeTrip,
  no_offers: {},
  three_offers: { ...wholeTrip, offer: ['offer_2', 500], offer_2: ['offer_3', 500], offer_3: ['accept', 2_000] },
  no_auto_accept: { ...wholeTrip, offer: undefined },
  offer_withdrawn: { ...wholeTrip, offer: ['withdraw', 2_000] },
  driver_cancels: { ...wholeTrip, arrive: ['driver_cancel', 3_000] },
  stalls: { ...wholeTrip, accept: undefined },
};

/** How long a simulated drive takes, to the pickup and to the destination alike. */
export const simulatedLegMs = 3_000;

/** The step that follows a step that was done, and after how many ms at real speed; undefined where the script ends. */
export function nextStep(scenario: TestScenario, done: SimulatorStep | 'create') {
  const next = scripts[scenario][done];
  return next && { step: next[0], afterMs: next[1] };
}

/** By how much each driver's price differs from the fare; elsewhere the price is the fare. */
const priceFactors: Partial<Record<TestScenario, number[]>> = { counter_offer: [1.2], three_offers: [1.1, 1, 1.25] };
const etaMinutes = [4, 7, 2];
const offerSteps: readonly SimulatorStep[] = ['offer', 'offer_2', 'offer_3'];

/** What the simulated driver of an offer step offers: the same whenever it is asked. */
export function simulatedOffer(ride: Pick<RideState, 'fare' | 'scenario'>, step: SimulatorStep) {
  const number = offerSteps.indexOf(step);
  const factor = priceFactors[ride.scenario ?? 'default']?.[number] ?? 1;
  const driver = simulatedDrivers[number];
  if (!driver) throw new Error(`${step} is not an offer`);
  return { driver, price: priced(ride.fare, factor), etaMinutes: etaMinutes[number] ?? 4 };
}

/** To the cent, except for a fare of cents, which rounding would make equal or nothing. */
function priced(fare: number, factor: number): number {
  if (factor === 1) return fare;
  return Number(fare < 1 ? (fare * factor).toPrecision(6) : (fare * factor).toFixed(2));
}

/** The simulated driver comes from a place 1.2 km away, in a direction that depends on the ride alone. */
export function simulatedStart(ride: Pick<RideState, '_id' | 'pickup'>): Location {
  const direction = createHash('sha256').update(ride._id).digest().readUInt16BE() % 360;
  return pointAt(ride.pickup, 1.2, direction);
}

// The phone numbers are of the range that is kept for fiction.
const simulatedDrivers: Driver[] = [
  {
    driverId: 'sim_1',
    name: 'Alex Rivera',
    phone: '+12025550143',
    rating: 4.9,
    vehicle: 'Toyota Camry, silver',
    plate: 'TST 1043',
  },
  {
    driverId: 'sim_2',
    name: 'Sam Okafor',
    phone: '+12025550168',
    rating: 4.7,
    vehicle: 'Honda Accord, black',
    plate: 'TST 1068',
  },
  {
    driverId: 'sim_3',
    name: 'Kim Larsen',
    phone: '+12025550191',
    rating: 4.8,
    vehicle: 'Kia Niro, white',
    plate: 'TST 1091',
  },
];
