import type { TimerJob } from '../shared/queues.ts';
import type { Command } from '../shared/rides/decide.ts';
import { fireTimer } from '../shared/rides/fire-timer.ts';
import { liveOffersCheapestFirst } from '../shared/rides/offers.ts';
import type { Driver, RideState, SimulatorStep, TestScenario } from '../shared/rides/ride-types.ts';
import { type Handler, timerOutcome } from './handler.ts';

/**
 * Takes the next step of the simulated driver in a test ride (contract, section 3, rule 5). Which step follows which,
 * and when, is the script in shared/rides/simulation.ts.
 */
export const simulateStep: Handler<TimerJob> = async (ctx, { rideId, timer }) =>
  // The simulator queue holds only the simulated driver's steps.
  timerOutcome(await fireTimer(ctx, rideId, timer, (ride) => simulatedCommand(ride, timer as SimulatorStep)));

/** The command of a step, or null when there is no offer left to accept or withdraw. */
export function simulatedCommand(ride: RideState, step: SimulatorStep): Command | null {
  switch (step) {
    case 'offer':
    case 'offer_2':
    case 'offer_3':
      return { action: 'offer', ...simulatedOffer(ride, step) };
    case 'accept':
    case 'withdraw': {
      const [cheapest] = liveOffersCheapestFirst(ride.offers);
      const action = step === 'accept' ? 'accept' : 'withdrawOffer';
      return cheapest ? { action, offerId: cheapest.offerId } : null;
    }
    case 'driver_cancel':
      return { action: 'cancel', by: 'driver' };
    default:
      return { action: step };
  }
}

type OfferStep = Extract<SimulatorStep, `offer${string}`>;

/** What the simulated driver of a step offers. The same each time, because a job can run twice. */
export function simulatedOffer(ride: Pick<RideState, 'fare' | 'scenario'>, step: OfferStep) {
  const { driver, etaMinutes } = simulatedDrivers[step];
  return { driver, price: priced(ride.fare, priceFactors[ride.scenario ?? 'default']?.[step] ?? 1), etaMinutes };
}

/** Price divided by fare, for each offer of a scenario. The price equals the fare where none is given. */
const priceFactors: Partial<Record<TestScenario, Partial<Record<OfferStep, number>>>> = {
  counter_offer: { offer: 1.2 },
  three_offers: { offer: 1.1, offer_2: 1, offer_3: 1.25 },
};

/** Rounded to the cent. A fare of a few cents keeps more digits, or different prices would round to one, or to 0. */
function priced(fare: number, factor: number): number {
  if (factor === 1) return fare;
  return Number(fare < 1 ? (fare * factor).toPrecision(6) : (fare * factor).toFixed(2));
}

/** The phone numbers are from the range reserved for fiction. */
const simulatedDrivers: Record<OfferStep, { driver: Driver; etaMinutes: number }> = {
  offer: {
    etaMinutes: 4,
    driver: {
      driverId: 'sim_1',
      name: 'Alex Rivera',
      phone: '+12025550143',
      rating: 4.9,
      vehicle: 'Toyota Camry, silver',
      plate: 'TST 1043',
    },
  },
  offer_2: {
    etaMinutes: 7,
    driver: {
      driverId: 'sim_2',
      name: 'Sam Okafor',
      phone: '+12025550168',
      rating: 4.7,
      vehicle: 'Honda Accord, black',
      plate: 'TST 1068',
    },
  },
  offer_3: {
    etaMinutes: 2,
    driver: {
      driverId: 'sim_3',
      name: 'Kim Larsen',
      phone: '+12025550191',
      rating: 4.8,
      vehicle: 'Kia Niro, white',
      plate: 'TST 1091',
    },
  },
};
