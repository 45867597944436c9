"""`npm run clients:types` writes this file from the OpenAPI document."""

from __future__ import annotations

import typing
import uuid
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Literal, Optional, TypedDict, Union
from urllib.parse import quote

from .call import Caller

if TYPE_CHECKING:
    # Type checkers know this package, which need not be installed.
    from typing_extensions import NotRequired
else:
    # Only from Python 3.11 on.
    NotRequired = getattr(typing, "NotRequired", Optional)

ErrorCode = Literal[
    "bidding_not_open",
    "bidding_over",
    "body_erased",
    "driver_busy",
    "endpoint_not_found",
    "endpoints_full",
    "event_not_found",
    "fare_not_higher",
    "headers_too_large",
    "https_required",
    "idempotency_conflict",
    "illegal_step",
    "internal",
    "invalid_request",
    "live_ride",
    "messages_full",
    "no_driver",
    "no_webhook_url",
    "not_sent_yet",
    "offer_not_found",
    "offer_withdrawn",
    "offers_full",
    "payload_too_large",
    "pin_locked",
    "rate_limited",
    "request_timeout",
    "ride_ended",
    "ride_erased",
    "ride_not_bidding",
    "ride_not_found",
    "too_many_waiting",
    "unauthorized",
    "unavailable",
    "wrong_pin",
]
TestScenario = Literal["default", "no_offers", "three_offers", "counter_offer", "no_auto_accept", "three_offers_no_accept", "offer_withdrawn", "driver_cancels", "stalls", "slow", "rate_limited", "unavailable", "duplicate_event"]
CarType = Literal["regular", "comfort", "family"]
RideType = Literal["standard", "intercity"]
OnDriverCancel = Literal["rebid"]
Need = Literal["wheelchair", "child_seat", "pet", "large_luggage", "assistance"]


class NewRidePickup(TypedDict):
    lat: float
    """Latitude in degrees."""
    lng: float
    """Longitude in degrees."""
    address: NotRequired[Optional[str]]
    """Shown to the driver."""


NewRideDestination = NewRidePickup


class NewRidePassenger(TypedDict):
    name: NotRequired[Optional[str]]
    """Their name."""
    phone: NotRequired[Optional[str]]
    """Their phone number."""
    locale: NotRequired[Optional[str]]
    """The language that they read, as a BCP 47 tag such as `es-MX`."""


class NewRideNotifyContactsItem(TypedDict):
    name: NotRequired[Optional[str]]
    """Their name."""
    phone: str
    """Their phone number, in E.164 form."""
    locale: NotRequired[Optional[str]]
    """The language that they read, as a BCP 47 tag such as `es-MX`."""


class NewRideNotify(TypedDict):
    passenger: NotRequired[Optional[bool]]
    """The passenger gets text messages. Then `passenger.phone` must be a number in E.164 form."""
    contacts: NotRequired[Optional[List[NewRideNotifyContactsItem]]]
    """Others who are told that a driver was found, and how the ride ended."""


class NewRideAutoAccept(TypedDict):
    maxPrice: float
    """The highest price to accept, in USD."""
    maxEtaMinutes: NotRequired[Optional[float]]
    """The longest time to the pickup, in minutes. Default: no limit."""
    waitSeconds: NotRequired[Optional[int]]
    """The time to wait after the first offer within these limits; then the best one is accepted. Default: the first one is accepted at once."""


class NewRide(TypedDict):
    pickup: NewRidePickup
    """The start of the ride."""
    destination: NewRideDestination
    """The end of the ride; may equal the pickup."""
    fare: float
    """The price that you offer, in USD. Drivers accept it or ask for more."""
    carType: NotRequired[Optional[CarType]]
    """The kind of car."""
    rideType: NotRequired[Optional[RideType]]
    """Within a city, or between cities."""
    passengerCount: NotRequired[Optional[int]]
    """Number of passengers."""
    distanceKm: NotRequired[Optional[float]]
    """Length of the trip. Default: the great-circle distance, rounded to two decimals."""
    passenger: NotRequired[Optional[NewRidePassenger]]
    """The passenger, shown to the chosen driver."""
    notify: NotRequired[Optional[NewRideNotify]]
    """Who gets text messages about the ride ([Text messages](https://rides.example/docs/messages)). Default: what the key says, which is nobody at first."""
    notes: NotRequired[Optional[str]]
    """A note to the driver."""
    reference: NotRequired[Optional[str]]
    """Your own name for the ride, such as a booking number. You can list rides by it; it need not be unique."""
    metadata: NotRequired[Optional[Dict[str, Optional[str]]]]
    """Your own entries, each a name with a text of at most 100 characters. A name is a letter and up to 39 more letters, digits, underscores and dashes."""
    autoAccept: NotRequired[Optional[NewRideAutoAccept]]
    """An offer within these limits is accepted automatically."""
    pickupAt: NotRequired[Optional[int]]
    """The time of the pickup, as Unix time in milliseconds: 15 minutes to 30 days ahead. Default: as soon as possible."""
    onDriverCancel: NotRequired[Optional[OnDriverCancel]]
    """`rebid`: if the driver cancels, a new ride with the same request replaces this one."""
    needs: NotRequired[Optional[List[Need]]]
    """What the car and its driver must be able to serve: `wheelchair`, `child_seat`, `pet`, `large_luggage`, `assistance`. Only such drivers are asked."""
    floor: NotRequired[Optional[int]]
    """The floor where the passenger waits, shown to the chosen driver."""
    pin: NotRequired[Optional[bool]]
    """The driver can start the trip only with a PIN of four digits, which the passenger sees on the live map."""
    webhookUrl: NotRequired[Optional[str]]
    """The URL for this ride's events, instead of the key's default URL. HTTPS, to a public address."""


class RideCreatedAutoAccept(TypedDict):
    maxPrice: float
    """The highest price to accept, in USD."""
    maxEtaMinutes: NotRequired[float]
    """The longest time to the pickup, in minutes. Present if you gave it."""
    waitSeconds: NotRequired[int]
    """The time to wait for better offers, in seconds. Present if you gave it."""


class RideCreated(TypedDict):
    rideId: str
    """The id of the ride."""
    status: Literal["bidding"]
    """A new ride waits for offers."""
    fare: float
    """The fare that you offer, in USD."""
    carType: CarType
    """The kind of car."""
    distanceKm: float
    """Length of the trip, in km: your value, or the great-circle distance."""
    trackUrl: str
    """URL of the public live map. It needs no key."""
    pickupAt: NotRequired[int]
    """The time of the pickup, as Unix time in milliseconds. Present if you gave one."""
    biddingOpensAt: NotRequired[int]
    """From when drivers are asked, as Unix time in milliseconds. Present with `pickupAt`."""
    onDriverCancel: NotRequired[OnDriverCancel]
    """If the driver cancels, a new ride replaces this one. Present if you asked for it."""
    autoAccept: NotRequired[RideCreatedAutoAccept]
    """Your limits for automatic acceptance. Present if you gave them."""
    needs: NotRequired[List[Need]]
    """The needs of the ride. Present if you gave any."""
    floor: NotRequired[int]
    """The floor where the passenger waits. Present if you gave one."""
    reference: NotRequired[str]
    """Your own name for the ride. Present if you gave one."""
    metadata: NotRequired[Dict[str, str]]
    """Your own entries, sorted by name. Present if you gave any."""
    testMode: NotRequired[Literal[True]]
    """`true` for a ride created with a test key; absent otherwise."""


class ErrorBody(TypedDict):
    error: str
    """The error, for people to read. Programs use `X-Service-Error`."""


RideStatus = Literal["bidding", "driver_arriving", "arrived", "in_progress", "completed", "cancelled"]
EtaSource = Literal["route", "estimate"]
CancelledBy = Literal["partner", "driver", "timeout"]
CancelReason = Literal["no_offers", "no_show", "no_progress", "driver", "partner"]


class RideRating(TypedDict):
    """The passenger’s rating of the ride. Absent until the passenger has rated it."""

    stars: int
    """The stars, 5 for the best ride."""
    comment: NotRequired[str]
    """The passenger’s comment. Absent if there is none, or once the ride is erased."""
    at: int
    """When the ride was rated, as Unix time in milliseconds."""


class ListedRidePickup(TypedDict):
    lat: float
    """Latitude in degrees."""
    lng: float
    """Longitude in degrees."""
    address: NotRequired[str]
    """The address as you gave it."""


ListedRideDestination = ListedRidePickup


class ListedRideDriver(TypedDict):
    name: str
    """Name of the driver."""
    phone: str
    """Phone number of the driver."""
    rating: float
    """Rating of the driver, up to 5."""
    vehicle: str
    """Model and colour of the car."""
    plate: str
    """Licence plate of the car."""


class ListedRideEta(TypedDict):
    minutes: int
    """Whole minutes until then, rounded up."""
    at: int
    """The expected time, as Unix time in milliseconds."""
    source: EtaSource
    """`route`: from the road to drive. `estimate`: from the great circle, or from what the driver has promised."""


ListedRideAutoAccept = RideCreatedAutoAccept


class ListedRideStepsItem(TypedDict):
    status: RideStatus
    """A status of the ride."""
    at: int
    """The time since which the ride had this status, as Unix time in milliseconds."""


class ListedRide(TypedDict):
    """A ride as the list shows it."""

    rideId: str
    """The id of the ride."""
    status: RideStatus
    """The status of the ride."""
    fare: float
    """The fare that you offer, in USD."""
    carType: CarType
    """The kind of car."""
    passengerCount: int
    """Number of passengers."""
    distanceKm: float
    """Length of the trip, in km: your value, or the great-circle distance."""
    offersCount: int
    """Number of offers that the ride has received, including withdrawn ones."""
    driversAsked: NotRequired[int]
    """The number of drivers to whom the live ride was opened. Absent in test mode, and once the ride is erased."""
    pickup: ListedRidePickup
    """The start of the ride."""
    destination: ListedRideDestination
    """The end of the ride."""
    driver: NotRequired[ListedRideDriver]
    """The driver. Present once an offer is accepted."""
    agreedPrice: NotRequired[float]
    """The price of the accepted offer, in USD. Present once an offer is accepted."""
    eta: NotRequired[ListedRideEta]
    """When the car is expected at the pickup, or at the destination. Present in `driver_arriving` and `in_progress`."""
    trackUrl: str
    """URL of the public live map. It needs no key."""
    cancelledBy: NotRequired[CancelledBy]
    """The party that cancelled the ride. Present once it is cancelled."""
    cancelReason: NotRequired[CancelReason]
    """Why the ride was cancelled. `no_offers`: no offer was accepted in time. `no_show`: the trip did not start after the driver had arrived. `no_progress`: the driver did not arrive, or the trip did not end. `driver`, `partner`: one of them cancelled. Present once it is cancelled."""
    replacedBy: NotRequired[str]
    """The id of the ride that replaces this one, because the driver cancelled. Present if there is one."""
    replaces: NotRequired[str]
    """The id of the ride that this ride replaces, because its driver cancelled. Present on such a ride."""
    rating: NotRequired[RideRating]
    pickupAt: NotRequired[int]
    """The time of the pickup, as Unix time in milliseconds. Present if you gave one."""
    biddingOpensAt: NotRequired[int]
    """From when drivers are asked, as Unix time in milliseconds. Present with `pickupAt`."""
    onDriverCancel: NotRequired[OnDriverCancel]
    """If the driver cancels, a new ride replaces this one. Present if you asked for it."""
    autoAccept: NotRequired[ListedRideAutoAccept]
    """Your limits for automatic acceptance. Present if you gave them."""
    needs: NotRequired[List[Need]]
    """The needs of the ride. Present if you gave any."""
    floor: NotRequired[int]
    """The floor where the passenger waits. Present if you gave one."""
    reference: NotRequired[str]
    """Your own name for the ride. Present if you gave one."""
    metadata: NotRequired[Dict[str, str]]
    """Your own entries, sorted by name. Present if you gave any."""
    testMode: NotRequired[Literal[True]]
    """`true` for a ride created with a test key; absent otherwise."""
    createdAt: int
    """The time of creation, as Unix time in milliseconds."""
    biddingEndsAt: int
    """The end of the bidding time, also after an offer was accepted, as Unix time in milliseconds."""
    statusAt: int
    """The time since which the ride has its status, as Unix time in milliseconds."""
    steps: List[ListedRideStepsItem]
    """Every status that the ride has had, in order. The last one is `status`."""


class RideList(TypedDict):
    rides: List[ListedRide]
    """The newest first, without live locations."""
    nextCursor: Optional[str]
    """The `cursor` of the next page; `null` on the last one."""


class DriverMessage(TypedDict):
    """A message to the driver."""

    number: int
    """The number of the message in the ride, from 1."""
    text: str
    """The text."""
    at: int
    """When it was sent, as Unix time in milliseconds."""
    seenAt: NotRequired[int]
    """When the driver had seen it. Absent before, as Unix time in milliseconds."""


MovingStatus = Literal["driver_arriving", "arrived", "in_progress"]
RidePickup = ListedRidePickup
RideDestination = ListedRidePickup
RideDriver = ListedRideDriver
RideEta = ListedRideEta
RideAutoAccept = RideCreatedAutoAccept
RideStepsItem = ListedRideStepsItem


class RideLiveLocation(TypedDict):
    lat: float
    """Latitude in degrees."""
    lng: float
    """Longitude in degrees."""
    heading: float
    """Degrees clockwise from north."""
    status: MovingStatus
    """The status of the ride."""
    at: int
    """The time of this position, as Unix time in milliseconds."""


class Ride(ListedRide):
    pin: NotRequired[str]
    """The PIN without which the driver cannot start the trip. Present if you asked for one."""
    messages: NotRequired[List[DriverMessage]]
    """Your messages to the driver, in order. Absent without any."""
    liveLocation: NotRequired[RideLiveLocation]
    """Position of the car. Present in `driver_arriving`, `arrived` and `in_progress`."""


class OfferDriver(TypedDict):
    name: str
    """Name of the driver."""
    rating: float
    """Rating of the driver, up to 5."""
    plate: str
    """Licence plate of the car."""
    vehicle: str
    """Model and colour of the car."""


class Offer(TypedDict):
    """An offer of one driver for a ride."""

    offerId: str
    """The id of the offer. Send it to accept the offer."""
    price: float
    """The price that the driver asks, in USD."""
    etaMinutes: float
    """The driver's estimate of the minutes until arrival at the pickup."""
    driver: OfferDriver
    """The driver who made the offer. The phone number is shown once you accept."""


class OfferList(TypedDict):
    rideId: str
    """The id of the ride."""
    offers: List[Offer]
    """While the ride is `bidding`: all live offers, the cheapest first. Afterwards: only the accepted offer. None once the ride is cancelled."""


class OfferChoice(TypedDict):
    offerId: str
    """An `offerId` from the list of offers."""


class OfferAccepted(TypedDict):
    success: Literal[True]
    """Always `true`: a failure has another status."""
    rideId: str
    """The id of the ride."""
    status: MovingStatus
    """`driver_arriving`; if you accept the same offer again, the current status."""


ChangedTermsDestination = NewRidePickup
ChangedTermsPassenger = NewRidePassenger


class ChangedTerms(TypedDict):
    destination: NotRequired[Optional[ChangedTermsDestination]]
    """The new end of the ride, while it is `bidding`."""
    passengerCount: NotRequired[Optional[int]]
    """Number of passengers, while it is `bidding`."""
    pickupAt: NotRequired[Optional[int]]
    """The time of the pickup, as Unix time in milliseconds: 15 minutes to 30 days ahead. Default: as soon as possible."""
    needs: NotRequired[Optional[List[Need]]]
    """What the car and its driver must be able to serve: `wheelchair`, `child_seat`, `pet`, `large_luggage`, `assistance`. Only such drivers are asked."""
    floor: NotRequired[Optional[int]]
    """The floor where the passenger waits, shown to the chosen driver."""
    passenger: NotRequired[Optional[ChangedTermsPassenger]]
    """The passenger, shown to the chosen driver."""
    notes: NotRequired[Optional[str]]
    """A note to the driver."""
    reference: NotRequired[Optional[str]]
    """Your own name for the ride, such as a booking number. You can list rides by it; it need not be unique."""
    metadata: NotRequired[Optional[Dict[str, Optional[str]]]]
    """Your own entries, each a name with a text of at most 100 characters. A name is a letter and up to 39 more letters, digits, underscores and dashes."""
    webhookUrl: NotRequired[Optional[str]]
    """The URL for this ride's events, instead of the key's default URL. HTTPS, to a public address."""


class RideChanged(TypedDict):
    success: Literal[True]
    """Always `true`: a failure has another status."""
    rideId: str
    """The id of the ride."""
    status: RideStatus
    """The status of the ride."""


class NewFare(TypedDict):
    fare: float
    """The new fare, in USD: not below the current one."""


class FareRaised(TypedDict):
    success: Literal[True]
    """Always `true`: a failure has another status."""
    rideId: str
    """The id of the ride."""
    status: Literal["bidding"]
    """The ride waits for offers."""
    fare: float
    """The fare that you offer, in USD."""


class RideCancelled(TypedDict):
    success: Literal[True]
    """Always `true`: a failure has another status."""
    rideId: str
    """The id of the ride."""
    status: Literal["cancelled"]
    """The ride has ended."""


class DriverMessageText(TypedDict):
    text: str
    """The message, at most 300 characters."""


class DriverTold(RideChanged):
    number: int
    """The number of the message in the ride, from 1."""


FareBasis = Literal["rides", "tariff", "sample"]


class FareHintPerKm(TypedDict):
    lower: float
    """A quarter of the trips cost less."""
    median: float
    """Half of the trips cost less."""
    upper: float
    """A quarter of the trips cost more."""


FareHintFare = FareHintPerKm


class FareHint(TypedDict):
    carType: CarType
    """The kind of car."""
    distanceKm: float
    """The great-circle distance."""
    basis: Optional[FareBasis]
    """`rides`: completed rides of several partners. `tariff`: the tariff of the service, if too few rides are known. `sample`: the fixed sample for a test key. `null`: no hint."""
    perKm: Optional[FareHintPerKm]
    """In USD per km; `null` without a hint."""
    fare: Optional[FareHintFare]
    """The same for this distance, in USD. With a tariff, this includes the base fare."""


EventName = Literal["offer.received", "ride.status"]


class OfferReceivedEvent(TypedDict):
    """A driver made an offer on a bidding ride."""

    event: Literal["offer.received"]
    """The name of the event."""
    rideId: str
    """The id of the ride."""
    offer: Offer
    offersCount: int
    """Number of offers the ride has received, this one included."""
    fare: float
    """The fare that you offer, in USD."""
    trackUrl: str
    """URL of the public live map. It needs no key."""
    at: int
    """The time of the event, as Unix time in milliseconds. Later than the `at` of the previous event."""
    pickupAt: NotRequired[int]
    """The time of the pickup, as Unix time in milliseconds. Present if you gave one."""
    biddingOpensAt: NotRequired[int]
    """From when drivers are asked, as Unix time in milliseconds. Present with `pickupAt`."""
    replaces: NotRequired[str]
    """The id of the ride that this ride replaces, because its driver cancelled. Present on such a ride."""
    reference: NotRequired[str]
    """Your own name for the ride. Present if you gave one."""
    metadata: NotRequired[Dict[str, str]]
    """Your own entries, sorted by name. Present if you gave any."""
    testMode: NotRequired[Literal[True]]
    """`true` for a ride created with a test key; absent otherwise."""
    eventId: str
    """The id of the event, as in `X-Service-Event-Id`."""
    sequence: int
    """Number of the event within its ride, from 1, without gaps, as in `X-Service-Sequence`."""


EventStatus = Literal["driver_arriving", "arrived", "in_progress", "completed", "cancelled"]


class RideStatusEventDriver(TypedDict):
    name: str
    """Name of the driver."""
    phone: str
    """Phone number of the driver."""
    plate: str
    """Licence plate of the car."""
    vehicle: str
    """Model and colour of the car."""


class RideStatusEvent(TypedDict):
    """The status of a ride changed."""

    event: Literal["ride.status"]
    """The name of the event."""
    rideId: str
    """The id of the ride."""
    status: EventStatus
    """The new status of the ride."""
    fare: float
    """The fare that you offer, in USD."""
    driver: Optional[RideStatusEventDriver]
    """The driver of the accepted offer; `null` if none was accepted."""
    trackUrl: str
    """URL of the public live map. It needs no key."""
    at: int
    """The time of the event, as Unix time in milliseconds. Later than the `at` of the previous event."""
    agreedPrice: NotRequired[float]
    """The price of the accepted offer, in USD. Present once an offer is accepted."""
    cancelledBy: NotRequired[CancelledBy]
    """The party that cancelled the ride. Present once it is cancelled."""
    cancelReason: NotRequired[CancelReason]
    """Why the ride was cancelled. `no_offers`: no offer was accepted in time. `no_show`: the trip did not start after the driver had arrived. `no_progress`: the driver did not arrive, or the trip did not end. `driver`, `partner`: one of them cancelled. Present once it is cancelled."""
    replacedBy: NotRequired[str]
    """The id of the ride that replaces this one, because the driver cancelled. Present if there is one."""
    pickupAt: NotRequired[int]
    """The time of the pickup, as Unix time in milliseconds. Present if you gave one."""
    biddingOpensAt: NotRequired[int]
    """From when drivers are asked, as Unix time in milliseconds. Present with `pickupAt`."""
    replaces: NotRequired[str]
    """The id of the ride that this ride replaces, because its driver cancelled. Present on such a ride."""
    reference: NotRequired[str]
    """Your own name for the ride. Present if you gave one."""
    metadata: NotRequired[Dict[str, str]]
    """Your own entries, sorted by name. Present if you gave any."""
    testMode: NotRequired[Literal[True]]
    """`true` for a ride created with a test key; absent otherwise."""
    eventId: str
    """The id of the event, as in `X-Service-Event-Id`."""
    sequence: int
    """Number of the event within its ride, from 1, without gaps, as in `X-Service-Sequence`."""


DeliveryOutcome = Literal["delivered", "failed", "timeout", "blocked", "no_url"]


class FeedEventDelivery(TypedDict):
    outcome: DeliveryOutcome
    """`delivered`: your receiver answered with a 2xx in time. With any other outcome it may not have the event."""
    at: int
    """The time of the attempt, as Unix time in milliseconds."""
    durationMs: int
    """The duration of the attempt, in milliseconds."""
    httpStatus: NotRequired[int]
    """The status of your receiver's answer. Present if it answered."""
    reason: NotRequired[str]
    """The reason for a failure, as a short code for people to read. Present if one is known."""


class FeedEvent(TypedDict):
    """An event and its delivery."""

    eventId: str
    """The id of the event, as in `X-Service-Event-Id`."""
    rideId: str
    """The id of the ride."""
    seq: int
    """Number of the event within its ride, from 1, without gaps, as in `X-Service-Sequence`."""
    event: EventName
    """The name of the event."""
    at: int
    """The time of the event, as Unix time in milliseconds."""
    body: Optional[Union[OfferReceivedEvent, RideStatusEvent]]
    """The body that is sent to your webhook URL: one of [these events](https://rides.example/docs/reference#events). `null` once it is erased."""
    delivery: Optional[FeedEventDelivery]
    """The delivery to your webhook URL; `null` until it is recorded."""
    requestId: NotRequired[str]
    """The `X-Request-Id` of your request that caused the event. Present if one did."""


class EventPage(TypedDict):
    events: List[FeedEvent]
    """Ordered by time, then by ride."""
    cursor: Optional[str]
    """The `after` of your next request. `null` until the key has its first event."""
    hasMore: bool
    """True if you can read the next page immediately."""


ResendOutcome = Literal["waiting", "delivered", "failed", "timeout", "blocked", "no_url"]


class EventResend(TypedDict):
    """A resend of an event."""

    attemptId: str
    """The id of the attempt, which the dashboard shows too."""
    seq: int
    """Number of the event within its ride, from 1, without gaps, as in `X-Service-Sequence`."""
    requestedAt: int
    """The time for which it was requested, as Unix time in milliseconds."""
    outcome: ResendOutcome
    """`waiting`: it is not sent yet. The others are those of a `delivery`."""
    httpStatus: NotRequired[int]
    """The status of your receiver's answer. Present if it answered."""
    reason: NotRequired[str]
    """The reason for a failure, as a short code for people to read. Present if one is known."""


class RideEvents(TypedDict):
    rideId: str
    """The id of the ride."""
    events: List[FeedEvent]
    """Ordered by `seq`."""
    resends: List[EventResend]
    """The resends of all events of the ride, in the order in which they were requested."""


class EventResent(TypedDict):
    success: Literal[True]
    """Always `true`: a failure has another status."""
    rideId: str
    """The id of the ride."""
    eventId: str
    """The id of the event, as in `X-Service-Event-Id`."""
    sequence: int
    """Number of the event within its ride, from 1, without gaps, as in `X-Service-Sequence`."""
    attemptId: str
    """The id of the attempt, which the dashboard shows too."""


SentEvent = Literal["offer.received", "ride.status", "offer.withdrawn"]


class WebhookEndpoint(TypedDict):
    endpointId: str
    """The id of a webhook endpoint."""
    url: str
    """The URL to which the events are sent."""
    events: List[SentEvent]
    """The events that are sent to it."""
    enabled: bool
    """`false` while it is turned off in the dashboard."""


class WebhookEndpointList(TypedDict):
    endpoints: List[WebhookEndpoint]
    """The default URL of the key first, if it has one: its `endpointId` is `default`."""


class NewWebhookEndpoint(TypedDict):
    url: str
    """Where to send the events. HTTPS, to a public address."""
    events: NotRequired[Optional[List[SentEvent]]]
    """The events to send. Default, also for an empty list: `offer.received` and `ride.status`."""


class WebhookEndpointAdded(WebhookEndpoint):
    success: Literal[True]
    """Always `true`: a failure has another status."""
    signingSecret: str
    """The secret that signs what is sent to this endpoint. Store it: the API does not show it again."""


class WebhookEndpointDeleted(TypedDict):
    success: Literal[True]
    """Always `true`: a failure has another status."""
    endpointId: str
    """The id of a webhook endpoint."""


class StatementMonth(TypedDict):
    month: str
    """A month in UTC."""
    closed: bool
    """True once no further trips are added, an hour after the end of the month."""


class StatementList(TypedDict):
    statements: List[StatementMonth]
    """Each month since the first ride of the key, the newest first."""


StatementTrip = TypedDict("StatementTrip", {"rideId": "str", "endedAt": "int", "agreedPrice": "float", "reference": "NotRequired[str]", "from": "NotRequired[str]", "to": "NotRequired[str]"})


class Statement(StatementMonth):
    trips: int
    """The number of completed rides of the key in the month."""
    total: float
    """The sum of their prices, in USD."""
    lines: List[StatementTrip]
    """A page of these rides, ordered by their ends."""
    nextCursor: Optional[str]
    """The `cursor` of the next page; `null` on the last one."""


class UsageDay(TypedDict):
    day: str
    """The day in UTC."""
    rides: int
    """The rides that were created on it."""


class Usage(TypedDict):
    rides: int
    """The rides that were created with the key in these days."""
    days: List[UsageDay]
    """Each day, the oldest first."""


class ManualOffer(TypedDict):
    price: NotRequired[Optional[float]]
    """The driver's price, in USD. Default: the price in the ride's scenario."""
    etaMinutes: NotRequired[Optional[float]]
    """Minutes until the driver can be at the pickup."""


class ManualOfferMade(TypedDict):
    success: Literal[True]
    """Always `true`: a failure has another status."""
    rideId: str
    """The id of the ride."""
    status: Literal["bidding"]
    """The ride waits for offers."""
    offerId: str
    """The id of the offer. Send it to accept the offer."""


class StepTaken(TypedDict):
    success: Literal[True]
    """Always `true`: a failure has another status."""
    rideId: str
    """The id of the ride."""
    status: RideStatus
    """The status after the step."""


class ManualStart(TypedDict):
    pin: NotRequired[Optional[str]]
    """The PIN of the passenger. Needed for a ride with a PIN."""


class WebhookSources(TypedDict):
    addresses: List[str]
    """IPv4 and IPv6 addresses and ranges in CIDR notation. Empty if they are not fixed."""


class ServiceInformation(TypedDict):
    name: str
    """Name of the service."""
    version: Literal["v1"]
    """Version of the API."""
    docs: str
    """Address of this documentation."""
    endpoints: List[str]
    """Method and path of the five basic operations, relative to the base address."""
    additionalEndpoints: List[str]
    """Method and path of every other operation. The list may grow."""


class OfferWithdrawnEvent(TypedDict):
    """An offer on a bidding ride was withdrawn. Sent only to webhook endpoints that ask for it."""

    event: Literal["offer.withdrawn"]
    """The name of the event."""
    rideId: str
    """The id of the ride."""
    offer: Offer
    fare: float
    """The fare that you offer, in USD."""
    trackUrl: str
    """URL of the public live map. It needs no key."""
    at: int
    """When the offer was withdrawn, as Unix time in milliseconds."""
    pickupAt: NotRequired[int]
    """The time of the pickup, as Unix time in milliseconds. Present if you gave one."""
    biddingOpensAt: NotRequired[int]
    """From when drivers are asked, as Unix time in milliseconds. Present with `pickupAt`."""
    replaces: NotRequired[str]
    """The id of the ride that this ride replaces, because its driver cancelled. Present on such a ride."""
    reference: NotRequired[str]
    """Your own name for the ride. Present if you gave one."""
    metadata: NotRequired[Dict[str, str]]
    """Your own entries, sorted by name. Present if you gave any."""
    testMode: NotRequired[Literal[True]]
    """`true` for a ride created with a test key; absent otherwise."""
    eventId: str
    """The id of the event, as in `X-Service-Event-Id`."""


RideEvent = Union[OfferReceivedEvent, RideStatusEvent]
ReceivedEvent = Union[OfferReceivedEvent, RideStatusEvent, OfferWithdrawnEvent]


class Operations(Caller):
    """A method for each operation of the API.

    `try_seconds` says how long a call is tried while the service does not answer or asks to
    wait. Without it, the setting of the client applies.
    """

    def create_ride(self, body: NewRide, *, idempotency_key: Optional[str] = None, test_scenario: Optional[TestScenario] = None, try_seconds: Optional[float] = None) -> RideCreated:
        """Create a ride."""
        answer: RideCreated = self._send("POST", "/v1/rides", try_seconds, headers={"Idempotency-Key": idempotency_key or str(uuid.uuid4()), "X-Service-Test-Scenario": test_scenario}, body=body)
        return answer

    def list_rides(self, *, status: Optional[RideStatus] = None, created_after: Optional[int] = None, created_before: Optional[int] = None, reference: Optional[str] = None, limit: Optional[int] = None, cursor: Optional[str] = None, try_seconds: Optional[float] = None) -> RideList:
        """List your rides."""
        answer: RideList = self._send("GET", "/v1/rides", try_seconds, query={"status": status, "createdAfter": created_after, "createdBefore": created_before, "reference": reference, "limit": limit, "cursor": cursor})
        return answer

    def all_rides(self, *, status: Optional[RideStatus] = None, created_after: Optional[int] = None, created_before: Optional[int] = None, reference: Optional[str] = None, limit: Optional[int] = None, cursor: Optional[str] = None, try_seconds: Optional[float] = None) -> Iterator[ListedRide]:
        """Yield the rides of `list_rides`, page after page."""
        while True:
            page = self.list_rides(status=status, created_after=created_after, created_before=created_before, reference=reference, limit=limit, cursor=cursor, try_seconds=try_seconds)
            yield from page["rides"]
            cursor = page["nextCursor"]
            if cursor is None:
                return

    def retrieve_ride(self, ride_id: str, *, try_seconds: Optional[float] = None) -> Ride:
        """Retrieve a ride."""
        answer: Ride = self._send("GET", f"/v1/rides/{_quote(ride_id)}", try_seconds)
        return answer

    def change_ride(self, ride_id: str, body: ChangedTerms, *, try_seconds: Optional[float] = None) -> RideChanged:
        """Change a ride."""
        answer: RideChanged = self._send("PATCH", f"/v1/rides/{_quote(ride_id)}", try_seconds, body=body)
        return answer

    def list_offers(self, ride_id: str, *, try_seconds: Optional[float] = None) -> OfferList:
        """List the offers."""
        answer: OfferList = self._send("GET", f"/v1/rides/{_quote(ride_id)}/offers", try_seconds)
        return answer

    def accept_offer(self, ride_id: str, body: OfferChoice, *, try_seconds: Optional[float] = None) -> OfferAccepted:
        """Accept an offer."""
        answer: OfferAccepted = self._send("POST", f"/v1/rides/{_quote(ride_id)}/accept", try_seconds, body=body)
        return answer

    def raise_fare(self, ride_id: str, body: NewFare, *, try_seconds: Optional[float] = None) -> FareRaised:
        """Raise the fare."""
        answer: FareRaised = self._send("POST", f"/v1/rides/{_quote(ride_id)}/fare", try_seconds, body=body)
        return answer

    def cancel_ride(self, ride_id: str, *, try_seconds: Optional[float] = None) -> RideCancelled:
        """Cancel a ride."""
        answer: RideCancelled = self._send("POST", f"/v1/rides/{_quote(ride_id)}/cancel", try_seconds)
        return answer

    def tell_driver(self, ride_id: str, body: DriverMessageText, *, try_seconds: Optional[float] = None) -> DriverTold:
        """Write to the driver."""
        answer: DriverTold = self._send("POST", f"/v1/rides/{_quote(ride_id)}/messages", try_seconds, body=body)
        return answer

    def retrieve_fare_hint(self, *, pickup: str, destination: str, car_type: Optional[CarType] = None, try_seconds: Optional[float] = None) -> FareHint:
        """Get a fare hint."""
        answer: FareHint = self._send("GET", "/v1/fare-hint", try_seconds, query={"pickup": pickup, "destination": destination, "carType": car_type})
        return answer

    def list_events(self, *, after: Optional[str] = None, limit: Optional[int] = None, wait_seconds: Optional[int] = None, try_seconds: Optional[float] = None) -> EventPage:
        """Read the event feed."""
        answer: EventPage = self._send("GET", "/v1/events", try_seconds, query={"after": after, "limit": limit, "waitSeconds": wait_seconds})
        return answer

    def list_ride_events(self, ride_id: str, *, after: Optional[int] = None, wait_seconds: Optional[int] = None, try_seconds: Optional[float] = None) -> RideEvents:
        """List the events of a ride."""
        answer: RideEvents = self._send("GET", f"/v1/rides/{_quote(ride_id)}/events", try_seconds, query={"after": after, "waitSeconds": wait_seconds})
        return answer

    def resend_event(self, ride_id: str, sequence: int, *, try_seconds: Optional[float] = None) -> EventResent:
        """Resend an event."""
        answer: EventResent = self._send("POST", f"/v1/rides/{_quote(ride_id)}/events/{_quote(sequence)}/resend", try_seconds)
        return answer

    def list_webhook_endpoints(self, *, try_seconds: Optional[float] = None) -> WebhookEndpointList:
        """List your webhook endpoints."""
        answer: WebhookEndpointList = self._send("GET", "/v1/webhook-endpoints", try_seconds)
        return answer

    def add_webhook_endpoint(self, body: NewWebhookEndpoint, *, try_seconds: Optional[float] = None) -> WebhookEndpointAdded:
        """Add a webhook endpoint."""
        answer: WebhookEndpointAdded = self._send("POST", "/v1/webhook-endpoints", try_seconds, body=body)
        return answer

    def delete_webhook_endpoint(self, endpoint_id: str, *, try_seconds: Optional[float] = None) -> WebhookEndpointDeleted:
        """Delete a webhook endpoint."""
        answer: WebhookEndpointDeleted = self._send("DELETE", f"/v1/webhook-endpoints/{_quote(endpoint_id)}", try_seconds)
        return answer

    def list_statements(self, *, try_seconds: Optional[float] = None) -> StatementList:
        """List your statements."""
        answer: StatementList = self._send("GET", "/v1/statements", try_seconds)
        return answer

    def retrieve_statement(self, month: str, *, limit: Optional[int] = None, cursor: Optional[str] = None, try_seconds: Optional[float] = None) -> Statement:
        """Retrieve a statement."""
        answer: Statement = self._send("GET", f"/v1/statements/{_quote(month)}", try_seconds, query={"limit": limit, "cursor": cursor})
        return answer

    def all_statement_lines(self, month: str, *, limit: Optional[int] = None, cursor: Optional[str] = None, try_seconds: Optional[float] = None) -> Iterator[StatementTrip]:
        """Yield the lines of `retrieve_statement`, page after page."""
        while True:
            page = self.retrieve_statement(month, limit=limit, cursor=cursor, try_seconds=try_seconds)
            yield from page["lines"]
            cursor = page["nextCursor"]
            if cursor is None:
                return

    def download_statement(self, month: str, *, try_seconds: Optional[float] = None) -> str:
        """Download a statement."""
        answer: str = self._send("GET", f"/v1/statements/{_quote(month)}/trips.csv", try_seconds)
        return answer

    def retrieve_usage(self, *, from_: Optional[str] = None, to: Optional[str] = None, try_seconds: Optional[float] = None) -> Usage:
        """Retrieve your usage."""
        answer: Usage = self._send("GET", "/v1/usage", try_seconds, query={"from": from_, "to": to})
        return answer

    def offer_manually(self, ride_id: str, body: Optional[ManualOffer] = None, *, try_seconds: Optional[float] = None) -> ManualOfferMade:
        """Make an offer manually."""
        answer: ManualOfferMade = self._send("POST", f"/v1/test/rides/{_quote(ride_id)}/offer", try_seconds, body=body or {})
        return answer

    def withdraw_manually(self, ride_id: str, body: OfferChoice, *, try_seconds: Optional[float] = None) -> StepTaken:
        """Withdraw an offer manually."""
        answer: StepTaken = self._send("POST", f"/v1/test/rides/{_quote(ride_id)}/withdraw", try_seconds, body=body)
        return answer

    def open_manually(self, ride_id: str, *, try_seconds: Optional[float] = None) -> StepTaken:
        """Open the bidding manually."""
        answer: StepTaken = self._send("POST", f"/v1/test/rides/{_quote(ride_id)}/open", try_seconds)
        return answer

    def arrive_manually(self, ride_id: str, *, try_seconds: Optional[float] = None) -> StepTaken:
        """Arrive manually."""
        answer: StepTaken = self._send("POST", f"/v1/test/rides/{_quote(ride_id)}/arrive", try_seconds)
        return answer

    def start_manually(self, ride_id: str, body: Optional[ManualStart] = None, *, try_seconds: Optional[float] = None) -> StepTaken:
        """Start manually."""
        answer: StepTaken = self._send("POST", f"/v1/test/rides/{_quote(ride_id)}/start", try_seconds, body=body or {})
        return answer

    def complete_manually(self, ride_id: str, *, try_seconds: Optional[float] = None) -> StepTaken:
        """Complete manually."""
        answer: StepTaken = self._send("POST", f"/v1/test/rides/{_quote(ride_id)}/complete", try_seconds)
        return answer

    def cancel_manually(self, ride_id: str, *, try_seconds: Optional[float] = None) -> StepTaken:
        """Cancel manually."""
        answer: StepTaken = self._send("POST", f"/v1/test/rides/{_quote(ride_id)}/cancel", try_seconds)
        return answer

    def expire_manually(self, ride_id: str, *, try_seconds: Optional[float] = None) -> StepTaken:
        """Time out manually."""
        answer: StepTaken = self._send("POST", f"/v1/test/rides/{_quote(ride_id)}/expire", try_seconds)
        return answer

    def list_webhook_sources(self, *, try_seconds: Optional[float] = None) -> WebhookSources:
        """List the source addresses of webhooks."""
        answer: WebhookSources = self._send("GET", "/v1/webhook-sources", try_seconds)
        return answer

    def retrieve_service_information(self, *, try_seconds: Optional[float] = None) -> ServiceInformation:
        """Service information."""
        answer: ServiceInformation = self._send("GET", "/v1", try_seconds)
        return answer


def _quote(value: Any) -> str:
    return quote(str(value), safe="")
