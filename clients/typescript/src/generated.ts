// `npm run clients:types` writes this file from the OpenAPI document.
import { randomUUID } from 'node:crypto';
import type { Call, CallOptions } from './call.ts';

export type TestScenario = 'default' | 'no_offers' | 'three_offers' | 'counter_offer' | 'no_auto_accept' | 'three_offers_no_accept' | 'offer_withdrawn' | 'driver_cancels' | 'stalls' | 'slow' | 'rate_limited' | 'unavailable' | 'duplicate_event';
export type CarType = 'regular' | 'comfort' | 'family';
export type RideType = 'standard' | 'intercity';
export type OnDriverCancel = 'rebid';
export type Need = 'wheelchair' | 'child_seat' | 'pet' | 'large_luggage' | 'assistance';

export type NewRidePickup = {
  /** Latitude in degrees. */
  lat: number;
  /** Longitude in degrees. */
  lng: number;
  /** Shown to the driver. */
  address?: string | null;
};

export type NewRideDestination = NewRidePickup;

export type NewRidePassenger = {
  /** Their name. */
  name?: string | null;
  /** Their phone number. */
  phone?: string | null;
  /** The language that they read, as a BCP 47 tag such as `es-MX`. */
  locale?: string | null;
};

export type NewRideNotifyContactsItem = {
  /** Their name. */
  name?: string | null;
  /** Their phone number, in E.164 form. */
  phone: string;
  /** The language that they read, as a BCP 47 tag such as `es-MX`. */
  locale?: string | null;
};

export type NewRideNotify = {
  /** The passenger gets text messages. Then `passenger.phone` must be a number in E.164 form. */
  passenger?: boolean | null;
  /** Others who are told that a driver was found, and how the ride ended. */
  contacts?: Array<NewRideNotifyContactsItem> | null;
};

export type NewRideAutoAccept = {
  /** The highest price to accept, in USD. */
  maxPrice: number;
  /** The longest time to the pickup, in minutes. Default: no limit. */
  maxEtaMinutes?: number | null;
  /** The time to wait after the first offer within these limits; then the best one is accepted. Default: the first one is accepted at once. */
  waitSeconds?: number | null;
};

export type NewRide = {
  /** The start of the ride. */
  pickup: NewRidePickup;
  /** The end of the ride; may equal the pickup. */
  destination: NewRideDestination;
  /** The price that you offer, in USD. Drivers accept it or ask for more. */
  fare: number;
  /** The kind of car. */
  carType?: CarType | null;
  /** Within a city, or between cities. */
  rideType?: RideType | null;
  /** Number of passengers. */
  passengerCount?: number | null;
  /** Length of the trip. Default: the great-circle distance, rounded to two decimals. */
  distanceKm?: number | null;
  /** The passenger, shown to the chosen driver. */
  passenger?: NewRidePassenger | null;
  /** Who gets text messages about the ride ([Text messages](https://rides.example/docs/messages)). Default: what the key says, which is nobody at first. */
  notify?: NewRideNotify | null;
  /** A note to the driver. */
  notes?: string | null;
  /** Your own name for the ride, such as a booking number. You can list rides by it; it need not be unique. */
  reference?: string | null;
  /** Your own entries, each a name with a text of at most 100 characters. A name is a letter and up to 39 more letters, digits, underscores and dashes. */
  metadata?: Record<string, string | null> | null;
  /** An offer within these limits is accepted automatically. */
  autoAccept?: NewRideAutoAccept | null;
  /** The time of the pickup, as Unix time in milliseconds: 15 minutes to 30 days ahead. Default: as soon as possible. */
  pickupAt?: number | null;
  /** `rebid`: if the driver cancels, a new ride with the same request replaces this one. */
  onDriverCancel?: OnDriverCancel | null;
  /** What the car and its driver must be able to serve: `wheelchair`, `child_seat`, `pet`, `large_luggage`, `assistance`. Only such drivers are asked. */
  needs?: Array<Need> | null;
  /** The floor where the passenger waits, shown to the chosen driver. */
  floor?: number | null;
  /** The driver can start the trip only with a PIN of four digits, which the passenger sees on the live map. */
  pin?: boolean | null;
  /** The URL for this ride's events, instead of the key's default URL. HTTPS, to a public address. */
  webhookUrl?: string | null;
};

export type RideCreatedAutoAccept = {
  /** The highest price to accept, in USD. */
  maxPrice: number;
  /** The longest time to the pickup, in minutes. Present if you gave it. */
  maxEtaMinutes?: number;
  /** The time to wait for better offers, in seconds. Present if you gave it. */
  waitSeconds?: number;
};

export type RideCreated = {
  /** The id of the ride. */
  rideId: string;
  /** A new ride waits for offers. */
  status: 'bidding';
  /** The fare that you offer, in USD. */
  fare: number;
  /** The kind of car. */
  carType: CarType;
  /** Length of the trip, in km: your value, or the great-circle distance. */
  distanceKm: number;
  /** URL of the public live map. It needs no key. */
  trackUrl: string;
  /** The time of the pickup, as Unix time in milliseconds. Present if you gave one. */
  pickupAt?: number;
  /** From when drivers are asked, as Unix time in milliseconds. Present with `pickupAt`. */
  biddingOpensAt?: number;
  /** If the driver cancels, a new ride replaces this one. Present if you asked for it. */
  onDriverCancel?: OnDriverCancel;
  /** Your limits for automatic acceptance. Present if you gave them. */
  autoAccept?: RideCreatedAutoAccept;
  /** The needs of the ride. Present if you gave any. */
  needs?: Array<Need>;
  /** The floor where the passenger waits. Present if you gave one. */
  floor?: number;
  /** Your own name for the ride. Present if you gave one. */
  reference?: string;
  /** Your own entries, sorted by name. Present if you gave any. */
  metadata?: Record<string, string>;
  /** `true` for a ride created with a test key; absent otherwise. */
  testMode?: true;
};

export type ErrorBody = {
  /** The error, for people to read. Programs use `X-Service-Error`. */
  error: string;
};

export type RideStatus = 'bidding' | 'driver_arriving' | 'arrived' | 'in_progress' | 'completed' | 'cancelled';
export type EtaSource = 'route' | 'estimate';
export type CancelledBy = 'partner' | 'driver' | 'timeout';
export type CancelReason = 'no_offers' | 'no_show' | 'no_progress' | 'driver' | 'partner';

/** The passenger’s rating of the ride. Absent until the passenger has rated it. */
export type RideRating = {
  /** The stars, 5 for the best ride. */
  stars: number;
  /** The passenger’s comment. Absent if there is none, or once the ride is erased. */
  comment?: string;
  /** When the ride was rated, as Unix time in milliseconds. */
  at: number;
};

export type ListedRidePickup = {
  /** Latitude in degrees. */
  lat: number;
  /** Longitude in degrees. */
  lng: number;
  /** The address as you gave it. */
  address?: string;
};

export type ListedRideDestination = ListedRidePickup;

export type ListedRideDriver = {
  /** Name of the driver. */
  name: string;
  /** Phone number of the driver. */
  phone: string;
  /** Rating of the driver, up to 5. */
  rating: number;
  /** Model and colour of the car. */
  vehicle: string;
  /** Licence plate of the car. */
  plate: string;
};

export type ListedRideEta = {
  /** Whole minutes until then, rounded up. */
  minutes: number;
  /** The expected time, as Unix time in milliseconds. */
  at: number;
  /** `route`: from the road to drive. `estimate`: from the great circle, or from what the driver has promised. */
  source: EtaSource;
};

export type ListedRideAutoAccept = RideCreatedAutoAccept;

export type ListedRideStepsItem = {
  /** A status of the ride. */
  status: RideStatus;
  /** The time since which the ride had this status, as Unix time in milliseconds. */
  at: number;
};

/** A ride as the list shows it. */
export type ListedRide = {
  /** The id of the ride. */
  rideId: string;
  /** The status of the ride. */
  status: RideStatus;
  /** The fare that you offer, in USD. */
  fare: number;
  /** The kind of car. */
  carType: CarType;
  /** Number of passengers. */
  passengerCount: number;
  /** Length of the trip, in km: your value, or the great-circle distance. */
  distanceKm: number;
  /** Number of offers that the ride has received, including withdrawn ones. */
  offersCount: number;
  /** The number of drivers to whom the live ride was opened. Absent in test mode, and once the ride is erased. */
  driversAsked?: number;
  /** The start of the ride. */
  pickup: ListedRidePickup;
  /** The end of the ride. */
  destination: ListedRideDestination;
  /** The driver. Present once an offer is accepted. */
  driver?: ListedRideDriver;
  /** The price of the accepted offer, in USD. Present once an offer is accepted. */
  agreedPrice?: number;
  /** When the car is expected at the pickup, or at the destination. Present in `driver_arriving` and `in_progress`. */
  eta?: ListedRideEta;
  /** URL of the public live map. It needs no key. */
  trackUrl: string;
  /** The party that cancelled the ride. Present once it is cancelled. */
  cancelledBy?: CancelledBy;
  /** Why the ride was cancelled. `no_offers`: no offer was accepted in time. `no_show`: the trip did not start after the driver had arrived. `no_progress`: the driver did not arrive, or the trip did not end. `driver`, `partner`: one of them cancelled. Present once it is cancelled. */
  cancelReason?: CancelReason;
  /** The id of the ride that replaces this one, because the driver cancelled. Present if there is one. */
  replacedBy?: string;
  /** The id of the ride that this ride replaces, because its driver cancelled. Present on such a ride. */
  replaces?: string;
  rating?: RideRating;
  /** The time of the pickup, as Unix time in milliseconds. Present if you gave one. */
  pickupAt?: number;
  /** From when drivers are asked, as Unix time in milliseconds. Present with `pickupAt`. */
  biddingOpensAt?: number;
  /** If the driver cancels, a new ride replaces this one. Present if you asked for it. */
  onDriverCancel?: OnDriverCancel;
  /** Your limits for automatic acceptance. Present if you gave them. */
  autoAccept?: ListedRideAutoAccept;
  /** The needs of the ride. Present if you gave any. */
  needs?: Array<Need>;
  /** The floor where the passenger waits. Present if you gave one. */
  floor?: number;
  /** Your own name for the ride. Present if you gave one. */
  reference?: string;
  /** Your own entries, sorted by name. Present if you gave any. */
  metadata?: Record<string, string>;
  /** `true` for a ride created with a test key; absent otherwise. */
  testMode?: true;
  /** The time of creation, as Unix time in milliseconds. */
  createdAt: number;
  /** The end of the bidding time, also after an offer was accepted, as Unix time in milliseconds. */
  biddingEndsAt: number;
  /** The time since which the ride has its status, as Unix time in milliseconds. */
  statusAt: number;
  /** Every status that the ride has had, in order. The last one is `status`. */
  steps: Array<ListedRideStepsItem>;
};

export type RideList = {
  /** The newest first, without live locations. */
  rides: Array<ListedRide>;
  /** The `cursor` of the next page; `null` on the last one. */
  nextCursor: string | null;
};

/** A message to the driver. */
export type DriverMessage = {
  /** The number of the message in the ride, from 1. */
  number: number;
  /** The text. */
  text: string;
  /** When it was sent, as Unix time in milliseconds. */
  at: number;
  /** When the driver had seen it. Absent before, as Unix time in milliseconds. */
  seenAt?: number;
};

export type MovingStatus = 'driver_arriving' | 'arrived' | 'in_progress';
export type RidePickup = ListedRidePickup;
export type RideDestination = ListedRidePickup;
export type RideDriver = ListedRideDriver;
export type RideEta = ListedRideEta;
export type RideAutoAccept = RideCreatedAutoAccept;
export type RideStepsItem = ListedRideStepsItem;

export type RideLiveLocation = {
  /** Latitude in degrees. */
  lat: number;
  /** Longitude in degrees. */
  lng: number;
  /** Degrees clockwise from north. */
  heading: number;
  /** The status of the ride. */
  status: MovingStatus;
  /** The time of this position, as Unix time in milliseconds. */
  at: number;
};

export type Ride = ListedRide & {
  /** The PIN without which the driver cannot start the trip. Present if you asked for one. */
  pin?: string;
  /** Your messages to the driver, in order. Absent without any. */
  messages?: Array<DriverMessage>;
  /** Position of the car. Present in `driver_arriving`, `arrived` and `in_progress`. */
  liveLocation?: RideLiveLocation;
};

export type OfferDriver = {
  /** Name of the driver. */
  name: string;
  /** Rating of the driver, up to 5. */
  rating: number;
  /** Licence plate of the car. */
  plate: string;
  /** Model and colour of the car. */
  vehicle: string;
};

/** An offer of one driver for a ride. */
export type Offer = {
  /** The id of the offer. Send it to accept the offer. */
  offerId: string;
  /** The price that the driver asks, in USD. */
  price: number;
  /** The driver's estimate of the minutes until arrival at the pickup. */
  etaMinutes: number;
  /** The driver who made the offer. The phone number is shown once you accept. */
  driver: OfferDriver;
};

export type OfferList = {
  /** The id of the ride. */
  rideId: string;
  /** While the ride is `bidding`: all live offers, the cheapest first. Afterwards: only the accepted offer. None once the ride is cancelled. */
  offers: Array<Offer>;
};

export type OfferChoice = {
  /** An `offerId` from the list of offers. */
  offerId: string;
};

export type OfferAccepted = {
  /** Always `true`: a failure has another status. */
  success: true;
  /** The id of the ride. */
  rideId: string;
  /** `driver_arriving`; if you accept the same offer again, the current status. */
  status: MovingStatus;
};

export type ChangedTermsDestination = NewRidePickup;
export type ChangedTermsPassenger = NewRidePassenger;

export type ChangedTerms = {
  /** The new end of the ride, while it is `bidding`. */
  destination?: ChangedTermsDestination | null;
  /** Number of passengers, while it is `bidding`. */
  passengerCount?: number | null;
  /** The time of the pickup, as Unix time in milliseconds: 15 minutes to 30 days ahead. Default: as soon as possible. */
  pickupAt?: number | null;
  /** What the car and its driver must be able to serve: `wheelchair`, `child_seat`, `pet`, `large_luggage`, `assistance`. Only such drivers are asked. */
  needs?: Array<Need> | null;
  /** The floor where the passenger waits, shown to the chosen driver. */
  floor?: number | null;
  /** The passenger, shown to the chosen driver. */
  passenger?: ChangedTermsPassenger | null;
  /** A note to the driver. */
  notes?: string | null;
  /** Your own name for the ride, such as a booking number. You can list rides by it; it need not be unique. */
  reference?: string | null;
  /** Your own entries, each a name with a text of at most 100 characters. A name is a letter and up to 39 more letters, digits, underscores and dashes. */
  metadata?: Record<string, string | null> | null;
  /** The URL for this ride's events, instead of the key's default URL. HTTPS, to a public address. */
  webhookUrl?: string | null;
};

export type RideChanged = {
  /** Always `true`: a failure has another status. */
  success: true;
  /** The id of the ride. */
  rideId: string;
  /** The status of the ride. */
  status: RideStatus;
};

export type NewFare = {
  /** The new fare, in USD: not below the current one. */
  fare: number;
};

export type FareRaised = {
  /** Always `true`: a failure has another status. */
  success: true;
  /** The id of the ride. */
  rideId: string;
  /** The ride waits for offers. */
  status: 'bidding';
  /** The fare that you offer, in USD. */
  fare: number;
};

export type RideCancelled = {
  /** Always `true`: a failure has another status. */
  success: true;
  /** The id of the ride. */
  rideId: string;
  /** The ride has ended. */
  status: 'cancelled';
};

export type DriverMessageText = {
  /** The message, at most 300 characters. */
  text: string;
};

export type DriverTold = RideChanged & {
  /** The number of the message in the ride, from 1. */
  number: number;
};

export type FareBasis = 'rides' | 'tariff' | 'sample';

export type FareHintPerKm = {
  /** A quarter of the trips cost less. */
  lower: number;
  /** Half of the trips cost less. */
  median: number;
  /** A quarter of the trips cost more. */
  upper: number;
};

export type FareHintFare = FareHintPerKm;

export type FareHint = {
  /** The kind of car. */
  carType: CarType;
  /** The great-circle distance. */
  distanceKm: number;
  /** `rides`: completed rides of several partners. `tariff`: the tariff of the service, if too few rides are known. `sample`: the fixed sample for a test key. `null`: no hint. */
  basis: FareBasis | null;
  /** In USD per km; `null` without a hint. */
  perKm: FareHintPerKm | null;
  /** The same for this distance, in USD. With a tariff, this includes the base fare. */
  fare: FareHintFare | null;
};

export type EventName = 'offer.received' | 'ride.status';

/** A driver made an offer on a bidding ride. */
export type OfferReceivedEvent = {
  /** The name of the event. */
  event: 'offer.received';
  /** The id of the ride. */
  rideId: string;
  offer: Offer;
  /** Number of offers the ride has received, this one included. */
  offersCount: number;
  /** The fare that you offer, in USD. */
  fare: number;
  /** URL of the public live map. It needs no key. */
  trackUrl: string;
  /** The time of the event, as Unix time in milliseconds. Later than the `at` of the previous event. */
  at: number;
  /** The time of the pickup, as Unix time in milliseconds. Present if you gave one. */
  pickupAt?: number;
  /** From when drivers are asked, as Unix time in milliseconds. Present with `pickupAt`. */
  biddingOpensAt?: number;
  /** The id of the ride that this ride replaces, because its driver cancelled. Present on such a ride. */
  replaces?: string;
  /** Your own name for the ride. Present if you gave one. */
  reference?: string;
  /** Your own entries, sorted by name. Present if you gave any. */
  metadata?: Record<string, string>;
  /** `true` for a ride created with a test key; absent otherwise. */
  testMode?: true;
  /** The id of the event, as in `X-Service-Event-Id`. */
  eventId: string;
  /** Number of the event within its ride, from 1, without gaps, as in `X-Service-Sequence`. */
  sequence: number;
};

export type EventStatus = 'driver_arriving' | 'arrived' | 'in_progress' | 'completed' | 'cancelled';

export type RideStatusEventDriver = {
  /** Name of the driver. */
  name: string;
  /** Phone number of the driver. */
  phone: string;
  /** Licence plate of the car. */
  plate: string;
  /** Model and colour of the car. */
  vehicle: string;
};

/** The status of a ride changed. */
export type RideStatusEvent = {
  /** The name of the event. */
  event: 'ride.status';
  /** The id of the ride. */
  rideId: string;
  /** The new status of the ride. */
  status: EventStatus;
  /** The fare that you offer, in USD. */
  fare: number;
  /** The driver of the accepted offer; `null` if none was accepted. */
  driver: RideStatusEventDriver | null;
  /** URL of the public live map. It needs no key. */
  trackUrl: string;
  /** The time of the event, as Unix time in milliseconds. Later than the `at` of the previous event. */
  at: number;
  /** The price of the accepted offer, in USD. Present once an offer is accepted. */
  agreedPrice?: number;
  /** The party that cancelled the ride. Present once it is cancelled. */
  cancelledBy?: CancelledBy;
  /** Why the ride was cancelled. `no_offers`: no offer was accepted in time. `no_show`: the trip did not start after the driver had arrived. `no_progress`: the driver did not arrive, or the trip did not end. `driver`, `partner`: one of them cancelled. Present once it is cancelled. */
  cancelReason?: CancelReason;
  /** The id of the ride that replaces this one, because the driver cancelled. Present if there is one. */
  replacedBy?: string;
  /** The time of the pickup, as Unix time in milliseconds. Present if you gave one. */
  pickupAt?: number;
  /** From when drivers are asked, as Unix time in milliseconds. Present with `pickupAt`. */
  biddingOpensAt?: number;
  /** The id of the ride that this ride replaces, because its driver cancelled. Present on such a ride. */
  replaces?: string;
  /** Your own name for the ride. Present if you gave one. */
  reference?: string;
  /** Your own entries, sorted by name. Present if you gave any. */
  metadata?: Record<string, string>;
  /** `true` for a ride created with a test key; absent otherwise. */
  testMode?: true;
  /** The id of the event, as in `X-Service-Event-Id`. */
  eventId: string;
  /** Number of the event within its ride, from 1, without gaps, as in `X-Service-Sequence`. */
  sequence: number;
};

export type DeliveryOutcome = 'delivered' | 'failed' | 'timeout' | 'blocked' | 'no_url';

export type FeedEventDelivery = {
  /** `delivered`: your receiver answered with a 2xx in time. With any other outcome it may not have the event. */
  outcome: DeliveryOutcome;
  /** The time of the attempt, as Unix time in milliseconds. */
  at: number;
  /** The duration of the attempt, in milliseconds. */
  durationMs: number;
  /** The status of your receiver's answer. Present if it answered. */
  httpStatus?: number;
  /** The reason for a failure, as a short code for people to read. Present if one is known. */
  reason?: string;
};

/** An event and its delivery. */
export type FeedEvent = {
  /** The id of the event, as in `X-Service-Event-Id`. */
  eventId: string;
  /** The id of the ride. */
  rideId: string;
  /** Number of the event within its ride, from 1, without gaps, as in `X-Service-Sequence`. */
  seq: number;
  /** The name of the event. */
  event: EventName;
  /** The time of the event, as Unix time in milliseconds. */
  at: number;
  /** The body that is sent to your webhook URL: one of [these events](https://rides.example/docs/reference#events). `null` once it is erased. */
  body: OfferReceivedEvent | RideStatusEvent | null;
  /** The delivery to your webhook URL; `null` until it is recorded. */
  delivery: FeedEventDelivery | null;
  /** The `X-Request-Id` of your request that caused the event. Present if one did. */
  requestId?: string;
};

export type EventPage = {
  /** Ordered by time, then by ride. */
  events: Array<FeedEvent>;
  /** The `after` of your next request. `null` until the key has its first event. */
  cursor: string | null;
  /** True if you can read the next page immediately. */
  hasMore: boolean;
};

export type ResendOutcome = 'waiting' | 'delivered' | 'failed' | 'timeout' | 'blocked' | 'no_url';

/** A resend of an event. */
export type EventResend = {
  /** The id of the attempt, which the dashboard shows too. */
  attemptId: string;
  /** Number of the event within its ride, from 1, without gaps, as in `X-Service-Sequence`. */
  seq: number;
  /** The time for which it was requested, as Unix time in milliseconds. */
  requestedAt: number;
  /** `waiting`: it is not sent yet. The others are those of a `delivery`. */
  outcome: ResendOutcome;
  /** The status of your receiver's answer. Present if it answered. */
  httpStatus?: number;
  /** The reason for a failure, as a short code for people to read. Present if one is known. */
  reason?: string;
};

export type RideEvents = {
  /** The id of the ride. */
  rideId: string;
  /** Ordered by `seq`. */
  events: Array<FeedEvent>;
  /** The resends of all events of the ride, in the order in which they were requested. */
  resends: Array<EventResend>;
};

export type EventResent = {
  /** Always `true`: a failure has another status. */
  success: true;
  /** The id of the ride. */
  rideId: string;
  /** The id of the event, as in `X-Service-Event-Id`. */
  eventId: string;
  /** Number of the event within its ride, from 1, without gaps, as in `X-Service-Sequence`. */
  sequence: number;
  /** The id of the attempt, which the dashboard shows too. */
  attemptId: string;
};

export type SentEvent = 'offer.received' | 'ride.status' | 'offer.withdrawn';

export type WebhookEndpoint = {
  /** The id of a webhook endpoint. */
  endpointId: string;
  /** The URL to which the events are sent. */
  url: string;
  /** The events that are sent to it. */
  events: Array<SentEvent>;
  /** `false` while it is turned off in the dashboard. */
  enabled: boolean;
};

export type WebhookEndpointList = {
  /** The default URL of the key first, if it has one: its `endpointId` is `default`. */
  endpoints: Array<WebhookEndpoint>;
};

export type NewWebhookEndpoint = {
  /** Where to send the events. HTTPS, to a public address. */
  url: string;
  /** The events to send. Default, also for an empty list: `offer.received` and `ride.status`. */
  events?: Array<SentEvent> | null;
};

export type WebhookEndpointAdded = WebhookEndpoint & {
  /** Always `true`: a failure has another status. */
  success: true;
  /** The secret that signs what is sent to this endpoint. Store it: the API does not show it again. */
  signingSecret: string;
};

export type WebhookEndpointDeleted = {
  /** Always `true`: a failure has another status. */
  success: true;
  /** The id of a webhook endpoint. */
  endpointId: string;
};

export type StatementMonth = {
  /** A month in UTC. */
  month: string;
  /** True once no further trips are added, an hour after the end of the month. */
  closed: boolean;
};

export type StatementList = {
  /** Each month since the first ride of the key, the newest first. */
  statements: Array<StatementMonth>;
};

export type StatementTrip = {
  /** The ride. */
  rideId: string;
  /** When it was completed, as Unix time in milliseconds. */
  endedAt: number;
  /** What you pay for it, in USD, rounded to cents. */
  agreedPrice: number;
  /** Your reference. Present until the personal data of the ride is erased. */
  reference?: string;
  /** The address of the pickup, or its coordinates. Present for as long as the reference. */
  from?: string;
  /** The same of the destination. */
  to?: string;
};

export type Statement = StatementMonth & {
  /** The number of completed rides of the key in the month. */
  trips: number;
  /** The sum of their prices, in USD. */
  total: number;
  /** A page of these rides, ordered by their ends. */
  lines: Array<StatementTrip>;
  /** The `cursor` of the next page; `null` on the last one. */
  nextCursor: string | null;
};

export type UsageDay = {
  /** The day in UTC. */
  day: string;
  /** The rides that were created on it. */
  rides: number;
};

export type Usage = {
  /** The rides that were created with the key in these days. */
  rides: number;
  /** Each day, the oldest first. */
  days: Array<UsageDay>;
};

export type ManualOffer = {
  /** The driver's price, in USD. Default: the price in the ride's scenario. */
  price?: number | null;
  /** Minutes until the driver can be at the pickup. */
  etaMinutes?: number | null;
};

export type ManualOfferMade = {
  /** Always `true`: a failure has another status. */
  success: true;
  /** The id of the ride. */
  rideId: string;
  /** The ride waits for offers. */
  status: 'bidding';
  /** The id of the offer. Send it to accept the offer. */
  offerId: string;
};

export type StepTaken = {
  /** Always `true`: a failure has another status. */
  success: true;
  /** The id of the ride. */
  rideId: string;
  /** The status after the step. */
  status: RideStatus;
};

export type ManualStart = {
  /** The PIN of the passenger. Needed for a ride with a PIN. */
  pin?: string | null;
};

export type WebhookSources = {
  /** IPv4 and IPv6 addresses and ranges in CIDR notation. Empty if they are not fixed. */
  addresses: Array<string>;
};

export type ServiceInformation = {
  /** Name of the service. */
  name: string;
  /** Version of the API. */
  version: 'v1';
  /** Address of this documentation. */
  docs: string;
  /** Method and path of the five basic operations, relative to the base address. */
  endpoints: Array<string>;
  /** Method and path of every other operation. The list may grow. */
  additionalEndpoints: Array<string>;
};

/** An offer on a bidding ride was withdrawn. Sent only to webhook endpoints that ask for it. */
export type OfferWithdrawnEvent = {
  /** The name of the event. */
  event: 'offer.withdrawn';
  /** The id of the ride. */
  rideId: string;
  offer: Offer;
  /** The fare that you offer, in USD. */
  fare: number;
  /** URL of the public live map. It needs no key. */
  trackUrl: string;
  /** When the offer was withdrawn, as Unix time in milliseconds. */
  at: number;
  /** The time of the pickup, as Unix time in milliseconds. Present if you gave one. */
  pickupAt?: number;
  /** From when drivers are asked, as Unix time in milliseconds. Present with `pickupAt`. */
  biddingOpensAt?: number;
  /** The id of the ride that this ride replaces, because its driver cancelled. Present on such a ride. */
  replaces?: string;
  /** Your own name for the ride. Present if you gave one. */
  reference?: string;
  /** Your own entries, sorted by name. Present if you gave any. */
  metadata?: Record<string, string>;
  /** `true` for a ride created with a test key; absent otherwise. */
  testMode?: true;
  /** The id of the event, as in `X-Service-Event-Id`. */
  eventId: string;
};

/** The codes of errors. New codes may be added. */
export type ErrorCode =
  | 'bidding_not_open'
  | 'bidding_over'
  | 'body_erased'
  | 'driver_busy'
  | 'endpoint_not_found'
  | 'endpoints_full'
  | 'event_not_found'
  | 'fare_not_higher'
  | 'headers_too_large'
  | 'https_required'
  | 'idempotency_conflict'
  | 'illegal_step'
  | 'internal'
  | 'invalid_request'
  | 'live_ride'
  | 'messages_full'
  | 'no_driver'
  | 'no_webhook_url'
  | 'not_sent_yet'
  | 'offer_not_found'
  | 'offer_withdrawn'
  | 'offers_full'
  | 'payload_too_large'
  | 'pin_locked'
  | 'rate_limited'
  | 'request_timeout'
  | 'ride_ended'
  | 'ride_erased'
  | 'ride_not_bidding'
  | 'ride_not_found'
  | 'too_many_waiting'
  | 'unauthorized'
  | 'unavailable'
  | 'wrong_pin'
  | (string & {});

/** The body of an event that has a number. */
export type RideEvent = OfferReceivedEvent | RideStatusEvent;

/** The body of a request to a receiver. */
export type ReceivedEvent = OfferReceivedEvent | RideStatusEvent | OfferWithdrawnEvent;

export type CreateRideOptions = CallOptions & {
  /** Identifies this creation: a repeat within 24 hours gets the same ride, not a new one. Printable ASCII without spaces. */
  idempotencyKey?: string;
  /** The scenario of a test ride ([all scenarios](https://rides.example/docs/test-mode#scenarios)). Ignored with a live key. */
  testScenario?: TestScenario;
};

export type ListRidesOptions = CallOptions & {
  /** Only rides with this status. */
  status?: RideStatus;
  /** Only rides that were created at this time or later, as Unix time in milliseconds. */
  createdAfter?: number;
  /** Only rides that were created before this time, as Unix time in milliseconds. */
  createdBefore?: number;
  /** Only rides with exactly this reference. */
  reference?: string;
  /** The maximum number of rides in a page. */
  limit?: number;
  /** The `nextCursor` of the previous page. Default: the first page. */
  cursor?: string;
};

export type RetrieveFareHintOptions = CallOptions & {
  /** The start of the ride: latitude and longitude in degrees. */
  pickup: string;
  /** The end of the ride. */
  destination: string;
  /** The kind of car. */
  carType?: CarType;
};

export type ListEventsOptions = CallOptions & {
  /** The `cursor` of an earlier answer, or `now` to start with the current moment. Default: the first event of the key. */
  after?: string;
  /** The maximum number of events in a page. */
  limit?: number;
  /** The maximum time that the answer waits for an event, in seconds. */
  waitSeconds?: number;
};

export type ListRideEventsOptions = CallOptions & {
  /** Only events with a higher `seq`. */
  after?: number;
  /** The maximum time that the answer waits for an event, in seconds. */
  waitSeconds?: number;
};

export type RetrieveStatementOptions = CallOptions & {
  /** The maximum number of rides in a page. */
  limit?: number;
  /** The `nextCursor` of the previous page. Default: the first page. */
  cursor?: string;
};

export type RetrieveUsageOptions = CallOptions & {
  /** The first day, in UTC. Default: 29 days before the last one. */
  from?: string;
  /** The last day, in UTC, at most 365 days after the first one. Default: today. */
  to?: string;
};

/** A method for each operation of the API. */
export abstract class Operations {
  protected abstract send<Answer>(call: Call, options: CallOptions): Promise<Answer>;

  /** Create a ride. */
  createRide(body: NewRide, options: CreateRideOptions = {}): Promise<RideCreated> {
    return this.send({ method: 'POST', path: `/v1/rides`, headers: { 'Idempotency-Key': options.idempotencyKey ?? randomUUID(), 'X-Service-Test-Scenario': options.testScenario }, body }, options);
  }

  /** List your rides. */
  listRides(options: ListRidesOptions = {}): Promise<RideList> {
    return this.send({ method: 'GET', path: `/v1/rides`, query: { status: options.status, createdAfter: options.createdAfter, createdBefore: options.createdBefore, reference: options.reference, limit: options.limit, cursor: options.cursor } }, options);
  }

  /** Yields the rides of `listRides`, page after page. */
  async *allRides(options: ListRidesOptions = {}): AsyncGenerator<ListedRide> {
    let { cursor } = options;
    do {
      const page = await this.listRides({ ...options, cursor });
      yield* page.rides;
      cursor = page.nextCursor ?? undefined;
    } while (cursor);
  }

  /** Retrieve a ride. */
  retrieveRide(rideId: string, options: CallOptions = {}): Promise<Ride> {
    return this.send({ method: 'GET', path: `/v1/rides/${encodeURIComponent(rideId)}` }, options);
  }

  /** Change a ride. */
  changeRide(rideId: string, body: ChangedTerms, options: CallOptions = {}): Promise<RideChanged> {
    return this.send({ method: 'PATCH', path: `/v1/rides/${encodeURIComponent(rideId)}`, body }, options);
  }

  /** List the offers. */
  listOffers(rideId: string, options: CallOptions = {}): Promise<OfferList> {
    return this.send({ method: 'GET', path: `/v1/rides/${encodeURIComponent(rideId)}/offers` }, options);
  }

  /** Accept an offer. */
  acceptOffer(rideId: string, body: OfferChoice, options: CallOptions = {}): Promise<OfferAccepted> {
    return this.send({ method: 'POST', path: `/v1/rides/${encodeURIComponent(rideId)}/accept`, body }, options);
  }

  /** Raise the fare. */
  raiseFare(rideId: string, body: NewFare, options: CallOptions = {}): Promise<FareRaised> {
    return this.send({ method: 'POST', path: `/v1/rides/${encodeURIComponent(rideId)}/fare`, body }, options);
  }

  /** Cancel a ride. */
  cancelRide(rideId: string, options: CallOptions = {}): Promise<RideCancelled> {
    return this.send({ method: 'POST', path: `/v1/rides/${encodeURIComponent(rideId)}/cancel` }, options);
  }

  /** Write to the driver. */
  tellDriver(rideId: string, body: DriverMessageText, options: CallOptions = {}): Promise<DriverTold> {
    return this.send({ method: 'POST', path: `/v1/rides/${encodeURIComponent(rideId)}/messages`, body }, options);
  }

  /** Get a fare hint. */
  retrieveFareHint(options: RetrieveFareHintOptions): Promise<FareHint> {
    return this.send({ method: 'GET', path: `/v1/fare-hint`, query: { pickup: options.pickup, destination: options.destination, carType: options.carType } }, options);
  }

  /** Read the event feed. */
  listEvents(options: ListEventsOptions = {}): Promise<EventPage> {
    return this.send({ method: 'GET', path: `/v1/events`, query: { after: options.after, limit: options.limit, waitSeconds: options.waitSeconds } }, options);
  }

  /** List the events of a ride. */
  listRideEvents(rideId: string, options: ListRideEventsOptions = {}): Promise<RideEvents> {
    return this.send({ method: 'GET', path: `/v1/rides/${encodeURIComponent(rideId)}/events`, query: { after: options.after, waitSeconds: options.waitSeconds } }, options);
  }

  /** Resend an event. */
  resendEvent(rideId: string, sequence: number, options: CallOptions = {}): Promise<EventResent> {
    return this.send({ method: 'POST', path: `/v1/rides/${encodeURIComponent(rideId)}/events/${encodeURIComponent(sequence)}/resend` }, options);
  }

  /** List your webhook endpoints. */
  listWebhookEndpoints(options: CallOptions = {}): Promise<WebhookEndpointList> {
    return this.send({ method: 'GET', path: `/v1/webhook-endpoints` }, options);
  }

  /** Add a webhook endpoint. */
  addWebhookEndpoint(body: NewWebhookEndpoint, options: CallOptions = {}): Promise<WebhookEndpointAdded> {
    return this.send({ method: 'POST', path: `/v1/webhook-endpoints`, body }, options);
  }

  /** Delete a webhook endpoint. */
  deleteWebhookEndpoint(endpointId: string, options: CallOptions = {}): Promise<WebhookEndpointDeleted> {
    return this.send({ method: 'DELETE', path: `/v1/webhook-endpoints/${encodeURIComponent(endpointId)}` }, options);
  }

  /** List your statements. */
  listStatements(options: CallOptions = {}): Promise<StatementList> {
    return this.send({ method: 'GET', path: `/v1/statements` }, options);
  }

  /** Retrieve a statement. */
  retrieveStatement(month: string, options: RetrieveStatementOptions = {}): Promise<Statement> {
    return this.send({ method: 'GET', path: `/v1/statements/${encodeURIComponent(month)}`, query: { limit: options.limit, cursor: options.cursor } }, options);
  }

  /** Yields the lines of `retrieveStatement`, page after page. */
  async *allStatementLines(month: string, options: RetrieveStatementOptions = {}): AsyncGenerator<StatementTrip> {
    let { cursor } = options;
    do {
      const page = await this.retrieveStatement(month, { ...options, cursor });
      yield* page.lines;
      cursor = page.nextCursor ?? undefined;
    } while (cursor);
  }

  /** Download a statement. */
  downloadStatement(month: string, options: CallOptions = {}): Promise<string> {
    return this.send({ method: 'GET', path: `/v1/statements/${encodeURIComponent(month)}/trips.csv` }, options);
  }

  /** Retrieve your usage. */
  retrieveUsage(options: RetrieveUsageOptions = {}): Promise<Usage> {
    return this.send({ method: 'GET', path: `/v1/usage`, query: { from: options.from, to: options.to } }, options);
  }

  /** Make an offer manually. */
  offerManually(rideId: string, body: ManualOffer = {}, options: CallOptions = {}): Promise<ManualOfferMade> {
    return this.send({ method: 'POST', path: `/v1/test/rides/${encodeURIComponent(rideId)}/offer`, body }, options);
  }

  /** Withdraw an offer manually. */
  withdrawManually(rideId: string, body: OfferChoice, options: CallOptions = {}): Promise<StepTaken> {
    return this.send({ method: 'POST', path: `/v1/test/rides/${encodeURIComponent(rideId)}/withdraw`, body }, options);
  }

  /** Open the bidding manually. */
  openManually(rideId: string, options: CallOptions = {}): Promise<StepTaken> {
    return this.send({ method: 'POST', path: `/v1/test/rides/${encodeURIComponent(rideId)}/open` }, options);
  }

  /** Arrive manually. */
  arriveManually(rideId: string, options: CallOptions = {}): Promise<StepTaken> {
    return this.send({ method: 'POST', path: `/v1/test/rides/${encodeURIComponent(rideId)}/arrive` }, options);
  }

  /** Start manually. */
  startManually(rideId: string, body: ManualStart = {}, options: CallOptions = {}): Promise<StepTaken> {
    return this.send({ method: 'POST', path: `/v1/test/rides/${encodeURIComponent(rideId)}/start`, body }, options);
  }

  /** Complete manually. */
  completeManually(rideId: string, options: CallOptions = {}): Promise<StepTaken> {
    return this.send({ method: 'POST', path: `/v1/test/rides/${encodeURIComponent(rideId)}/complete` }, options);
  }

  /** Cancel manually. */
  cancelManually(rideId: string, options: CallOptions = {}): Promise<StepTaken> {
    return this.send({ method: 'POST', path: `/v1/test/rides/${encodeURIComponent(rideId)}/cancel` }, options);
  }

  /** Time out manually. */
  expireManually(rideId: string, options: CallOptions = {}): Promise<StepTaken> {
    return this.send({ method: 'POST', path: `/v1/test/rides/${encodeURIComponent(rideId)}/expire` }, options);
  }

  /** List the source addresses of webhooks. */
  listWebhookSources(options: CallOptions = {}): Promise<WebhookSources> {
    return this.send({ method: 'GET', path: `/v1/webhook-sources` }, options);
  }

  /** Service information. */
  retrieveServiceInformation(options: CallOptions = {}): Promise<ServiceInformation> {
    return this.send({ method: 'GET', path: `/v1` }, options);
  }
}
