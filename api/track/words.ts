import type { RideStatus } from '../../shared/rides/ride-types.ts';
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

export const ratingText = (rating: number): string => `★ ${rating.toFixed(1)}`;

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

/** If the last position report is older than this, the page shows no ETA. */
export const oldReportMs = 15_000;
/** If the last position report is older than this, the page says so. */
const lostReportMs = 120_000;

interface Words {
  /** The most important fact, and the largest text of the page. */
  headline: string;
  /** The status in plain words. */
  status: string;
}

/** The texts of a ride at a time (Unix ms, MongoDB's clock). Pure: server and browser share it. */
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
        headline: arrival(state, now, 'Driver on the way'),
        status: whereabouts(state, now, 'On the way to the pickup.'),
      };
    case 'arrived':
      return { headline: 'Driver is here', status: 'The car is waiting at the pickup.' };
    case 'in_progress':
      return {
        headline: arrival(state, now, 'On the way'),
        status: whereabouts(state, now, 'On the way to the destination.'),
      };
    case 'completed':
      return { headline: 'Trip completed', status: 'The passenger was dropped off.' };
    case 'cancelled':
      if (state.endedBy === 'replaced') {
        return { headline: 'Finding another driver', status: 'The driver cancelled. We are asking other drivers.' };
      }
      return {
        headline: 'Ride cancelled',
        status: state.endedBy === 'no_driver' ? 'No driver was found in time.' : 'This ride will not take place.',
      };
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

function arrival(state: TrackState, now: number, otherwise: string): string {
  if (state.arrivesAt === undefined || isOld(state, now)) return otherwise;
  const leftMs = state.arrivesAt - now;
  return leftMs < 30_000 ? 'Arriving now' : `Arrives in ${minutes(leftMs)}`;
}

function minutes(ms: number): string {
  const total = Math.ceil(ms / 60_000);
  const [hours, rest] = [Math.floor(total / 60), total % 60];
  return [hours && `${hours} h`, rest && `${rest} min`].filter(Boolean).join(' ');
}

const isOld = ({ position }: TrackState, now: number): boolean =>
  position !== undefined && now - position.at > oldReportMs;

function whereabouts(state: TrackState, now: number, otherwise: string): string {
  const isLost = state.position !== undefined && now - state.position.at > lostReportMs;
  return isLost ? "The car's position has not been reported for a while." : otherwise;
}

/** The age of the car's last position report, or null while it is recent. */
export function seenWords(state: TrackState, now: number): string | null {
  if (!state.position || !isOld(state, now)) return null;
  const seconds = Math.round((now - state.position.at) / 1_000);
  return seconds < 120 ? `Seen ${seconds} s ago` : `Seen ${Math.floor(seconds / 60)} min ago`;
}
