import { type ComponentChildren, Fragment } from 'preact';
import type { MessageState } from '../../shared/messages/message-kinds.ts';
import type { Delivery, RideStatus } from '../../shared/rides/ride-types.ts';
import type { RecordedOutcome } from '../../shared/webhooks/attempts.ts';
import { failureReason } from '../../shared/webhooks/failure-reasons.ts';
import type { EventDelivery, HistoryEntry } from '../../shared/webhooks/ride-history.ts';
import { Section } from '../kit/blocks.tsx';
import { actorWords, KindTag, moneyText, msText, OutcomePill, Pill, Time } from '../kit/facts.tsx';
import { messageKindWords, messageStateWords, messageTone, personWords } from '../kit/message-words.ts';

const kindTitles: Record<Exclude<HistoryEntry['kind'], 'status'>, string> = {
  created: 'Ride requested',
  offer: 'Offer received',
  withdrawal: 'Offer withdrawn',
  raise: 'Fare raised',
  change: 'Ride changed',
  message: 'Text message',
  note: 'Message to the driver',
  help: 'Asked for help',
  rating: 'Rated',
};

const statusTitles: Record<RideStatus, string> = {
  bidding: 'Bidding',
  driver_arriving: 'Offer accepted',
  arrived: 'Driver at the pickup',
  in_progress: 'Trip under way',
  completed: 'Trip completed',
  cancelled: 'Ride cancelled',
};

/** The title of an entry of a ride's history. */
export const titleOf = ({ kind, status }: Pick<HistoryEntry, 'kind' | 'status'>): string =>
  kind === 'status' ? statusTitles[status as RideStatus] : kindTitles[kind];

/** An entry in one sentence, for screen readers. */
export const entryWords = (entry: HistoryEntry): string =>
  [titleOf(entry), entry.offer && [entry.offer.driver.name, moneyText(entry.offer.price)].filter(Boolean).join(', ')]
    .filter(Boolean)
    .join(': ');

/** The chosen entry of the timeline, or an attempt under it. */
export interface ChosenEntry {
  entry: HistoryEntry;
  delivery?: EventDelivery;
}

/**
 * The entry or attempt with this id. For an unknown or empty id, the last attempt of an event that has not arrived,
 * because most people look for that; without one, the latest entry
 * that is no text message.
 */
export function chosenEntry(entries: readonly HistoryEntry[], id: string): ChosenEntry {
  const all = entries.flatMap((entry): ChosenEntry[] => [
    { entry },
    ...entry.deliveries.map((delivery): ChosenEntry => ({ entry, delivery })),
  ]);
  const named = all.find(
    ({ entry, delivery }) =>
      (delivery ?? entry).id === id || (delivery?.attempt && `attempt-${delivery.attempt._id}` === id),
  );
  const missed = missedEvents(entries).at(-1);
  const failed = missed && { entry: missed, delivery: missedDelivery(missed) };
  const latest = entries.findLast(({ kind }) => kind !== 'message');
  return named ?? failed ?? { entry: latest as HistoryEntry };
}

/** True if the event was sent or blocked, and did not arrive. */
const hasFailed = (outcome: RecordedOutcome): boolean =>
  outcome === 'failed' || outcome === 'timeout' || outcome === 'blocked';

/** The last attempt at a URL where the event has failed and not arrived; a copy at another URL is no substitute. */
export function missedDelivery({ deliveries }: HistoryEntry): EventDelivery | undefined {
  const urlOf = ({ attempt }: EventDelivery) => attempt?.endpointId;
  const arrived = new Set(deliveries.filter(({ outcome }) => outcome === 'delivered').map(urlOf));
  const missed = deliveries.find((delivery) => hasFailed(delivery.outcome) && !arrived.has(urlOf(delivery)));
  return missed && deliveries.findLast((delivery) => urlOf(delivery) === urlOf(missed));
}

/** The entries whose event has not arrived at one of its URLs. */
export const missedEvents = (entries: readonly HistoryEntry[]): HistoryEntry[] => entries.filter(missedDelivery);

/** True while an answer, or the record of an attempt, is still pending. */
export const isWaiting = (entries: readonly HistoryEntry[]): boolean =>
  entries.some(
    ({ deliveries, message }) =>
      message?.state === 'waiting' ||
      deliveries.some(({ outcome, attempt, isFresh }) => outcome === 'waiting' || (isFresh && !attempt)),
  );

interface TimelineProps {
  /** The path of the ride's page. */
  path: string;
  entries: readonly HistoryEntry[];
  chosen: ChosenEntry;
  /** The details of the chosen entry. */
  children: ComponentChildren;
}

/**
 * The ride's timeline: a link for each entry, below it a link for each attempt of its event, and below the chosen entry
 * its details. On wide screens the details are beside the list.
 */
export function Timeline({ path, entries, chosen, children }: TimelineProps) {
  const chosenId = (chosen.delivery ?? chosen.entry).id;
  let day = '';
  return (
    <Section id="timeline" title="Timeline" part="timeline-part">
      <ol class="timeline">
        {entries.map((entry) => {
          const isNewDay = dayOf(entry.at) !== day;
          day = dayOf(entry.at);
          return (
            <Fragment key={entry.id}>
              <Entry path={path} entry={entry} chosenId={chosenId} isNewDay={isNewDay} />
              {entry === chosen.entry && (
                <li id="opened" class="opened">
                  <section class="card detail stack" id="detail" aria-labelledby="detail-title" tabIndex={-1}>
                    {children}
                  </section>
                </li>
              )}
            </Fragment>
          );
        })}
      </ol>
    </Section>
  );
}

interface EntryProps {
  path: string;
  entry: HistoryEntry;
  /** The id of the chosen entry or attempt. */
  chosenId: string;
  /** The entry is the first one of its day in UTC. A script corrects this for the reader's zone (local-times.ts). */
  isNewDay: boolean;
}

function Entry({ path, entry, chosenId, isNewDay }: EntryProps) {
  const link = (id: string) => ({
    href: `${path}?entry=${id}#detail`,
    'aria-current': id === chosenId ? ('true' as const) : undefined,
    'data-entry': true,
  });
  const about = aboutEntry(entry);
  return (
    <li id={`entry-${entry.id}`} class={entry.kind} data-status={entry.status}>
      <p class="day hint" hidden={!isNewDay}>
        <Time at={entry.at} form="date" />
      </p>
      <a class="entry" {...link(entry.id)}>
        <Time at={entry.at} form="time" />
        <span>
          <strong>{titleOf(entry)}</strong>
          {about && <span class="sub">{about}</span>}
          {entry.message && <MessagePill state={entry.message.state} />}
        </span>
      </a>
      {entry.deliveries.length > 0 && (
        <ul>
          {entry.deliveries.map((delivery) => (
            <li key={delivery.id} id={`entry-${delivery.id}`}>
              <a class="attempt" {...link(delivery.id)}>
                <OutcomePill outcome={delivery.outcome} />
                <span class="hint">{aboutDelivery(delivery)}</span>
                {delivery.attempt && <KindTag attempt={delivery.attempt} />}
              </a>
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

/** The outcome of a text message. */
export const MessagePill = ({ state }: { state: MessageState }) => (
  <Pill status={messageTone[state]}>{messageStateWords[state]}</Pill>
);

const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

function aboutEntry({ kind, offer, by, requestId, message, seenAt }: HistoryEntry): string {
  if (message) return `${messageKindWords[message.kind]}, to ${personWords(message.person)}`;
  if (kind === 'help' || kind === 'rating') return 'on the live map';
  const who = by && (offer && by !== 'partner' ? offer.driver.name : actorWords[by]);
  const price = offer && moneyText(offer.price);
  const request = requestId && `request ${requestId.slice(0, 8)}…`;
  const seen = kind === 'note' && (seenAt ? 'seen' : 'not seen yet');
  return [price, seen, who, request].filter(Boolean).join(' · ');
}

function aboutDelivery({ outcome, event, attempt, own }: EventDelivery): string {
  if (outcome === 'waiting') return own === 'behind' ? 'for the events before it' : 'for the answer';
  if (outcome === 'no_url') return '';
  const made: Partial<Pick<Delivery, 'httpStatus' | 'durationMs' | 'reason'>> = (own ? event.delivery : attempt) ?? {};
  const { httpStatus, durationMs, reason } = made;
  if (httpStatus === undefined) return failureReason({ outcome, reason })?.name ?? '';
  return [httpStatus, durationMs !== undefined && msText(durationMs)].filter(Boolean).join(' · ');
}
