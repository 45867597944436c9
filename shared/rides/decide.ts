import type { Config } from '../base/config.ts';
import { AppError } from '../base/errors.ts';
import { newOfferId, newRideId } from '../base/ids.ts';
import type { EventName, SimulatorStep, TimerName } from '../base/terms.ts';
import type { MessageKind } from '../messages/message-kinds.ts';
import {
  assertTripOpen,
  changedFields,
  changedOpening,
  changedTimers,
  newTerms,
  removedTerms,
} from './changed-fields.ts';
import { isRepeat, notesWith } from './driver-notes.ts';
import { openedFields } from './first-timers.ts';
import { messageFields } from './message-fields.ts';
import { askTimer, isWithinLimits } from './offers.ts';
import { waitsToOpen } from './opening.ts';
import type { CancelledBy, ChangedTerms, Driver, Offer, Origin, Ride, RideState, Timer } from './ride-types.ts';
import { routeTimers, simulatedLeg } from './simulated-leg.ts';
import { offerStepOf, simulatedTimers } from './simulation.ts';
import { getsSuccessor } from './successor.ts';
import { cancelReasonOf, hasEnded, type RideAction, transitionOf } from './transitions.ts';

/** An action of the lifecycle table with its arguments. */
export type Command =
  | { action: 'offer'; driver: Driver; price: number; etaMinutes: number; newId?: string }
  | { action: 'withdrawOffer' | 'accept'; offerId: string }
  | { action: 'raiseFare'; fare: number }
  /** `unfit`: drivers whose offers are withdrawn, and from whose requests the ride disappears. */
  | { action: 'change'; terms: ChangedTerms; unfit: ReadonlySet<string>; origin?: Origin }
  | { action: 'tellDriver'; text: string; origin?: Origin }
  | { action: 'open' | 'arrive' | 'start' | 'complete' }
  | { action: 'cancel'; by: CancelledBy };

/** The change that a command makes. One update writes it, on condition that the ride is unchanged since it was read. */
export interface Change {
  set: Partial<RideState> & Pick<Ride, 'searchTerms'>;
  /** The fields that the ride loses. */
  unset?: readonly (keyof ChangedTerms)[];
  newOffer?: Offer;
  event?: EventName;
  /** The write must reach MongoDB before the bidding deadline, by MongoDB's clock. */
  beforeDeadline?: true;
}

/** A ride receives at most this many offers (contract, section 3). */
export const maxOffers = 50;
/** A driver can make at most this many offers on a ride, withdrawn ones included, and so leaves some to others. */
const maxOffersPerDriver = 3;

/** The settings that timers depend on. */
type Timing = Pick<
  Config,
  'pickupTimeoutMs' | 'tripTimeoutMs' | 'simulationSpeed' | 'biddingTimeoutMs' | 'scheduleLeadMs' | 'routing'
>;

/**
 * When a change is made. `at` dates its event: later than the ride's last event, also after MongoDB's clock was set back.
 * `now` is MongoDB's clock, from which deadlines, timers and legs count: they must not wait until the clock reaches `at`.
 */
export interface ChangeTimes {
  at: Date;
  now: Date;
}

/**
 * Decides how a command changes a ride at a given time (contract, section 3). Returns null if nothing changes: the
 * accepted offer is accepted again, or the ride already has an offer with this id or this fare. Throws AppError (404 or
 * 409) if the command is not allowed. `fired` is the timer that issued the command. Pure.
 */
export function decide(
  ride: RideState,
  command: Command,
  { at, now }: ChangeTimes,
  timing: Timing,
  fired?: TimerName,
): Change | null {
  const { action } = command;
  if (command.action === 'accept' && isAccepted(ride, command.offerId)) return null;
  // Stryker disable next-line ConditionalExpression: only an offer has a newId
  if (command.action === 'offer' && ride.offers.some(({ offerId }) => offerId === command.newId)) return null;
  assertAllowed(ride, action, now);
  // Stryker disable next-line ConditionalExpression: only this command has a fare
  if (command.action === 'raiseFare' && command.fare === ride.fare) return null;
  const changesTrip = command.action === 'change' && assertTripOpen(ride, command.terms, now);
  if (command.action === 'change' && newTerms(ride, command.terms).length === 0) return null;
  if (command.action === 'tellDriver' && isRepeat(ride, command, now)) return null;

  const transition = transitionOf(action);
  const newStatus =
    transition.to === 'same' || transition.to === ride.status ? {} : { status: transition.to, statusAt: at };
  const newTimers = timersAfter(ride, command, now, timing);
  const replaced = new Set([fired, stepOf(ride, command), ...newTimers.map(({ name }) => name)]);
  const kept = transition.timers === 'keep' ? ride.timers.filter(({ name }) => !replaced.has(name)) : [];
  const change: Change = {
    set: {
      ...fieldsSetBy(ride, command, { at, now }, timing),
      ...newStatus,
      ...messageFields(ride, messageOf(ride, command), now, [...kept, ...newTimers]),
    },
    ...(transition.event && { event: transition.event }),
    ...((transition.beforeDeadline || changesTrip) && { beforeDeadline: true }),
  };
  if (command.action === 'change') change.unset = removedTerms(ride, command.terms);
  if (command.action === 'offer') change.newOffer = newOffer(ride, command, at);
  return change;
}

function isAccepted(ride: RideState, offerId: string): boolean {
  // An unknown offer is a 404 in every status of the ride (contract, section 4.4).
  if (!ride.offers.some((offer) => offer.offerId === offerId)) throw new AppError('offer_not_found');
  return ride.acceptedOfferId === offerId && !hasEnded(ride.status);
}

function assertAllowed(ride: RideState, action: RideAction, now: Date): void {
  const { from, beforeDeadline, bidding } = transitionOf(action);
  if (!from.includes(ride.status)) {
    if (action === 'tellDriver' && ride.status === 'bidding') throw new AppError('no_driver');
    if (action === 'cancel' || action === 'change' || action === 'tellDriver') throw new AppError('ride_ended');
    throw new AppError(from.includes('bidding') && action !== 'open' ? 'ride_not_bidding' : 'illegal_step');
  }
  if (bidding === 'closed' && !waitsToOpen(ride)) throw new AppError('illegal_step');
  if (bidding === 'open' && waitsToOpen(ride)) throw new AppError('bidding_not_open');
  if (beforeDeadline && now >= ride.biddingEndsAt) throw new AppError('bidding_over');
}

/** The fields that the command sets, except status and timers. */
function fieldsSetBy(ride: RideState, command: Command, { at, now }: ChangeTimes, timing: Timing): Change['set'] {
  switch (command.action) {
    case 'open':
      return { openedAt: now, ...openedFields(ride, now, timing) };
    case 'withdrawOffer':
      return { offers: withdrawn(ride, command.offerId, at) };
    case 'accept': {
      const { offerId, driver, price } = liveOffer(ride, command.offerId);
      return { acceptedOfferId: offerId, agreedPrice: price, driver, ...simulatedLeg(ride, 'accept', now, timing) };
    }
    case 'raiseFare':
      return raisedFare(ride, command.fare, at);
    case 'change':
      return { ...changedFields(ride, command, at), ...changedOpening(ride, command.terms, now, timing) };
    case 'tellDriver':
      return { driverNotes: notesWith(ride, command, now) };
    case 'start':
      return simulatedLeg(ride, 'start', now, timing);
    case 'cancel':
      return {
        cancelledBy: command.by,
        cancelReason: cancelReasonOf(command.by, ride.status),
        ...(getsSuccessor(ride, command.by) && { nextRideId: newRideId(now.getTime()) }),
      };
    // Stryker disable next-line ConditionalExpression: undefined sets no field either
    default:
      return {};
  }
}

function raisedFare({ fare: present, firstFare = present }: RideState, fare: number, at: Date): Partial<RideState> {
  // Stryker disable next-line EqualityOperator: decide has returned for an equal fare
  if (fare < present) throw new AppError('fare_not_higher');
  return { fare, firstFare, fareRaisedAt: at };
}

function liveOffer(ride: RideState, offerId: string): Offer {
  const offer = ride.offers.find((candidate) => candidate.offerId === offerId);
  if (!offer) throw new AppError('offer_not_found');
  if (offer.withdrawnAt) throw new AppError('offer_withdrawn');
  return offer;
}

function withdrawn(ride: RideState, offerId: string, at: Date): Offer[] {
  const offer = liveOffer(ride, offerId);
  return ride.offers.map((other) => (other === offer ? { ...offer, withdrawnAt: at } : other));
}

function newOffer(ride: RideState, command: Command & { action: 'offer' }, at: Date): Offer {
  const { driver, price, etaMinutes, newId: offerId = newOfferId() } = command;
  const own = ride.offers.filter((offer) => offer.driver.driverId === driver.driverId);
  if (own.some(({ withdrawnAt }) => !withdrawnAt)) throw new AppError('offer_exists');
  // A test ride has only simulated drivers.
  if (ride.mode === 'live' && own.length >= maxOffersPerDriver) throw new AppError('driver_offers_full');
  if (ride.offers.length >= maxOffers) throw new AppError('offers_full');
  return { offerId, price, etaMinutes, driver, at };
}

/** The timer that would send this command. Once anyone has sent the command, the timer is no longer needed. */
const stepOf = (ride: RideState, command: Command): TimerName | undefined =>
  command.action === 'open' ? 'open' : scriptStep(ride, command);

function timersAfter(ride: RideState, command: Command, now: Date, timing: Timing): Timer[] {
  const { action } = command;
  const { timers } = transitionOf(action);
  if (action === 'open') return openedFields(ride, now, timing).timers;
  // The driver of a ride for later may be chosen long before the pickup.
  const from = Math.max(now.getTime(), ride.pickupAt?.getTime() ?? 0);
  const stall: Timer[] =
    timers === 'keep' || timers === 'none' ? [] : [{ name: 'stall', dueAt: new Date(from + timing[timers]) }];
  const rebid: Timer[] =
    // Stryker disable next-line ConditionalExpression: only a cancellation has a party
    command.action === 'cancel' && getsSuccessor(ride, command.by) ? [{ name: 'rebid', dueAt: now }] : [];
  return [
    ...stall,
    ...rebid,
    ...routeTimers(ride, action, now, timing),
    ...(command.action === 'change' ? changedTimers(ride, command, now, timing) : []),
    ...(command.action === 'withdrawOffer' ? askTimer(ride, withdrawn(ride, command.offerId, now), now) : []),
    ...driverTimer(ride, action, now),
    ...acceptTimer(ride, command, now),
    ...simulatedTimers(ride, scriptStep(ride, command), now, timing),
  ];
}

/**
 * The step of a test ride's script that corresponds to a command, whoever sent it: the script also continues after a
 * partner's accept and after a manual step. Undefined for a command after which no script continues.
 */
function scriptStep(ride: RideState, command: Command): SimulatorStep | undefined {
  switch (command.action) {
    case 'offer':
      return offerStepOf(ride, command.driver);
    // Stryker disable StringLiteral,ConditionalExpression: no script has a step with these names
    case 'open':
    case 'withdrawOffer':
    case 'raiseFare':
    case 'change':
    case 'tellDriver':
    case 'cancel':
      return undefined;
    // Stryker restore StringLiteral,ConditionalExpression
    default:
      return command.action;
  }
}

/** The message that a command owes. */
function messageOf(ride: RideState, command: Command): MessageKind | undefined {
  if (command.action === 'cancel') return getsSuccessor(ride, command.by) ? 'replaced' : 'cancelled';
  return messagesOfActions[command.action];
}
const messagesOfActions: Partial<Record<RideAction, MessageKind>> = {
  accept: 'found',
  arrive: 'arrived',
  complete: 'completed',
};

/**
 * The `driver` timer, due at once, if a live ride gets or frees a driver, or leaves the requests of drivers. It runs
 * settleDriver, because other rides and the driver's availability depend on the change, and makes room in the requests.
 * A change of status keeps a `driver` timer that has not fired yet.
 */
function driverTimer(ride: RideState, action: RideAction, now: Date): Timer[] {
  const { to, timers } = transitionOf(action);
  // A live ride that ends after the bidding has a driver, so its status decides nothing then.
  const ends = to !== 'same' && hasEnded(to);
  const endsRequests = ride.status === 'bidding' && ends && (ride.asked ?? []).length > 0;
  const concernsDriver = action === 'accept' || endsRequests || (ride.driver !== undefined && ends);
  if (ride.mode === 'live' && concernsDriver) return [{ name: 'driver', dueAt: now }];
  // Stryker disable next-line ConditionalExpression,StringLiteral: a kept timer is not kept twice
  return timers === 'keep' ? [] : ride.timers.filter(({ name }) => name === 'driver');
}

/** Auto-accept waits no longer than until this time before the bidding deadline, so that its accept is in time. */
const acceptReserveMs = 5_000;

/** The `auto_accept` timer if an offer is within the limits: due at once, or `waitSeconds` after the first one. */
function acceptTimer({ autoAccept, timers, biddingEndsAt }: RideState, command: Command, now: Date): Timer[] {
  // Stryker disable next-line ConditionalExpression: other commands have no price, so they are not within the limits
  if (command.action !== 'offer' || !autoAccept || !isWithinLimits(autoAccept, command)) return [];
  const { waitSeconds = 0 } = autoAccept;
  const isWaiting = timers.some(({ name }) => name === 'auto_accept');
  if (waitSeconds > 0 && isWaiting) return [];
  const latest = Math.max(now.getTime(), biddingEndsAt.getTime() - acceptReserveMs);
  return [{ name: 'auto_accept', dueAt: new Date(Math.min(now.getTime() + waitSeconds * 1_000, latest)) }];
}
