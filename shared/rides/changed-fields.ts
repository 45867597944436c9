import type { Config } from '../base/config.ts';
import { AppError } from '../base/errors.ts';
import { greatCircleKm } from '../base/great-circle.ts';
import { fieldsIn, rowOf } from './fields.ts';
import { askTimer } from './offers.ts';
import { waitsToOpen } from './opening.ts';
import type { AskedDriver, ChangedTerms, Offer, Origin, Ride, RideState, Timer } from './ride-types.ts';
import { searchTermsOf } from './search-terms.ts';

/** What a change of a ride's request sets (contract, section 10.14). Pure. */

type TermName = keyof ChangedTerms;

/** True for what may change only while the ride is bidding, because drivers decide by it. */
const isOfTrip = (name: TermName): boolean =>
  name === 'destination' || name === 'passengerCount' || rowOf(name).changes === 'while bidding';

/** True if a change concerns the trip. Throws `ride_not_bidding` or `bidding_over` if it comes too late. */
export function assertTripOpen(ride: RideState, terms: ChangedTerms, now: Date): boolean {
  if (!newTerms(ride, terms).some(isOfTrip)) return false;
  if (ride.status !== 'bidding') throw new AppError('ride_not_bidding');
  if (now >= ride.biddingEndsAt) throw new AppError('bidding_over');
  return true;
}

/** The value of a term in the ride: an empty text or list removes it. */
const stored = <Value>(value: Value): Value | undefined =>
  value === '' || (Array.isArray(value) && value.length === 0) ? undefined : value;

/** The names of the terms that differ from the ride. */
export const newTerms = (ride: RideState, terms: ChangedTerms): TermName[] =>
  (Object.keys(terms) as TermName[]).filter(
    (name) => JSON.stringify(stored(terms[name])) !== JSON.stringify(stored(ride[name])),
  );

/** The names of the terms that a change removes from the ride. */
export const removedTerms = (ride: RideState, terms: ChangedTerms): TermName[] =>
  newTerms(ride, terms).filter((name) => stored(terms[name]) === undefined);

interface TermsChange {
  terms: ChangedTerms;
  /** Drivers whose offers are withdrawn, and from whose requests the ride disappears. */
  unfit: ReadonlySet<string>;
  origin?: Origin;
}

/** The fields after a change, except the opening of a ride for later. */
export function changedFields(
  ride: RideState,
  { terms, unfit, origin }: TermsChange,
  at: Date,
): Partial<RideState> & Pick<Ride, 'searchTerms'> {
  const names = newTerms(ride, terms);
  const changed: ChangedTerms = Object.fromEntries(names.map((name) => [name, stored(terms[name])]));
  const answered = Object.fromEntries(
    ([...fieldsIn('creation'), 'distanceKm', 'biddingOpensAt'] as const).map((name) => [name, ride[name] ?? null]),
  );
  return {
    ...Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== undefined)),
    ...(changed.destination && { distanceKm: greatCircleKm(ride.pickup, changed.destination) }),
    searchTerms: searchTermsOf({ ...ride, ...changed }),
    firstTerms: ride.firstTerms ?? answered,
    changes: [...(ride.changes ?? []), { at, fields: names, ...origin }].slice(-mostChanges),
    ...(unfit.size > 0 && { offers: offersWithout(ride, unfit, at) }),
    ...(ride.asked && { asked: askedAfter(ride, unfit, at) }),
  };
}

/** A ride remembers this many of its last changes. */
const mostChanges = 50;

/** The offers after those of these drivers are withdrawn. */
export const offersWithout = ({ offers }: RideState, unfit: ReadonlySet<string>, at: Date): Offer[] =>
  offers.map((offer) =>
    unfit.has(offer.driver.driverId) && !offer.withdrawnAt ? { ...offer, withdrawnAt: at } : offer,
  );

/** The drivers who were asked, after these have declined, or do not fit any more (`why`). */
export const askedWithout = (
  { asked = [] }: RideState,
  gone: ReadonlySet<string>,
  at: Date,
  why: Pick<AskedDriver, 'isUnfit'> = {},
): AskedDriver[] =>
  asked.map((driver) =>
    gone.has(driver.driverId) && !driver.declinedAt ? { ...driver, declinedAt: at, ...why } : driver,
  );

/** The drivers who were asked, after a change that these do not fit. Those who fit again may be asked again. */
const askedAfter = (ride: RideState, unfit: ReadonlySet<string>, at: Date) =>
  askedWithout(ride, unfit, at, { isUnfit: true }).filter(({ driverId, isUnfit }) => !isUnfit || unfit.has(driverId));

type Timing = Pick<Config, 'biddingTimeoutMs' | 'scheduleLeadMs'>;

/** When the bidding opens and ends after a change of `pickupAt`. A ride whose bidding has opened stays open. */
export function changedOpening(
  ride: RideState,
  { pickupAt }: ChangedTerms,
  now: Date,
  { biddingTimeoutMs, scheduleLeadMs }: Timing,
): Pick<Partial<RideState>, 'biddingOpensAt' | 'openedAt' | 'biddingEndsAt'> {
  if (!pickupAt) return {};
  if (!waitsToOpen(ride)) {
    const openedAt = ride.openedAt ?? ride.createdAt;
    return { biddingOpensAt: ride.biddingOpensAt ?? openedAt, openedAt };
  }
  const biddingOpensAt = new Date(Math.max(now.getTime(), pickupAt.getTime() - scheduleLeadMs));
  return { biddingOpensAt, biddingEndsAt: new Date(biddingOpensAt.getTime() + biddingTimeoutMs) };
}

/** The timers of a change: the new opening; the search for drivers if offers were withdrawn or more cars fit. */
export function changedTimers(ride: RideState, { terms, unfit }: TermsChange, now: Date, timing: Timing): Timer[] {
  const { biddingOpensAt } = changedOpening(ride, terms, now, timing);
  const fitsMore = ride.mode === 'live' && ride.status === 'bidding' && needsLess(ride, terms);
  return [
    ...(biddingOpensAt && waitsToOpen(ride) ? [{ name: 'open', dueAt: biddingOpensAt } as const] : []),
    ...(fitsMore ? [{ name: 'ask', dueAt: now } as const] : askTimer(ride, offersWithout(ride, unfit, now), now)),
  ];
}

const needsLess = (ride: RideState, { passengerCount = ride.passengerCount, needs = ride.needs }: ChangedTerms) =>
  passengerCount < ride.passengerCount || (ride.needs ?? []).some((need) => !needs?.includes(need));
