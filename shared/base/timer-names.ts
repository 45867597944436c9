/** The steps of the simulated driver. `offer_2` and `offer_3` are the offers of a second and third driver. */
export type SimulatorStep =
  | 'offer'
  | 'offer_2'
  | 'offer_3'
  | 'withdraw'
  | 'accept'
  | 'arrive'
  | 'start'
  | 'complete'
  | 'driver_cancel';

/**
 * `expire` ends the bidding time, `stall` ends a trip without progress. In a live ride `dispatch` is the next round, in which
 * the ride is opened to more drivers, and `driver` follows a change of whose ride it is: see settle-driver.ts. `auto_accept`
 * accepts an offer that fits what the partner said at creation.
 */
export type TimerName = 'expire' | 'auto_accept' | 'stall' | 'dispatch' | 'driver' | SimulatorStep;
