import type { Delivery } from '../../../shared/rides/ride-types.ts';
import { failureReason } from '../../../shared/webhooks/failure-reasons.ts';
import { KindTag, msText } from '../deliveries/attempt-detail.tsx';
import { moneyText, OutcomePill } from '../facts.tsx';
import { entryPath } from './paths.ts';
import { actorWords } from './ride-facts.tsx';
import type { Chosen, Entry, EventDelivery } from './timeline.ts';

/** The ride's timeline: a link for each entry, and under it one for each attempt of its event. */
export function TimelineList({
  rideId,
  entries,
  chosen,
}: {
  rideId: string;
  entries: readonly Entry[];
  chosen: Chosen;
}) {
  const chosenId = (chosen.delivery ?? chosen.entry).id;
  const link = (id: string) => ({
    href: entryPath(rideId, id),
    'aria-current': id === chosenId ? ('true' as const) : undefined,
    'data-entry': true,
  });
  let day = '';
  return (
    <nav aria-label="Timeline">
      <ol class="timeline">
        {entries.map((entry) => {
          const isNewDay = dayOf(entry.at) !== day;
          day = dayOf(entry.at);
          const about = aboutEntry(entry);
          return (
            <li key={entry.id} class={entry.kind} data-status={entry.status}>
              {isNewDay && <p class="day">{day}, UTC</p>}
              <a class="entry" {...link(entry.id)}>
                <time dateTime={entry.at.toISOString()}>{clockText(entry.at)}</time>
                <span>
                  <strong>{entry.title}</strong>
                  {about && <span class="about">{about}</span>}
                </span>
              </a>
              {entry.deliveries.length > 0 && (
                <ul>
                  {entry.deliveries.map((delivery) => (
                    <li key={delivery.id}>
                      <a class="attempt" {...link(delivery.id)}>
                        <OutcomePill outcome={delivery.outcome} />
                        <span class="about">{aboutDelivery(delivery)}</span>
                        {delivery.attempt && <KindTag kind={delivery.attempt.kind} />}
                      </a>
                    </li>
                  ))}
                </ul>
              )}
            </li>
          );
        })}
      </ol>
    </nav>
  );
}

const dayOf = (at: Date): string => at.toISOString().slice(0, 10);
const clockText = (at: Date): string => at.toISOString().slice(11, 19);

function aboutEntry({ offer, by, requestId }: Entry): string {
  const who = by && (offer && by !== 'partner' ? offer.driver.name : actorWords[by]);
  const price = offer && moneyText(offer.price);
  const request = requestId && `request ${requestId.slice(0, 8)}…`;
  return [price, who, request].filter(Boolean).join(' · ');
}

function aboutDelivery({ outcome, event, attempt, own }: EventDelivery): string {
  if (outcome === 'waiting') return own === 'behind' ? 'for the events before it' : 'for the answer';
  if (outcome === 'no_url') return '';
  const made: Partial<Pick<Delivery, 'httpStatus' | 'durationMs' | 'reason'>> = (own ? event.delivery : attempt) ?? {};
  const { httpStatus, durationMs, reason } = made;
  if (httpStatus === undefined) return failureReason({ outcome, reason })?.name ?? '';
  return [httpStatus, durationMs !== undefined && msText(durationMs)].filter(Boolean).join(' · ');
}
