import { type CarType, type Need, needWords } from '../../shared/base/terms.ts';
import type { RideStatus } from '../../shared/rides/ride-types.ts';
import type { ShownOutcome, ShownRequest, ShownRide } from '../drivers/fields.ts';
import type { Action, Step } from './actions.ts';

/** The texts of the driver's page. Pure. */

const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
export const money = (amount: number): string => dollars.format(amount);
export const kilometers = (km: number): string => `${km.toFixed(1)} km`;
/**
 * The `tel:` URL of a number, or undefined for a text without digits. Keeps only digits and a leading `+`, so that a
 * partner's text cannot make the phone dial a service code.
 */
export function callAddress(phone: string): string | undefined {
  const [, plus = '', digits = ''] = /^[^\d+]*(\+?)(.*)$/s.exec(phone) ?? [];
  const number = digits.replace(/\D/g, '');
  return number ? `tel:${plus}${number}` : undefined;
}

const people = (count: number): string => (count === 1 ? '1 passenger' : `${count} passengers`);

const carWords: Record<CarType, string> = { regular: 'Any car', comfort: 'Comfort car', family: 'Family car' };

export const kindOf = ({ carType, rideType, needs }: Pick<ShownRequest, 'carType' | 'rideType' | 'needs'>): string =>
  [
    carWords[carType],
    ...(rideType === 'intercity' ? ['between cities'] : []),
    ...(needs ? [`needs: ${listOf(needs)}`] : []),
  ].join(', ');

const listOf = (needs: readonly Need[]): string => needs.map((need) => needWords[need]).join(', ');

/** The needs of the driver's ride, and the partner's notes; empty if there are neither. */
export const notesOf = ({ needs, notes }: Pick<ShownRide, 'needs' | 'notes'>): string =>
  [...(needs ? [`Needs: ${listOf(needs)}`] : []), ...(notes ? [notes] : [])].join('. ');

/** A duration in minutes and seconds, from one hour on also in hours. */
export function timeLeft(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const rest = String(seconds % 60).padStart(2, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}

/** The text that a screen reader reads for a new request. */
export const requestWords = ({ fare, pickupKm, distanceKm, passengerCount }: ShownRequest): string =>
  `New request: ${money(fare)}, ${kilometers(pickupKm)} to the pickup, ${kilometers(distanceKm)} trip, ${people(passengerCount)}`;

/** The texts of a ride's screen in each status, and its next step. */
export const rideWords: Partial<Record<RideStatus, { title: string; step: Step; button: string }>> = {
  driver_arriving: { title: 'Drive to the pickup', step: 'arrive', button: 'Arrived' },
  arrived: { title: 'Wait for the passenger', step: 'start', button: 'Start trip' },
  in_progress: { title: 'Drive to the destination', step: 'complete', button: 'Complete' },
};

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
    case 'offline':
      return 'Go offline';
    case 'step':
      return stepWords[action.step];
  }
}

export interface Result {
  title: string;
  text: string;
}

/** The texts when the driver has ended a ride. */
export const endedBySelf = (step: 'complete' | 'cancel', { agreedPrice }: ShownRide): Result =>
  step === 'complete'
    ? { title: 'Trip completed', text: `${money(agreedPrice)} for this ride.` }
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
