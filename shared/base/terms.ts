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
 * `open` opens the bidding of a ride for later. `expire` ends the bidding time. `stall` cancels a trip without progress. `auto_accept` accepts an offer within the
 * ride's autoAccept limits. In a live ride, `dispatch` starts the next dispatch round, which sends the ride to more
 * drivers, `ask` does this between two rounds when the ride wants offers again, and `driver` runs settleDriver after a driver is assigned or freed. `rebid` inserts the successor of
 * a ride whose driver cancelled. `route` asks the routing server for the road of a leg that has begun. `message` stores
 * the text messages that a change of the ride owes, `withdrawn` the events of withdrawn offers.
 */
export type TimerName =
  | 'open'
  | 'expire'
  | 'auto_accept'
  | 'stall'
  | 'dispatch'
  | 'ask'
  | 'driver'
  | 'rebid'
  | 'message'
  | 'route'
  | 'withdrawn'
  | SimulatorStep;

/** The highest fare and price, in US dollars (contract, section 8). */
export const maxPrice = 1_000_000;

/** A completed ride can be rated from this long after its end (contract, section 10.21). */
export const ratableAfterMs = 60_000;
/** The comment of a rating has at most this number of characters. */
export const longestComment = 300;

/** The mode of a key and of the rides it creates (contract, section 5.2). A test ride has a simulated driver. */
export type Mode = 'live' | 'test';

/** The types of cars (contract, section 2.1). All cars take `regular` rides; the others need a car of their type. */
export const carTypes = ['regular', 'comfort', 'family'] as const;
export type CarType = (typeof carTypes)[number];

/** The needs of a ride (contract, section 10.12). A driver is asked only if the car and its driver can serve all of them. */
export const needs = ['wheelchair', 'child_seat', 'pet', 'large_luggage', 'assistance'] as const;
export type Need = (typeof needs)[number];

/** The texts of the needs for people, in a list: "child seat, pet". */
export const needWords: Record<Need, string> = {
  wheelchair: 'wheelchair',
  child_seat: 'child seat',
  pet: 'pet',
  large_luggage: 'large luggage',
  assistance: 'assistance',
};

/** The events of a ride, which are numbered. The default URL gets these. */
export const contractEvents = ['offer.received', 'ride.status'] as const;
export type EventName = (typeof contractEvents)[number];
/** `offer.withdrawn` has no number, and is sent only to endpoints that ask for it (contract, section 10.22). */
export const sentEvents = [...contractEvents, 'offer.withdrawn'] as const;
export type SentEvent = (typeof sentEvents)[number];
