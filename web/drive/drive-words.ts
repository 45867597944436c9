import type { Point } from '../../shared/base/great-circle.ts';
import type { ShownOutcome, ShownRequest, ShownRide } from '../../shared/rides/driver/driver-schemas.ts';
import { type LabelledName, labelledFields } from '../../shared/rides/fields.ts';
import type { RideStatus } from '../../shared/rides/ride-types.ts';
import { pickupWay, tripWay, type Way } from '../kit/directions.ts';
import { directionOf, kilometersIn, type Language } from '../kit/message-format.ts';
import type { Action, FinalStep, Step } from './actions.ts';
import type { DriveKey } from './languages/drive-english.ts';

/** The texts of the driver's page. Pure: server and browser share it. */

export type DriveLanguage = Language<DriveKey>;

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

type Conditions = Pick<ShownRequest, 'pickupAt' | 'needs'>;

/** A duration in minutes and seconds, from one hour on also in hours. */
export function timeLeft(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const rest = String(seconds % 60).padStart(2, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}

interface RideWords {
  title: DriveKey;
  step: Step;
  /** The step cannot be undone: its button is held, or pressed and confirmed. */
  isHeld?: true;
}

/** The texts of a ride's screen in each status, and its next step. */
export const rideWords: Partial<Record<RideStatus, RideWords>> = {
  driver_arriving: { title: 'drive.pickup', step: 'arrive' },
  arrived: { title: 'drive.wait', step: 'start' },
  in_progress: { title: 'drive.destination', step: 'complete', isHeld: true },
};

/** The place that the driver goes to next. */
export const nextStop = ({ status, pickup, destination }: Pick<ShownRide, 'status' | 'pickup' | 'destination'>) =>
  status === 'driver_arriving' ? pickup : destination;

/** The partner's address text, or else the coordinates. */
export const placeWords = ({ lat, lng, address }: ShownRide['pickup']): string =>
  address || `${lat.toFixed(5)}, ${lng.toFixed(5)}`;

/** The reasons of refusals that a driver can cause, by the code of the error. */
const errorKeys: Readonly<Record<string, DriveKey>> = {
  ride_not_bidding: 'error.closed',
  bidding_over: 'error.time',
  offers_full: 'error.full',
  driver_offers_full: 'error.ownOffers',
  equipment_missing: 'error.equipment',
  on_a_ride: 'error.onRide',
  not_own_ride: 'lost.other',
  ride_ended: 'ended',
  ride_not_found: 'gone',
  offer_not_found: 'gone',
  illegal_step: 'error.step',
  wrong_pin: 'error.pin',
  pin_locked: 'error.pinLocked',
};

export interface Result {
  title: string;
  /** The price of a completed trip. */
  amount?: string;
  text: string;
}

/** The texts of the driver's page in a language. */
export function driveWords({ locale, text }: DriveLanguage) {
  // Where texts are read from the right, the amount would need invisible characters, which `setText` removes.
  const dollars = new Intl.NumberFormat(directionOf(locale) ? 'en-US' : locale, {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
  });
  const money = (amount: number): string => dollars.format(amount);
  const kilometers = (km: number): string => kilometersIn(locale, km);
  const listed = (words: readonly string[]): string =>
    words.reduce((first, second) => (first ? text('comma', { first, second }) : second), '');

  const kindOf = ({ carType, rideType }: Pick<ShownRequest, 'carType' | 'rideType'>): string =>
    rideType === 'intercity' ? text('car.intercity', { car: text(`car.${carType}`) }) : text(`car.${carType}`);

  /**
   * When to be at the pickup: `Pickup at 9:30 PM`, or `Pickup Nov 24, 9:30 PM` on another day, in the zone of the reader.
   * Empty for a ride for now.
   */
  function pickupWords(
    { pickupAt }: Conditions,
    zone: { timeZone?: 'UTC'; timeZoneName?: 'short' } = {},
    now = Date.now(),
  ): string {
    if (pickupAt === undefined) return '';
    const formatted = (at: number, options: Intl.DateTimeFormatOptions) =>
      new Intl.DateTimeFormat(locale, { ...options, ...zone }).format(at);
    const time = { hour: 'numeric', minute: '2-digit' } as const;
    const day = { month: 'short', day: 'numeric' } as const;
    if (formatted(pickupAt, day) === formatted(now, day)) return text('pickupAt', { time: formatted(pickupAt, time) });
    return text('pickupOn', { time: formatted(pickupAt, { ...day, ...time }) });
  }

  /** `Needs: child seat, pet`. Empty without needs. */
  const needsWords = ({ needs }: Conditions): string =>
    needs ? text('needs', { needs: listed(needs.map((need) => text(`need.${need}`))) }) : '';

  /** The pickup time of a ride for later, and the needs, on separate lines. Most requests have neither. */
  const specialWords = (request: Conditions): string =>
    [pickupWords(request), needsWords(request)].filter(Boolean).join('\n');

  const wayWords = ({ km, direction }: Way): string =>
    direction ? `${kilometers(km)} ${text('direction', { direction })}` : kilometers(km);

  return {
    locale,
    text,
    money,
    kilometers,
    listed,
    kindOf,
    pickupWords,
    specialWords,

    /** `About 5 min`. Empty while the car does not drive, and once it should be there. */
    etaWords: ({ eta }: Pick<ShownRide, 'eta'>): string => (eta?.minutes ? text('eta', { minutes: eta.minutes }) : ''),

    /** The needs of the driver's ride, the fields that have only a label, and the partner's notes; empty if there are none. */
    notesOf(ride: Pick<ShownRide, 'needs' | 'notes'> & Partial<Record<LabelledName, unknown>>): string {
      const labelled = labelledFields.map(
        ({ name }) => ride[name] !== undefined && `${text(`label.${name}`)}: ${ride[name]}`,
      );
      return [needsWords(ride), ...labelled, ride.notes].filter(Boolean).join('. ');
    },

    /** `agoMs`: how old the last position is that the service received; null before the first one. */
    positionWords(agoMs: number | null): string {
      if (agoMs === null) return text('position.none');
      if (agoMs < 5_000) return text('position.now');
      return agoMs < 60_000 ? text('position.seconds', { seconds: Math.floor(agoMs / 1_000) }) : text('position.old');
    },

    /** The text that a screen reader reads for a new request. */
    requestWords: (request: ShownRequest, place: Point | null): string =>
      listed(
        [
          text('request', { fare: money(request.fare) }),
          text('request.pickup', { way: wayWords(pickupWay(request, place)) }),
          text('request.trip', { way: wayWords(tripWay(request)) }),
          text('people', { count: request.passengerCount }),
          specialWords(request),
        ].filter(Boolean),
      ),

    /** The name of an action in the list of unsent actions. */
    actionWords(action: Action): string {
      if (action.kind === 'offer') return text('offer', { price: money(action.price) });
      if (action.kind === 'step') return text(`step.${action.step}`);
      return text(action.kind === 'offline' ? 'goOffline' : action.kind);
    },

    /** The reason of a refusal. A rare one is the service's own English text. */
    reasonOf({ code, error }: { code: string; error?: string }): string {
      const key = errorKeys[code];
      return key ? text(key) : (error ?? text('error.other'));
    },

    /** The texts when the driver has ended a ride. */
    endedBySelf: (step: FinalStep, { agreedPrice, distanceKm }: ShownRide): Result =>
      step === 'complete'
        ? { title: text('completed'), amount: money(agreedPrice), text: kilometers(distanceKm) }
        : { title: text('cancelled.self'), text: text('cancelled.self.text') },

    /** The texts when somebody else has ended the driver's ride; null while it continues. */
    endedByOthers({ outcome, cancelledBy }: ShownOutcome): Result | null {
      if (outcome === 'completed') return { title: text('completed'), text: text('completed.elsewhere') };
      if (outcome === 'other_driver') return { title: text('lost.other'), text: text('free') };
      if (outcome !== 'cancelled') return null;
      if (cancelledBy === 'partner') return { title: text('cancelled.partner'), text: text('cancelled.partner.text') };
      if (cancelledBy === 'driver') return { title: text('cancelled.driver'), text: text('cancelled.driver.text') };
      return { title: text('ended.service'), text: text('ended.service.text') };
    },

    /** The text when a request with an offer of this driver has ended; null if none is needed. */
    lostOffer({ outcome, cancelledBy }: ShownOutcome, isOver: boolean): string | null {
      if (outcome === 'other_driver') return text('lost.other');
      if (outcome === 'cancelled') return text(cancelledBy === 'partner' ? 'cancelled.partner' : 'lost.nobody');
      return outcome === 'open' && isOver ? text('lost.time') : null;
    },
  };
}

export type DriveWords = ReturnType<typeof driveWords>;
