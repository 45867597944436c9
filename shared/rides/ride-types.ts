import type { CarType, EventName, Mode, TimerName } from '../base/terms.ts';
import type { MessageKind } from '../messages/message-kinds.ts';
import type { ChangeableName, FieldIn, GivenFields } from './fields.ts';

/** The terms of the contract, sections 2 and 3. Browsers use this file too, so it imports nothing of the server. */
export const rideStatuses = ['bidding', 'driver_arriving', 'arrived', 'in_progress', 'completed', 'cancelled'] as const;
export type RideStatus = (typeof rideStatuses)[number];
/** The statuses in which a driver is assigned and the trip has not ended. */
export const movingStatuses = ['driver_arriving', 'arrived', 'in_progress'] as const satisfies RideStatus[];
/** The statuses of a ride that has not ended. */
export const underWay = ['bidding', ...movingStatuses] as const satisfies RideStatus[];
export type MovingStatus = (typeof movingStatuses)[number];

export const rideTypes = ['standard', 'intercity'] as const;
export const testScenarios = [
  'default',
  'no_offers',
  'three_offers',
  'counter_offer',
  'no_auto_accept',
  'three_offers_no_accept',
  'offer_withdrawn',
  'driver_cancels',
  'stalls',
  'slow',
  'rate_limited',
  'unavailable',
  'duplicate_event',
] as const;
export type TestScenario = (typeof testScenarios)[number];

/** The party that changed a ride. `dashboard` is a user of the account, `operator` the command line. */
export type Actor = 'partner' | 'driver' | 'simulator' | 'timeout' | 'dashboard' | 'operator' | 'auto_accept';

/** The party that requested a ride or a change of it, and the request (the X-Request-Id of its response). */
export interface Origin {
  by: Actor;
  requestId?: string;
  /** The id of the dashboard form that requested it (accounts/sent-form.ts). */
  form?: string;
  /** The member who sent that form, for the audit list: the address, and the client's address. Erased with the ride. */
  sender?: { member: string; from: string };
}

export const cancellers = ['partner', 'driver', 'timeout'] as const;
export type CancelledBy = (typeof cancellers)[number];
export const cancelReasons = ['no_offers', 'no_show', 'no_progress', 'driver', 'partner'] as const;
export type CancelReason = (typeof cancelReasons)[number];

export interface Location {
  lat: number;
  lng: number;
  address?: string;
}

export interface Driver {
  driverId: string;
  name: string;
  phone: string;
  rating: number;
  vehicle: string;
  plate: string;
}

export interface Offer {
  offerId: string;
  price: number;
  etaMinutes: number;
  driver: Driver;
  at: Date;
  withdrawnAt?: Date;
}

/** A partner's request (contract, section 4.1), with the defaults filled in. Its optional fields are in fields.ts. */
export interface RideRequest extends GivenFields {
  pickup: Location;
  destination: Location;
  fare: number;
  carType: CarType;
  rideType: (typeof rideTypes)[number];
  passengerCount: number;
  distanceKm: number;
}

/** What a partner can change in a ride: the fields until the ride ends, the trip only while it is bidding. */
export type ChangedTerms = Partial<Pick<RideRequest, ChangeableName | 'destination' | 'passengerCount'>>;

export type AutoAccept = NonNullable<GivenFields['autoAccept']>;

export interface Timer {
  name: TimerName;
  dueAt: Date;
}

/** One simulated drive. The car's position follows from the leg, the ride's route (or a great circle) and the time. */
export interface Leg {
  from: Location;
  to: Location;
  heading: number;
  startAt: Date;
  endAt: Date;
}

/** The last answer of the routing server for the ride's present leg (workers/routing.ts). */
export interface Route {
  /** The end of its leg. In another leg the route no longer applies. */
  to: 'pickup' | 'destination';
  /** The time from which it applies: when a simulated car joins it, or when a real one was at its start. */
  at: Date;
  /** The start. Missing if the car's position was unknown. */
  from?: Pick<Location, 'lat' | 'lng'>;
  /**
   * The line (path.ts) with at most 4 kB, its length, and the duration in seconds, multiplied by
   * ROUTING_DURATION_FACTOR. Missing if there is no way, or no usable answer.
   */
  road?: { line: string; km: number; seconds: number };
}

/** A message of the partner to the driver. `at` is when it was sent. */
export interface DriverNote extends Partial<Origin> {
  /** Its place in the messages of the ride, from 1. */
  number: number;
  text: string;
  at: Date;
  seenAt?: Date;
}

/** The passenger's rating of a ride: 1 to 5 stars. */
export interface RideRating {
  stars: number;
  comment?: string;
  at: Date;
}

/** A driver to whom a dispatch round opened a live ride, with the distance to the pickup at that time. */
export interface AskedDriver {
  driverId: string;
  pickupKm: number;
  /** The time at which the driver declined the request. */
  declinedAt?: Date;
  /** A change of the ride declined it, because the car does not fit. A later change may make it fit again. */
  isUnfit?: true;
}

/** A position that a driver reported, and its time. */
export interface ReportedPosition {
  lat: number;
  lng: number;
  heading: number;
  at: Date;
}

export const deliveryOutcomes = ['delivered', 'failed', 'timeout', 'blocked', 'no_url'] as const;
export type DeliveryOutcome = (typeof deliveryOutcomes)[number];

/** The recorded result of an event: the result of its one attempt, or the reason why none was made. */
export interface Delivery {
  outcome: DeliveryOutcome;
  url?: string;
  httpStatus?: number;
  reason?: string;
  durationMs: number;
  at: Date;
}

/** `body` is the exact text that is sent, so that a second attempt sends the same bytes. Empty once it is erased. */
export interface RideEvent extends Partial<Origin> {
  seq: number;
  event: EventName;
  /** Its feed time (event-feed.ts), which equals its time unless `clockAt` is set. */
  at: Date;
  /** Its time, if that is earlier than the feed time because MongoDB's clock was set back. */
  clockAt?: Date;
  body: string;
  delivery?: Delivery;
  /** The successor that the body names. Nobody may get the event before this ride exists (rebid.ts). */
  replacedBy?: string;
}

/** A worker's claim on the oldest unsettled event, which it is delivering. `token` identifies the run of its job. */
export interface Claim {
  seq: number;
  token: string;
  at: Date;
  until: Date;
}

/**
 * A ride is one document, because MongoDB changes one document atomically. `rev` counts the changes of `changeRide`.
 * The webhook workers write `claim`, `settledSeq`, `unsettled`, `unsettledSince`, `undeliveredAt` and
 * `events.$.delivery`, and filter on their claim instead of `rev`. Erasure needs no `rev`: it only touches ended rides,
 * and only adding a rating changes these.
 */
export interface Ride extends RideRequest {
  _id: string;
  keyId: string;
  accountId: string;
  mode: Mode;
  scenario?: TestScenario;
  idempotency?: {
    /** Hashed once the ride is erased (create-ride.ts). */
    key: string;
    /** Missing once the ride is erased. */
    requestHash?: string;
    expiresAt: Date;
  };
  origin?: Origin;
  /** Missing once the ride is erased. */
  trackToken?: string;
  /** The words under which the dashboard finds it (search-terms.ts). Missing without any, and once it is erased. */
  searchTerms?: string[];
  createdAt: Date;
  /** Only on a ride for later: when its bidding is planned to open. */
  biddingOpensAt?: Date;
  /** When the bidding opened. Missing on a ride that was open from its creation. */
  openedAt?: Date;
  /** Until a ride for later has opened, the planned end. */
  biddingEndsAt: Date;

  rev: number;
  status: RideStatus;
  statusAt: Date;
  offers: Offer[];
  /** Only on an erased ride: the number of offers that it had. */
  offersCount?: number;
  acceptedOfferId?: string;
  agreedPrice?: number;
  driver?: Driver;
  leg?: Leg;
  route?: Route;
  cancelledBy?: CancelledBy;
  cancelReason?: CancelReason;
  /** The id of the successor, chosen when the driver cancelled. The successor may not exist yet. */
  nextRideId?: string;
  /** The same id, once the successor exists. */
  replacedBy?: string;
  /** The ride whose successor this ride is. */
  replaces?: string;
  /** The number of rides in a row before this one whose drivers cancelled. */
  rebids?: number;
  /** The drivers of these rides. This ride is not offered to them. */
  excludedDrivers?: string[];
  /** The fare at creation, and the time of its last raise; only on a ride whose fare was raised. */
  firstFare?: number;
  fareRaisedAt?: Date;
  /** The changes of its request, oldest first. `fields` are names, never values. */
  changes?: ({ at: Date; fields: string[] } & Partial<Origin>)[];
  /** The values at creation of changed fields that the answer to the creation shows, for its repeats. */
  firstTerms?: Partial<Pick<Ride, 'distanceKm' | 'biddingOpensAt' | FieldIn<'creation'>>>;

  /** The drivers to whom dispatch rounds opened a live ride, in the order of the rounds. */
  asked?: AskedDriver[];
  /** The number of dispatch rounds that a live ride has had. */
  rounds?: number;
  /** The wide cells of a live ride's pickup (drivers/cells.ts), once bidding opens: free drivers find it by them. */
  pickupCells?: number[];
  /** When a live ride was last opened to drivers who became available between two rounds. */
  openedToFreeAt?: Date;
  /** The last reported position of the car before a live ride ended. */
  lastPosition?: ReportedPosition;

  /** The PIN of a ride with `pin`. Missing once the ride is erased. */
  pinCode?: string;
  /** The times of the last wrong PINs. */
  wrongPinsAt?: Date[];
  /** The messages of the partner to the driver, in order. */
  driverNotes?: DriverNote[];
  /** When somebody asked for help on the live map, oldest first (passenger-actions.ts). */
  helpAskedAt?: Date[];
  /** The rating of the passenger (passenger-actions.ts). */
  rating?: RideRating;
  /** The rating of the driver does not contain this one yet (workers/periodic/driver-ratings.ts). */
  ratingOwed?: true;

  timers: Timer[];
  nextDueAt?: Date;
  /** The messages that changes of the ride owe, until the timer `message` has stored them (store-owed-messages.ts). */
  messagesOwed?: { kind: MessageKind; at: Date }[];

  /** The withdrawn offers whose events the timer `withdrawn` has not stored yet (webhooks/copies-of-event.ts). */
  withdrawalsOwed?: string[];

  events: RideEvent[];
  /** The feed time of the last event. */
  lastEventAt?: Date;
  /** The time of the event with this number, if its feed time is later. */
  lastClock?: { seq: number; at: Date };
  seq: number;
  settledSeq: number;
  unsettled: number;
  /** When the oldest unsettled event became the oldest one. Meaningless while no event is unsettled. */
  unsettledSince?: Date;
  /** The last time that an event of the ride was not delivered: its attempt failed, or no attempt was made. */
  undeliveredAt?: Date;
  claim?: Claim;
  /** Only on a held ride (ride.ts): when it was restored, and what runs again once it is released. */
  heldAt?: Date;
  held?: { timers: Timer[]; nextDueAt?: Date };
  /** The time at which its personal data was erased (retention/erase-rides.ts). */
  erasedAt?: Date;
}

/** A ride without the fields that only deliveries, the sweeper, retention and the dashboard read. */
export type RideState = Omit<Ride, 'events' | 'searchTerms' | 'unsettledSince' | 'undeliveredAt' | 'erasedAt'>;
