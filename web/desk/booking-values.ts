import { zoneOf } from '../../shared/base/place-zone.ts';
import { shownText } from '../../shared/base/shown-text.ts';
import { type Need, needs } from '../../shared/base/terms.ts';
import { earliestMs } from '../../shared/rides/opening.ts';
import type { Location, Ride } from '../../shared/rides/ride-types.ts';
import type { SentRequest } from '../kit/answer.ts';
import type { Faults } from '../kit/forms.tsx';
import { timeIn } from '../kit/lists.tsx';
import { labelledFaults, labelledTexts, requestBody } from '../kit/ride-request.ts';
import { coordinatesAsText } from '../kit/ride-words.ts';
import { timeOfClock } from '../kit/zone.ts';
import { chosenAs, type TripPlace } from './trip-places.ts';

/** The texts of the booking form's fields. `fromPoint` and `toPoint` are set if a person has chosen a place. */
export const emptyValues = {
  from: '',
  fromPoint: '',
  to: '',
  toPoint: '',
  when: 'now',
  /** The pickup time on the clocks of `zone`. A script sets the zone; without scripts it is UTC. */
  pickupTime: '',
  zone: '',
  passenger: '',
  phone: '',
  passengerLocale: '',
  texting: '',
  contact: '',
  pin: '',
  notes: '',
  car: 'regular',
  passengers: '1',
  rideType: 'standard',
  /** Names of needs, separated by spaces. */
  needs: '',
  rebid: 'rebid',
  ...labelledTexts(),
  reference: '',
  fare: '',
  /** The tokens of the doubts that were asked, separated by `|`. */
  asked: '',
};

export type BookingValues = typeof emptyValues;
type Field = keyof BookingValues;

const fields = Object.keys(emptyValues) as Field[];

/** The name of a need's checkbox. */
export const needField = (need: Need): string => `need_${need}`;

export function valuesIn({ text }: Pick<SentRequest, 'text'>): BookingValues {
  const typed = Object.fromEntries(fields.map((name) => [name, text(name)])) as BookingValues;
  return { ...typed, needs: needs.filter((need) => text(needField(need))).join(' ') };
}

/** The ways to book a ride of the account again, which the links of its page name. */
export const repeats = ['repeat', 'return', 'tomorrow'] as const;

/**
 * The form filled in from an earlier ride. `repeat` keeps a pickup time that can still be booked. `tomorrow` keeps the
 * clock time; a script computes it in the reader's zone.
 */
export function valuesOfRide(ride: Ride, how: (typeof repeats)[number], now: Date): BookingValues {
  const { passenger, notify, notes = '', reference = '', onDriverCancel = '' } = ride;
  const [from, to] = how === 'return' ? [ride.destination, ride.pickup] : [ride.pickup, ride.destination];
  return {
    ...emptyValues,
    from: textOf(from),
    fromPoint: chosenAs(from, textOf(from)),
    to: textOf(to),
    toPoint: chosenAs(to, textOf(to)),
    ...(how === 'tomorrow' && { when: 'later', pickupTime: tomorrowAt(ride, now) }),
    ...(how === 'repeat' && canKeepTime(ride, now) && { when: 'later', pickupTime: minuteOf(timeOfRide(ride)) }),
    passenger: passenger?.name ?? '',
    phone: passenger?.phone ?? '',
    passengerLocale: passenger?.locale ?? '',
    ...(notify?.passenger !== undefined && { texting: notify.passenger ? 'yes' : 'no' }),
    contact: notify?.contacts?.[0]?.phone ?? '',
    pin: ride.pin ? 'yes' : '',
    notes,
    ...labelledTexts(ride),
    car: ride.carType,
    passengers: String(ride.passengerCount),
    rideType: ride.rideType,
    needs: (ride.needs ?? []).join(' '),
    rebid: onDriverCancel,
    reference,
    fare: ride.fare.toFixed(2),
  };
}

/** A place as a field shows it. */
export const textOf = (place: Location): string => shownText(place.address ?? '').trim() || coordinatesAsText(place);

/** When a ride was for, which `tomorrow` repeats. */
export const timeOfRide = ({ pickupAt, createdAt }: Pick<Ride, 'pickupAt' | 'createdAt'>): Date =>
  pickupAt ?? createdAt;

/** True if the ride is for later, and its pickup is still early enough to be booked. */
export const canKeepTime = ({ pickupAt }: Pick<Ride, 'pickupAt'>, now: Date): boolean =>
  pickupAt !== undefined && Date.parse(`${minuteOf(pickupAt)}Z`) - now.getTime() >= earliestMs;

/** A time as the field shows it, in UTC: `2026-11-24T21:30`. */
const minuteOf = (at: Date): string => at.toISOString().slice(0, 16);

/** Every day of UTC has 24 hours. */
function tomorrowAt(ride: Ride, now: Date): string {
  const day = minuteOf(new Date(now.getTime() + 24 * 3_600_000)).slice(0, 10);
  return `${day}T${minuteOf(timeOfRide(ride)).slice(11)}`;
}

/**
 * The pickup's date and time as typed, stored as if the reader's clocks ran in UTC. Undefined for a ride for now, null if
 * the text is not a time.
 */
export const pickupClockIn = ({ when, pickupTime }: BookingValues): Date | undefined | null =>
  when === 'later' ? (timeIn(pickupTime.trim(), 'start') ?? null) : undefined;

/** The pickup time in Unix ms; undefined and null as for `pickupClockIn`. */
export function pickupTimeIn(values: BookingValues): number | undefined | null {
  const clock = pickupClockIn(values);
  return clock && timeOfClock(clock, zoneOf(values.zone)).getTime();
}

/** A typed fare with a decimal point: `$24,50` is `24.50`. */
const fareText = (fare: string): string =>
  fare
    .trim()
    .replace(/^\$\s*|\s*\$$/g, '')
    .replace(/^(\d+),(\d{1,2})$/, '$1.$2');

/** Why a typed fare is refused although the contract would accept it, or because its comma can mean two things. */
export function fareFault(fare: string): string | undefined {
  return /[.,]\d{3,}$/.test(fareText(fare))
    ? 'Enter the fare with at most two decimals, and without separators of thousands, such as 24.50'
    : undefined;
}

/** The body of the creation (contract, section 4.1), not validated yet. */
export function bodyOf(values: BookingValues, trip: Record<'from' | 'to', TripPlace>) {
  const at = pickupTimeIn(values);
  const texts: Record<string, string> = {
    ...values,
    fare: fareText(values.fare),
    carType: values.car,
    passengerCount: values.passengers,
    passengerName: values.passenger,
    passengerPhone: values.phone,
    pickupTime: at ? new Date(at).toISOString().slice(0, -1) : '',
    onDriverCancel: values.rebid,
  };
  const place = ({ lat, lng, address }: TripPlace) => ({ lat, lng, address });
  return {
    ...requestBody((field) => texts[field] ?? ''),
    pickup: place(trip.from),
    destination: place(trip.to),
  };
}

/** The fields of the form by the path in the request, and how a fault names them. */
const fieldsOfPaths: Record<string, readonly [field: Field, label: string]> = {
  ...labelledFaults,
  'pickup.lat': ['from', 'The latitude of “From”'],
  'pickup.lng': ['from', 'The longitude of “From”'],
  'pickup.address': ['from', 'The address of “From”'],
  'destination.lat': ['to', 'The latitude of “To”'],
  'destination.lng': ['to', 'The longitude of “To”'],
  'destination.address': ['to', 'The address of “To”'],
  pickupAt: ['pickupTime', 'The pickup time'],
  'passenger.name': ['passenger', 'The name of the passenger'],
  'passenger.phone': ['phone', 'The phone number'],
  'notify.contacts.0.phone': ['contact', 'The phone number of the relative'],
  'passenger.locale': ['passengerLocale', 'The language of the passenger'],
  notes: ['notes', 'The note'],
  carType: ['car', 'The car'],
  passengerCount: ['passengers', 'The number of passengers'],
  rideType: ['rideType', 'The ride type'],
  reference: ['reference', 'The reference'],
  fare: ['fare', 'The fare'],
};

/** The schema's faults by field of the form. */
export function fieldFaults(faults: Record<string, string>): Faults {
  return Object.fromEntries(
    Object.entries(faults).map(([path, fault]) => {
      const [field, label] = fieldsOfPaths[path] ?? ['fare', 'The request'];
      return [field, `${label} ${fault}`];
    }),
  );
}

/** The faults in the order of the form's fields. */
export const inFormOrder = (faults: Faults): Faults =>
  Object.fromEntries(fields.flatMap((field) => (faults[field] ? [[field, faults[field]]] : [])));
