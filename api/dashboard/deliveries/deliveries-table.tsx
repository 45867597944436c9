import type { RideName } from '../../../shared/rides/list-rides.ts';
import type { AttemptSummary } from '../../../shared/webhooks/attempts.ts';
import { failureReason } from '../../../shared/webhooks/failure-reasons.ts';
import { TableHead } from '../../../web/kit/blocks.tsx';
import { eventText, KeyName, KindTag, msText, None, OutcomePill, RideLink, Time } from '../../../web/kit/facts.tsx';
import type { ListedKey } from '../../../web/kit/lists.tsx';
import { attemptPath, ridePath } from '../../../web/kit/paths.ts';

export interface DeliveriesTableProps {
  attempts: readonly AttemptSummary[];
  /** The keys of the attempts. */
  keys: readonly ListedKey[];
  /** The names of the attempts' rides, by ride id. */
  rides: ReadonlyMap<string, RideName>;
}

/** Deliveries as a table. On a phone each delivery is a card of three lines, which is one link. */
export function DeliveriesTable({ attempts, keys, rides }: DeliveriesTableProps) {
  const keysById = new Map(keys.map((key) => [key._id, key]));
  return (
    <div class="scroll">
      <table class="table deliveries cards">
        <TableHead columns={['Event', 'Ride', 'Outcome', 'Answer', 'Took', 'Time', 'Key']} numbers={['Took']} />
        <tbody>
          {attempts.map((attempt) => (
            <tr key={attempt._id} id={attempt._id}>
              <td class="event">
                <span>
                  <a href={attemptPath(attempt._id)}>{eventText(attempt)}</a> <KindTag kind={attempt.kind} />
                </span>
              </td>
              <td class="ride">
                <RideOf rideId={attempt.rideId} rides={rides} />
              </td>
              <td class="state">
                <OutcomePill outcome={attempt.outcome} />
              </td>
              <td class="answer">
                <Answered attempt={attempt} />
              </td>
              <td class="number took">
                {attempt.durationMs === undefined || attempt.outcome === 'no_url' ? (
                  <None />
                ) : (
                  msText(attempt.durationMs)
                )}
              </td>
              <td class="at">
                <Time at={attempt.startedAt ?? attempt.at} />
              </td>
              <td class="key">
                <KeyName keyId={attempt.keyId} name={keysById.get(attempt.keyId)?.name} mode={attempt.mode} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The HTTP status of the answer, or the reason if there is none. */
function Answered({ attempt }: { attempt: AttemptSummary }) {
  if (attempt.httpStatus !== undefined) return attempt.httpStatus;
  const reason = failureReason(attempt);
  return reason ? <span class="reason">{reason.name}</span> : <None />;
}

/** The ride by what people call it, or else by its id. */
function RideOf({ rideId, rides }: { rideId?: string; rides: DeliveriesTableProps['rides'] }) {
  if (!rideId) return <None />;
  const { passenger, reference } = rides.get(rideId) ?? {};
  const name = passenger?.name || reference;
  return name ? (
    <a href={ridePath(rideId)} title={[reference, rideId].filter(Boolean).join(', ')}>
      {name}
    </a>
  ) : (
    <RideLink rideId={rideId} />
  );
}
