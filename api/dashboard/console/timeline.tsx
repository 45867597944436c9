import type { TimerName } from '../../../shared/base/terms.ts';
import type { Delivery, RideStatus } from '../../../shared/rides/ride-types.ts';
import { hasEnded } from '../../../shared/rides/transitions.ts';
import { type HistoryEntry, historyOf } from '../../../shared/webhooks/ride-history.ts';
import { cancelReasonWords, moneyText, OutcomePill, Time } from '../../../web/kit/facts.tsx';
import { titleOf } from '../rides/timeline.tsx';
import type { ConsoleRide } from './console-ride.ts';

/** The details of an entry, in addition to its title. Pure. */
export function detailOf({ kind, status, offer }: HistoryEntry, ride: DetailedRide): string {
  switch (kind) {
    case 'created':
      return `${moneyText(ride.firstFare ?? ride.fare)} for ${ride.distanceKm.toFixed(1)} km`;
    case 'offer':
      return offer
        ? `${offer.driver.name || 'A driver'} for ${moneyText(offer.price)}, ${offer.etaMinutes} min away`
        : '';
    case 'withdrawal':
      return offer ? `${offer.driver.name || 'A driver'}, ${moneyText(offer.price)}` : '';
    case 'raise':
      return `To ${moneyText(ride.fare)}`;
    case 'status':
      return statusDetail(status, ride);
  }
}

type DetailedRide = Pick<ConsoleRide, 'fare' | 'firstFare' | 'distanceKm' | 'driver' | 'agreedPrice' | 'cancelReason'>;

function statusDetail(status: RideStatus | undefined, ride: DetailedRide): string {
  if (status === 'driver_arriving') return `${ride.driver?.name} for ${moneyText(ride.agreedPrice ?? ride.fare)}`;
  if (status === 'cancelled') return ride.cancelReason ? cancelReasonWords[ride.cancelReason] : '';
  return '';
}

const stepWords: Record<TimerName, string> = {
  open: 'The bidding opens',
  rebid: 'A new ride replaces this one',
  offer: 'A driver makes an offer',
  offer_2: 'A second driver makes an offer',
  offer_3: 'A third driver makes an offer',
  withdraw: 'The driver withdraws the offer',
  accept: 'The cheapest offer is accepted, unless you choose first',
  arrive: 'The driver reaches the pickup',
  start: 'The trip begins',
  complete: 'The trip ends',
  driver_cancel: 'The driver cancels',
  dispatch: 'More drivers receive the request',
  ask: 'More drivers nearby receive the request',
  driver: 'The driver is notified',
  auto_accept: 'An offer within the auto-accept limits is accepted',
  expire: 'The bidding time ends and the ride is cancelled',
  stall: 'The ride is cancelled because it makes no progress',
};

/** The next automatic step and its time (Unix ms); null once the ride has ended. Pure. */
export function nextStepOf({
  status,
  timers,
}: Pick<ConsoleRide, 'status' | 'timers'>): { words: string; at: number } | null {
  const [next] = hasEnded(status) ? [] : timers.toSorted((a, b) => a.dueAt.getTime() - b.dueAt.getTime());
  return next ? { words: stepWords[next.name], at: next.dueAt.getTime() } : null;
}

/** The time since the ride's creation: `+2.0 s`, `+10 min`, `+2 h`. Pure. */
export function offsetText(at: number, createdAt: number): string {
  const seconds = Math.max(0, at - createdAt) / 1_000;
  if (seconds < 99.95) return `+${seconds.toFixed(1)} s`;
  if (seconds < 5_400) return `+${Math.round(seconds / 60)} min`;
  return `+${Math.round(seconds / 3_600)} h`;
}

/** The test ride's history, and the next automatic step. */
export function Timeline({ ride }: { ride: ConsoleRide }) {
  const next = nextStepOf(ride);
  return (
    <section class="console-timeline" aria-labelledby="timeline">
      <h2 id="timeline">Timeline</h2>
      <ol>
        {historyOf(ride, [], ride.now.getTime()).map((entry) => (
          <TimelineEntry key={entry.id} ride={ride} entry={entry} />
        ))}
        {next && (
          <li id="next" class="to-come">
            <Offset at={new Date(next.at)} start={ride.createdAt} />
            <div>
              <p>
                <span class="next-word">Next</span> {next.words}
              </p>
            </div>
          </li>
        )}
      </ol>
    </section>
  );
}

function TimelineEntry({ ride, entry }: { ride: ConsoleRide; entry: HistoryEntry }) {
  const { id, kind, at, event } = entry;
  const detail = detailOf(entry, ride);
  return (
    <li id={kind === 'created' ? 'requested' : id}>
      <Offset at={at} start={ride.createdAt} />
      <div>
        <p class="what">{titleOf(entry)}</p>
        {detail && <p class="quiet">{detail}</p>}
        {event && (
          <p class="sent">
            <code>{event.event}</code> <OutcomePill outcome={event.delivery?.outcome ?? 'waiting'} />{' '}
            {event.delivery && <span class="quiet">{answerText(event.delivery)}</span>}
          </p>
        )}
      </div>
    </li>
  );
}

/** The time since the ride's creation, and the time of day. */
function Offset({ at, start }: { at: Date; start: Date }) {
  return (
    <p class="offset">
      {offsetText(at.getTime(), start.getTime())}
      <Time at={at} form="time" />
    </p>
  );
}

/** The receiver's answer and the duration of the attempt. */
function answerText({ outcome, httpStatus, durationMs }: Delivery): string {
  if (outcome === 'no_url' || outcome === 'blocked') return '';
  return `${httpStatus === undefined ? 'no answer' : `HTTP ${httpStatus}`} after ${Math.round(durationMs)} ms`;
}
