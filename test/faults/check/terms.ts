import type { Offer, Ride } from '../../../shared/rides/ride-types.ts';
import type { Fault } from '../faults-log.ts';
import type { Call, ManualStep } from '../load/request.ts';
import { groupBy } from './grouped.ts';
import { biddingEndOf, isCalm, promptMs, timeOf, tripOf } from './live-history.ts';

/**
 * Violations in auto-accept, raised fares, manual steps, shown steps, messages to drivers and PINs (contract, sections
 * 2.1, 10.4 to 10.6, 10.18 and 10.19).
 */
export function termViolations(rides: readonly Ride[], journal: readonly Call[], faults: readonly Fault[]): string[] {
  const byId = new Map(rides.map((ride) => [ride._id, ride]));
  const ofFares = journal.filter(({ operation }) => operation === 'raise' || operation === 'retrieve');
  const byRide = groupBy(ofFares, ({ rideId = '' }) => rideId);
  return [
    ...rides.flatMap((ride) => [
      ...autoAcceptViolations(ride, rides),
      ...missedOffers(ride, rides, faults),
      ...fareViolations(ride, byRide.get(ride._id) ?? []),
      ...stepViolations(ride, byRide.get(ride._id) ?? []),
    ]),
    ...journal.flatMap((call) => {
      if (call.status !== 200) return [];
      const ride = byId.get(call.rideId ?? '');
      if (call.operation === 'tell') return toldFault(call, ride);
      if (call.operation !== 'step') return [];
      if (call.pin && call.pin !== ride?.pinCode) return [`${call.rideId}: a wrong PIN started it`];
      const fault = stepFault(call, ride);
      return fault ? [`${call.rideId}: the step ${call.step} was acknowledged, but ${fault}`] : [];
    }),
  ];
}

const fits = ({ autoAccept }: Ride, { price, etaMinutes }: Offer): boolean =>
  autoAccept !== undefined &&
  price <= autoAccept.maxPrice &&
  etaMinutes <= (autoAccept.maxEtaMinutes ?? Number.POSITIVE_INFINITY);

/** Whether the driver of a live offer had another ride at some time between `from` and `until`. */
const isBusy = ({ driver }: Offer, ride: Ride, rides: readonly Ride[], from: number, until: number): boolean =>
  ride.mode === 'live' &&
  rides.some((other) => {
    const isOther = other !== ride && other.mode === 'live' && other.driver?.driverId === driver.driverId;
    const trip = isOther && tripOf(other);
    return trip && trip.from <= until && trip.until >= from;
  });

/**
 * Auto-accept must accept the first offer that fits and whose driver is free, or with `waitSeconds` the best one, and no
 * other.
 */
function autoAcceptViolations(ride: Ride, rides: readonly Ride[]): string[] {
  const event = ride.events.find(({ by, body }) => by === 'auto_accept' && JSON.parse(body).status !== undefined);
  if (!event) return [];
  const at = event.at.getTime();
  const accepted = ride.offers.find(({ offerId }) => offerId === ride.acceptedOfferId);
  if (!ride.autoAccept) return [`${ride._id}: auto-accept accepted an offer, but it was not requested`];
  if (!accepted || !fits(ride, accepted)) return [`${ride._id}: auto-accept accepted an offer that does not fit`];
  if (at < firstAcceptAt(ride)) return [`${ride._id}: auto-accept did not wait for better offers`];
  const candidates =
    ride.autoAccept.waitSeconds === undefined
      ? ride.offers.slice(0, ride.offers.indexOf(accepted))
      : ride.offers.filter((offer) => offer.at.getTime() < at && isBetter(offer, accepted));
  const skipped = candidates.find((offer) => {
    const isLive = !offer.withdrawnAt || offer.withdrawnAt.getTime() > at;
    return isLive && fits(ride, offer) && !isBusy(offer, ride, rides, at - promptMs, at);
  });
  return skipped ? [`${ride._id}: auto-accept skipped the offer ${skipped.offerId}, which fits`] : [];
}

const isBetter = (one: Offer, other: Offer): boolean =>
  one.price < other.price || (one.price === other.price && one.etaMinutes < other.etaMinutes);

/** When auto-accept may accept an offer that was made at `from`, if no earlier offer fits. */
const acceptableFrom = ({ autoAccept, biddingEndsAt }: Ride, from: number): number =>
  Math.max(from, Math.min(from + (autoAccept?.waitSeconds ?? 0) * 1_000, biddingEndsAt.getTime() - 5_000));

function firstAcceptAt(ride: Ride): number {
  const first = ride.offers.find((offer) => fits(ride, offer));
  return first ? acceptableFrom(ride, first.at.getTime()) : 0;
}

/** Auto-accept must not miss an offer that fits, stays open for some seconds, and whose driver is free. */
function missedOffers(ride: Ride, rides: readonly Ride[], faults: readonly Fault[]): string[] {
  return ride.offers.flatMap((offer) => {
    if (!fits(ride, offer) || offer.offerId === ride.acceptedOfferId) return [];
    const from = acceptableFrom(ride, offer.at.getTime());
    const until = Math.min(biddingEndOf(ride), offer.withdrawnAt?.getTime() ?? Number.POSITIVE_INFINITY);
    const isLeft = until - from > promptMs && !isBusy(offer, ride, rides, until - promptMs, until);
    return isLeft && isCalm(faults, from, until)
      ? [`${ride._id}: auto-accept ignored the offer ${offer.offerId} for ${until - from} ms`]
      : [];
  });
}

/** A fare must only rise, only to a requested value, and never fall below an acknowledged one. */
function fareViolations(ride: Ride, calls: readonly Call[]): string[] {
  const raises = calls.filter(({ operation }) => operation === 'raise');
  if (raises.length === 0) return [];
  const first = ride.firstFare ?? ride.fare;
  const acknowledged = raises.filter(({ status }) => status === 200);
  const asked = [first, ...raises.flatMap(({ fare }) => fare ?? [])];
  const least = Math.max(first, ...acknowledged.map(({ fare = 0 }) => fare));
  const looks = calls.filter(({ operation, status }) => operation === 'retrieve' && status === 200);
  return [
    ...(ride.fare < least ? [`${ride._id}: the fare ${least} was acknowledged, but it is ${ride.fare}`] : []),
    ...(asked.includes(ride.fare) ? [] : [`${ride._id}: the fare is ${ride.fare}, which nobody requested`]),
    ...looks.flatMap(({ at, body }) => {
      const before = acknowledged.filter((raise) => raise.at + raise.ms < at);
      const highest = Math.max(first, ...before.map(({ fare = 0 }) => fare));
      return body.fare < highest ? [`${ride._id}: showed the fare ${body.fare} after ${highest} was acknowledged`] : [];
    }),
  ];
}

/** A retrieved ride must show the first of its steps, as its events have them, and no other. */
function stepViolations({ _id, createdAt, events }: Ride, calls: readonly Call[]): string[] {
  const changes = events.map(({ body }) => JSON.parse(body)).filter(({ event }) => event === 'ride.status');
  const steps = [{ status: 'bidding', at: createdAt.getTime() }, ...changes].map(({ status, at }) => `${status} ${at}`);
  return calls.flatMap(({ operation, status, body }) => {
    if (operation !== 'retrieve' || status !== 200) return [];
    const shown: string[] = body.steps.map((step: { status: string; at: number }) => `${step.status} ${step.at}`);
    const isRight = shown.join() === steps.slice(0, shown.length).join() && shown.at(-1)?.startsWith(body.status);
    return isRight ? [] : [`${_id}: showed the steps ${shown}, but had ${steps}`];
  });
}

/** An acknowledged message must be there once, however often it was sent. */
function toldFault({ words }: Call, ride: Ride | undefined): string[] {
  const found = ride?.driverNotes?.filter(({ text }) => text === words).length ?? 0;
  return found === 1 ? [] : [`${ride?._id}: has an acknowledged message to the driver ${found} times`];
}

function stepFault({ step, offerId, body }: Call, ride: Ride | undefined): string | undefined {
  if (!ride) return 'there is no such ride';
  const offer = ride.offers.find((each) => each.offerId === (offerId ?? body?.offerId));
  const cancelledBy = ride.status === 'cancelled' ? ride.cancelledBy : undefined;
  const faults: Record<ManualStep, string | false> = {
    open: ride.openedAt === undefined && 'the ride never opened',
    offer: !offer && 'the ride does not have the offer',
    withdraw: !offer?.withdrawnAt && 'the offer is not withdrawn',
    arrive: timeOf(ride, 'arrived') === undefined && 'the ride never was arrived',
    start: timeOf(ride, 'in_progress') === undefined && 'the ride never was in_progress',
    complete: timeOf(ride, 'completed') === undefined && 'the ride never was completed',
    cancel: cancelledBy !== 'driver' && 'the driver has not cancelled it',
    expire: cancelledBy !== 'timeout' && 'it was not cancelled by timeout',
  };
  return (step && faults[step]) || undefined;
}
