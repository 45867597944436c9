import type { RideName } from '../../shared/rides/list-rides.ts';
import type { AttemptSummary } from '../../shared/webhooks/attempts.ts';
import { failureReason } from '../../shared/webhooks/failure-reasons.ts';
import { eventText, KeyName, KindTag, msText, None, OutcomePill, RideLink, Time } from '../kit/facts.tsx';
import type { ListedKey } from '../kit/lists.tsx';
import { attemptPath, ridePath } from '../kit/paths.ts';
import { type Column, Table } from '../kit/table.tsx';

export interface DeliveriesTableProps {
  attempts: readonly AttemptSummary[];
  /** The keys of the attempts. */
  keys: readonly ListedKey[];
  /** The names of the attempts' rides, by ride id. */
  rides: ReadonlyMap<string, RideName>;
}

/** The list of deliveries. On a phone each delivery is a card of three lines, which is one link. */
export const DeliveriesTable = ({ attempts, ...more }: DeliveriesTableProps) => (
  <div class="scroll">
    <Table class="deliveries" rows={attempts} columns={deliveryColumns(more)} idOf={({ _id }) => _id} />
  </div>
);

function deliveryColumns({ keys, rides }: Omit<DeliveriesTableProps, 'attempts'>): Column<AttemptSummary>[] {
  const keysById = new Map(keys.map((key) => [key._id, key]));
  return [
    {
      head: 'Event',
      at: 'event line-1 left',
      cell: (attempt) => (
        <span>
          <a href={attemptPath(attempt._id)}>{eventText(attempt)}</a> <KindTag attempt={attempt} />
        </span>
      ),
    },
    {
      head: 'Ride',
      at: 'ride breakable line-3 left small',
      cell: ({ rideId }) => <RideOf rideId={rideId} rides={rides} />,
    },
    { head: 'Outcome', at: 'line-2 first', cell: ({ outcome }) => <OutcomePill outcome={outcome} /> },
    { head: 'Answer', at: 'answer breakable line-2 middle', cell: (attempt) => <Answered attempt={attempt} /> },
    {
      head: 'Took',
      at: 'took line-2 right',
      number: true,
      cell: ({ durationMs, outcome }) =>
        durationMs === undefined || outcome === 'no_url' ? <None /> : msText(durationMs),
    },
    { head: 'Time', at: 'line-3 right small', cell: ({ startedAt, at }) => <Time at={startedAt ?? at} /> },
    {
      head: 'Key',
      at: 'key breakable line-1 right small',
      cell: ({ keyId, mode }) => <KeyName keyId={keyId} name={keysById.get(keyId)?.name} mode={mode} />,
    },
  ];
}

/** The HTTP status of the answer, or the reason if there is none. */
function Answered({ attempt }: { attempt: AttemptSummary }) {
  if (attempt.httpStatus !== undefined) return attempt.httpStatus;
  const reason = failureReason(attempt);
  return reason ? <span class="sub">{reason.name}</span> : <None />;
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
