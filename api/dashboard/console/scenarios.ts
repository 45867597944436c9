import type { TestScenario } from '../../../shared/rides/ride-types.ts';

/** What each scenario of the simulated driver does (contract, section 3). */
export const scenarioWords: Record<TestScenario, string> = {
  default: 'One offer at the fare, accepted and driven to the end in about 15 s.',
  no_auto_accept: 'One offer that waits for you to accept it.',
  three_offers: 'Three offers with different prices and ETAs; the cheapest is taken.',
  counter_offer: 'One offer above the fare.',
  offer_withdrawn: 'The offer is withdrawn after 2 s; the ride goes on bidding.',
  driver_cancels: 'The driver cancels at the pickup.',
  stalls: 'The trip stops at driver_arriving, until you step it by hand.',
  no_offers: 'Nobody offers, until the bidding time is over.',
};
