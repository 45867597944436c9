import { ratableAfterMs } from '../../shared/base/terms.ts';
import { lateMs } from '../../shared/rides/arrival.ts';
import type { RideStatus } from '../../shared/rides/ride-types.ts';
import { isMoving } from '../../shared/rides/transitions.ts';
import { wayBetween } from '../kit/directions.ts';
import { kilometersIn, type Language } from '../kit/message-format.ts';
import type { MapKey } from './languages/map-english.ts';
import type { TrackState } from './track-state.ts';

export type MapLanguage = Language<MapKey>;

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
  when?: { before: string; at: number; after: string };
  /** The status in plain words. */
  status: string;
}

/**
 * The texts of a ride at a time (Unix ms, MongoDB's clock). Pure: server and browser share it. Browsers use their own
 * zone; the server shows UTC.
 */
export function wordsFor(state: TrackState, now: number, language: MapLanguage, timeZone?: 'UTC'): Words {
  const { text } = language;
  const driving = (headline: MapKey, status: MapKey): Words => ({
    ...(arrival(state, now, language) ?? { headline: text(headline) }),
    status: text(isLost(state, now) ? 'lost' : status),
  });
  switch (state.status) {
    case 'bidding':
      if (state.opensAt && state.pickupAt) {
        const time = (at: number) => ({ time: timeText(at, now, language, timeZone) });
        return {
          headline: text('scheduled', time(state.pickupAt)),
          // Some regions write `p.m.`, before the full stop of the sentence.
          status: text('scheduled.status', time(state.opensAt)).replace(/\.\.$/, '.'),
        };
      }
      return { headline: text('bidding'), status: text('bidding.status') };
    case 'driver_arriving':
      return driving('arriving', 'arriving.status');
    case 'arrived':
      return { headline: text('arrived'), status: text('arrived.status') };
    case 'in_progress':
      return driving('trip', 'trip.status');
    case 'completed':
      return { headline: text('step.completed'), ...ending(state, language) };
    case 'cancelled':
      if (state.endedBy === 'replaced') return { headline: text('replaced'), status: text('replaced.status') };
      return { headline: text('step.cancelled'), status: text(cancellation(state)) };
  }
}

/** A time of day, such as `9:30 PM`, with the date if it is not today. */
function timeText(at: number, now: number, { locale }: MapLanguage, timeZone?: 'UTC'): string {
  const day = { month: 'short', day: 'numeric', timeZone } as const;
  const dayOf = (ms: number) => new Intl.DateTimeFormat(locale, day).format(ms);
  const form = { ...(dayOf(at) !== dayOf(now) && day), hour: 'numeric', minute: '2-digit', timeZone } as const;
  const time = new Intl.DateTimeFormat(locale, form).format(at);
  return timeZone ? `${time} ${timeZone}` : time;
}

/** The words about the arrival, or null if nothing is known about it. */
function arrival(state: TrackState, now: number, language: MapLanguage): Omit<Words, 'status'> | null {
  const { text } = language;
  const { arrivesAt, eta, position, leg } = state;
  const isLate = arrivesAt !== undefined && now - arrivesAt >= lateMs;
  // Where no car is seen, the ETA of a late one is only "now".
  const isUnknown = !eta || isOld(state, now) || (isLate && (!position || leg));
  if (isUnknown) return isLate ? { headline: text('late') } : null;
  const at = Math.max(now, eta.at);
  const leftMs = at - now;
  if (leftMs < 30_000) return { headline: text('soon') };
  const duration = durationText(leftMs, language);
  return isLate
    ? { headline: text('late'), when: around(language, 'late.when', at, { duration }) }
    : { headline: text('arrives', { duration }), when: around(language, 'arrives.when', at) };
}

/** A text with a clock time. The page writes the time as an element of its own. */
function around({ text }: MapLanguage, key: MapKey, at: number, values: object = {}): Words['when'] {
  const [before = '', after = ''] = text(key, { ...values, time: '\0' }).split('\0');
  return { before, at, after };
}

function durationText(ms: number, { locale, text }: MapLanguage): string {
  const total = Math.ceil(ms / 60_000);
  const [hours, minutes] = [Math.floor(total / 60), total % 60];
  return new Intl.ListFormat(locale, { type: 'unit', style: 'narrow' }).format([
    ...(hours ? [text('hours', { hours })] : []),
    ...(minutes ? [text('minutes', { minutes })] : []),
  ]);
}

const isOld = ({ position, status }: TrackState, now: number): boolean =>
  position !== undefined && isMoving(status) && now - position.at > oldReportMs;

const isLost = ({ position }: TrackState, now: number): boolean =>
  position !== undefined && now - position.at > lostReportMs;

/** Distance, duration and end of a completed trip. */
function ending(state: TrackState, language: MapLanguage): Omit<Words, 'headline'> {
  const { text } = language;
  const distance = kilometersIn(language.locale, state.distanceKm);
  const [from, to] = [startOf(state, 'in_progress'), startOf(state, 'completed')];
  if (from === undefined || to === undefined) return { status: text('completed.distance', { distance }) };
  const duration = durationText(Math.round((to - from) / 60_000) * 60_000, language);
  return {
    when: around(language, 'completed.at', to),
    status: text(to - from < 60_000 ? 'completed.brief' : 'completed.status', { distance, duration }),
  };
}

function cancellation(state: TrackState): MapKey {
  if (state.endedBy === 'no_driver') return 'cancelled.noDriver';
  return startOf(state, 'in_progress') === undefined ? 'cancelled.status' : 'cancelled.onTrip';
}

/** The age of the car's last position report, or null while it is recent. */
export function seenWords(state: TrackState, now: number, { text }: MapLanguage): string | null {
  if (!state.position || !isOld(state, now)) return null;
  const seconds = Math.round((now - state.position.at) / 1_000);
  return seconds < 120
    ? text('seen.seconds', { seconds })
    : text('seen.minutes', { minutes: Math.floor(seconds / 60) });
}

/** True if the map asks for a rating at a time (Unix ms). */
export const asksForRating = (state: TrackState, now: number): boolean =>
  !state.isRated && now - (startOf(state, 'completed') ?? Number.POSITIVE_INFINITY) >= ratableAfterMs;

/** The destination in words: its address, or else its direction from the pickup. */
export function destinationWords(
  { pickup, destination }: Pick<TrackState, 'pickup' | 'destination'>,
  language: MapLanguage,
): string {
  if (destination.address) return destination.address;
  const { km, direction } = wayBetween(pickup, destination);
  if (direction === 'here') return language.text('places.atPickup');
  return language.text('places.away', { distance: kilometersIn(language.locale, km), direction });
}
