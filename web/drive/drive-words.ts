import type { Point } from '../../shared/base/great-circle.ts';
import { type CarType, needWords } from '../../shared/base/terms.ts';
import type { ShownOutcome, ShownRequest, ShownRide } from '../../shared/rides/driver/driver-schemas.ts';
import { type LabelledName, labelledFields } from '../../shared/rides/fields.ts';
import type { RideStatus } from '../../shared/rides/ride-types.ts';
import type { Action, Step } from './actions.ts';
import { pickupWay, tripWay, type Way } from './directions.ts';

/** The texts of the driver's page. Pure. */

const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
export const money = (amount: number): string => dollars.format(amount);
export const kilometers = (km: number): string => `${km.toFixed(1)} km`;

/** The step of a counter-offer: about 5 % of the fare, as an amount that is easy to read. */
export function counterStep(fare: number): number {
  const exact = fare * 0.05;
  const unit = exact < 2 ? 0.25 : exact < 10 ? 0.5 : 5;
  return Math.max(unit, Math.round(exact / unit) * unit);
}

/** The URL that opens a place in the phone's maps. It contains the place, and nothing about the ride. */
export function mapAddress({ lat, lng }: Point, userAgent: string): string {
  const place = `${lat},${lng}`;
  return /iPhone|iPad|Macintosh/.test(userAgent) ? `https://maps.apple.com/?daddr=${place}` : `geo:${place}?q=${place}`;
}

const people = (count: number): string => (count === 1 ? '1 passenger' : `${count} passengers`);

const carWords: Record<CarType, string> = { regular: 'Any car', comfort: 'Comfort car', family: 'Family car' };

export const kindOf = ({ carType, rideType }: Pick<ShownRequest, 'carType' | 'rideType'>): string =>
  rideType === 'intercity' ? `${carWords[carType]}, between cities` : carWords[carType];

type Conditions = Pick<ShownRequest, 'pickupAt' | 'needs'>;

/**
 * When to be at the pickup: `Pickup at 9:30 PM`, or `Pickup Nov 24, 9:30 PM` on another day, in the zone of the reader.
 * Empty for a ride for now.
 */
export function pickupWords(
  { pickupAt }: Conditions,
  zone: { timeZone?: 'UTC'; timeZoneName?: 'short' } = {},
  now = Date.now(),
): string {
  if (pickupAt === undefined) return '';
  const formatted = (at: number, options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(zone.timeZone && 'en-US', { ...options, ...zone }).format(at);
  const time = { hour: 'numeric', minute: '2-digit' } as const;
  const day = { month: 'short', day: 'numeric' } as const;
  if (formatted(pickupAt, day) === formatted(now, day)) return `Pickup at ${formatted(pickupAt, time)}`;
  return `Pickup ${formatted(pickupAt, { ...day, ...time })}`;
}

/** `About 5 min`. Empty while the car does not drive. */
export const etaWords = ({ eta }: Pick<ShownRide, 'eta'>): string => (eta ? `About ${eta.minutes} min` : '');

/** `Needs: child seat, pet`. Empty without needs. */
const needsWords = ({ needs }: Conditions): string =>
  needs ? `Needs: ${needs.map((need) => needWords[need]).join(', ')}` : '';

/** The pickup time of a ride for later, and the needs, on separate lines. Most requests have neither. */
export const specialWords = (request: Conditions): string =>
  [pickupWords(request), needsWords(request)].filter(Boolean).join('\n');

/** The needs of the driver's ride, the fields that have only a label, and the partner's notes; empty if there are none. */
export function notesOf(ride: Pick<ShownRide, 'needs' | 'notes'> & Partial<Record<LabelledName, unknown>>): string {
  const labelled = labelledFields.map(({ name, label }) => ride[name] !== undefined && `${label}: ${ride[name]}`);
  return [needsWords(ride), ...labelled, ride.notes].filter(Boolean).join('. ');
}

/** A duration in minutes and seconds, from one hour on also in hours. */
export function timeLeft(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const rest = String(seconds % 60).padStart(2, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}

/** How long ago the service received the position; null if it has not yet. */
export function positionWords(agoMs: number | null): string {
  if (agoMs === null) return 'Position: not sent';
  if (agoMs < 5_000) return 'Position: now';
  if (agoMs < 60_000) return `Position: ${Math.floor(agoMs / 1_000)} s ago`;
  return 'Position: over a minute ago. You receive no requests.';
}

const wayWords = ({ km, words }: Way): string => (words ? `${kilometers(km)} ${words}` : kilometers(km));

/** The text that a screen reader reads for a new request. */
export const requestWords = (request: ShownRequest, place: Point | null): string =>
  [
    `New request: ${money(request.fare)}`,
    `pickup ${wayWords(pickupWay(request, place))}`,
    `trip ${wayWords(tripWay(request))}`,
    people(request.passengerCount),
    specialWords(request),
  ]
    .filter(Boolean)
    .join(', ');

interface RideWords {
  title: string;
  step: Step;
  button: string;
  /** The step cannot be undone: its button is held, or pressed and confirmed. */
  isHeld?: true;
}

/** The texts of a ride's screen in each status, and its next step. */
export const rideWords: Partial<Record<RideStatus, RideWords>> = {
  driver_arriving: { title: 'Drive to the pickup', step: 'arrive', button: 'Arrived' },
  arrived: { title: 'Wait for the passenger', step: 'start', button: 'Start trip' },
  in_progress: { title: 'Drive to the destination', step: 'complete', button: 'Complete', isHeld: true },
};

/** The questions before a step that cannot be undone. */
export const confirmWords = {
  complete: {
    title: 'Complete this trip?',
    text: 'The passenger has left the car. A completed trip cannot be changed.',
    keep: 'Not yet',
    button: 'Complete the trip',
  },
  cancel: {
    title: 'Cancel this ride?',
    text: 'The partner is notified. You will not be asked for this ride again.',
    keep: 'Keep the ride',
    button: 'Cancel the ride',
  },
} as const;

/** The place that the driver goes to next. */
export const nextStop = ({ status, pickup, destination }: Pick<ShownRide, 'status' | 'pickup' | 'destination'>) =>
  status === 'driver_arriving' ? pickup : destination;

/** The partner's address text, or else the coordinates. */
export const placeWords = ({ lat, lng, address }: ShownRide['pickup']): string =>
  address || `${lat.toFixed(5)}, ${lng.toFixed(5)}`;

const stepWords: Record<Step, string> = {
  arrive: 'Arrived',
  start: 'Start trip',
  complete: 'Complete',
  cancel: 'Cancel ride',
};

/** The name of an action in the list of unsent actions. */
export function actionWords(action: Action): string {
  switch (action.kind) {
    case 'offer':
      return `Offer ${money(action.price)}`;
    case 'withdraw':
      return 'Withdraw';
    case 'decline':
      return 'Decline';
    case 'offline':
      return 'Go offline';
    case 'step':
      return stepWords[action.step];
  }
}

export interface Result {
  title: string;
  /** The price of a completed trip. */
  amount?: string;
  text: string;
}

/** The texts when the driver has ended a ride. */
export const endedBySelf = (step: 'complete' | 'cancel', { agreedPrice, distanceKm }: ShownRide): Result =>
  step === 'complete'
    ? { title: 'Trip completed', amount: money(agreedPrice), text: kilometers(distanceKm) }
    : { title: 'You cancelled the ride', text: 'The partner is notified.' };

/** The texts when somebody else has ended the driver's ride; null while it continues. */
export function endedByOthers({ outcome, cancelledBy }: ShownOutcome): Result | null {
  if (outcome === 'completed') return { title: 'Trip completed', text: 'It was completed on another device.' };
  if (outcome === 'other_driver') return { title: 'The ride went to another driver', text: 'You are free again.' };
  if (outcome !== 'cancelled') return null;
  if (cancelledBy === 'partner') {
    return { title: 'The partner cancelled', text: 'This ride will not take place. You are free again.' };
  }
  if (cancelledBy === 'driver') return { title: 'The ride was cancelled', text: 'It was cancelled on your side.' };
  return { title: 'The ride was ended', text: 'It made no progress for too long, so the service cancelled it.' };
}

/** The text when a request with an offer of this driver has ended; null if none is needed. */
export function lostOffer({ outcome, cancelledBy }: ShownOutcome, isOver: boolean): string | null {
  if (outcome === 'other_driver') return 'The ride went to another driver';
  if (outcome === 'cancelled') return cancelledBy === 'partner' ? 'The partner cancelled' : 'Nobody was chosen in time';
  return outcome === 'open' && isOver ? 'The bidding time is over' : null;
}
