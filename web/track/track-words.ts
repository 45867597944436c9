import { haversineKm } from '../../shared/base/great-circle.ts';
import { ratableAfterMs } from '../../shared/base/terms.ts';
import { lateMs } from '../../shared/rides/arrival.ts';
import { initialBearing } from '../../shared/rides/position.ts';
import type { RideStatus } from '../../shared/rides/ride-types.ts';
import { isMoving } from '../../shared/rides/transitions.ts';
import type { TrackState } from './track-state.ts';

/** The names of the steps in the list of steps. */
export const stepWords: Record<RideStatus, string> = {
  bidding: 'Requested',
  driver_arriving: 'Driver on the way',
  arrived: 'Driver at the pickup',
  in_progress: 'Trip under way',
  completed: 'Trip completed',
  cancelled: 'Ride cancelled',
};

/** The steps of a ride that is not cancelled. */
const steps: readonly RideStatus[] = ['bidding', 'driver_arriving', 'arrived', 'in_progress', 'completed'];

/** `2026-11-21 14:03 UTC`: for readers without scripts, and behind a local time. */
export const utcText = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

interface StepView {
  status: RideStatus;
  /** The start of the status, Unix ms; undefined for a later step. */
  at?: number;
  kind: 'passed' | 'present' | 'to-come';
}

/** The list of steps, including later ones unless the ride is cancelled. */
export function shownSteps(state: TrackState): StepView[] {
  const times = new Map(state.steps.map(({ status, at }) => [status, at]));
  const statuses = state.status === 'cancelled' ? [...times.keys()] : steps;
  return statuses.map((status) => {
    const at = times.get(status);
    return { status, at, kind: status === state.status ? 'present' : at === undefined ? 'to-come' : 'passed' };
  });
}

const startOf = ({ steps }: TrackState, status: RideStatus): number | undefined =>
  steps.find((step) => step.status === status)?.at;

/** The driver, except of a ride that was cancelled before its trip: nobody needs to find that car. */
export const shownDriver = (state: TrackState): TrackState['driver'] =>
  state.status === 'cancelled' && startOf(state, 'in_progress') === undefined ? undefined : state.driver;

/** If the last position report is older than this, the page shows no ETA. */
export const oldReportMs = 15_000;
/** If the last position report is older than this, the page says so. */
const lostReportMs = 120_000;

interface Words {
  /** The most important fact, and the largest text of the page. */
  headline: string;
  /** A clock time that belongs to the headline (Unix ms), with the words around it. */
  when?: { before: string; at: number; after?: string };
  /** The status in plain words. */
  status: string;
}

/**
 * The texts of a ride at a time (Unix ms, MongoDB's clock). Pure: server and browser share it.
 */
export function wordsFor(state: TrackState, now: number, zone: Zone = {}): Words {
  switch (state.status) {
    case 'bidding':
      if (state.opensAt && state.pickupAt) {
        return {
          headline: `Scheduled for ${timeText(state.pickupAt, now, zone)}`,
          status: `We ask nearby drivers from ${timeText(state.opensAt, now, zone)}.`,
        };
      }
      return { headline: 'Finding a driver', status: 'We are asking nearby drivers.' };
    case 'driver_arriving':
      return {
        ...(arrival(state, now) ?? { headline: 'Driver on the way' }),
        status: whereabouts(state, now, 'On the way to the pickup.'),
      };
    case 'arrived':
      return { headline: 'Driver is here', status: 'The car is waiting at the pickup.' };
    case 'in_progress':
      return {
        ...(arrival(state, now) ?? { headline: 'On the way' }),
        status: whereabouts(state, now, 'On the way to the destination.'),
      };
    case 'completed':
      return { headline: 'Trip completed', ...ending(state) };
    case 'cancelled':
      if (state.endedBy === 'replaced') {
        return { headline: 'Finding another driver', status: 'The driver cancelled. We are asking other drivers.' };
      }
      return { headline: 'Ride cancelled', status: cancellation(state) };
  }
}

/** Browsers use their own zone. The server shows UTC. */
interface Zone {
  locale?: string;
  timeZone?: 'UTC';
}

export const serverZone: Zone = { locale: 'en-US', timeZone: 'UTC' };

/** A time of day, such as `9:30 PM`, with the date if it is not today. */
function timeText(at: number, now: number, { locale, timeZone }: Zone): string {
  const day = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', timeZone });
  const time = new Intl.DateTimeFormat(locale, { hour: 'numeric', minute: '2-digit', timeZone }).format(at);
  const withZone = timeZone ? `${time} ${timeZone}` : time;
  return day.format(at) === day.format(now) ? withZone : `${day.format(at)}, ${withZone}`;
}

/** The words about the arrival, or null if nothing is known about it. */
function arrival(state: TrackState, now: number): Omit<Words, 'status'> | null {
  const { arrivesAt, eta, position, leg } = state;
  const isLate = arrivesAt !== undefined && now - arrivesAt >= lateMs;
  // Where no car is seen, the ETA of a late one is only "now".
  const isUnknown = !eta || isOld(state, now) || (isLate && (!position || leg));
  if (isUnknown) return isLate ? { headline: 'Running late' } : null;
  const at = Math.max(now, eta.at);
  const leftMs = at - now;
  if (leftMs < 30_000) return { headline: 'Arriving now' };
  return isLate
    ? { headline: 'Running late', when: { before: 'Now expected about', at, after: `, in ${minutes(leftMs)}` } }
    : { headline: `Arrives in ${minutes(leftMs)}`, when: { before: 'About', at } };
}

function minutes(ms: number): string {
  const total = Math.ceil(ms / 60_000);
  const [hours, rest] = [Math.floor(total / 60), total % 60];
  return [hours && `${hours} h`, rest && `${rest} min`].filter(Boolean).join(' ');
}

const isOld = ({ position, status }: TrackState, now: number): boolean =>
  position !== undefined && isMoving(status) && now - position.at > oldReportMs;

function whereabouts(state: TrackState, now: number, otherwise: string): string {
  const isLost = state.position !== undefined && now - state.position.at > lostReportMs;
  return isLost ? "The car's position has not been reported for a while." : otherwise;
}

/** Distance, duration and end of a completed trip. */
function ending(state: TrackState): Omit<Words, 'headline'> {
  const [from, to] = [startOf(state, 'in_progress'), startOf(state, 'completed')];
  if (from === undefined || to === undefined) return { status: `${kmText(state.distanceKm)}.` };
  const rounded = Math.round((to - from) / 60_000) * 60_000;
  const duration = to - from < 60_000 ? 'less than a minute' : minutes(rounded);
  return { when: { before: 'Arrived at', at: to }, status: `${kmText(state.distanceKm)} in ${duration}.` };
}

function cancellation(state: TrackState): string {
  if (state.endedBy === 'no_driver') return 'No driver was found in time.';
  return startOf(state, 'in_progress') === undefined
    ? 'This ride will not take place.'
    : 'The trip ended before the destination.';
}

/** The age of the car's last position report, or null while it is recent. */
export function seenWords(state: TrackState, now: number): string | null {
  if (!state.position || !isOld(state, now)) return null;
  const seconds = Math.round((now - state.position.at) / 1_000);
  return seconds < 120 ? `Seen ${seconds} s ago` : `Seen ${Math.floor(seconds / 60)} min ago`;
}

/** True if the map asks for a rating at a time (Unix ms). */
export const asksForRating = (state: TrackState, now: number): boolean =>
  !state.isRated && now - (startOf(state, 'completed') ?? Number.POSITIVE_INFINITY) >= ratableAfterMs;

/** `5.3 km` */
const kmText = (km: number): string => `${km.toFixed(1)} km`;

const directions = ['north', 'north-east', 'east', 'south-east', 'south', 'south-west', 'west', 'north-west'];

/** The destination in words: its address, or else its direction from the pickup. */
export function destinationWords({ pickup, destination }: Pick<TrackState, 'pickup' | 'destination'>): string {
  if (destination.address) return destination.address;
  const km = haversineKm(pickup, destination);
  if (km < 0.05) return 'At the pickup';
  const eighth = Math.round(initialBearing({ from: pickup, to: destination }) / 45);
  return `${kmText(km)} ${directions[(eighth + 8) % 8]} of the pickup`;
}
