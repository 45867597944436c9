import type { Context } from '../../shared/base/context.ts';
import { AppError, describeError } from '../../shared/base/errors.ts';
import { timersWithJob } from '../../shared/rides/ride-jobs.ts';
import { type RideHistory, redeliveryWords, rideHistory } from '../../shared/webhooks/ride-history.ts';
import type { Answer, PublicRequest } from '../kit/answer.ts';
import { Facts, Section, Submit } from '../kit/blocks.tsx';
import { renderDocument } from '../kit/document.tsx';
import { Id, ModePill, moneyText, msText, OutcomePill, StatusPill, Time } from '../kit/facts.tsx';
import type { PublicPages } from '../kit/public-pages.ts';
import { type Column, Table } from '../kit/table.tsx';
import { jobsOfRide, type RideJob } from './jobs-of-ride.ts';
import { OperatorsHeader } from './operators-header.tsx';
import { findRidePath, queueBoardPath } from './queue-board-path.ts';

/**
 * The operators' page that finds a ride by its id in MongoDB and shows it with its jobs, for requests that `admit`
 * permits. It shows no names, phones, addresses and URLs.
 */
export const findRidePages = <More extends object>(
  service: Pick<Context, 'queues' | 'log'>,
  admit?: PublicPages<More>['admit'],
): PublicPages<More> => ({
  name: 'operators',
  base: findRidePath,
  owns: (path) => path === findRidePath,
  headers: { 'Cache-Control': 'no-store' },
  logAs: findRidePath,
  admit,
  routes: [{ method: 'GET', path: '/', answer: showRide(service) }],
});

function showRide({ queues, log }: Pick<Context, 'queues' | 'log'>) {
  const readJobs = (ride: RideHistory) =>
    jobsOfRide(queues, ride).catch((error) => {
      log.warn({ error: describeError(error) }, 'the jobs of a ride could not be read');
      return null;
    });
  return async ({ query }: PublicRequest): Promise<Answer> => {
    const id = query('id').trim();
    const ride = id ? await findRide(id) : undefined;
    const html = findRidePage({ id, ride, jobs: ride ? await readJobs(ride) : null });
    return { html, status: ride === null ? 404 : 200 };
  };
}

/** Finds the ride with this id, or the ride of an event with this id. */
async function findRide(id: string): Promise<RideHistory | null> {
  try {
    return await rideHistory(id.replace(/^evt_([0-9A-Za-z]+)_\w+$/, 'ride_$1'));
  } catch (error) {
    if (error instanceof AppError && error.code === 'ride_not_found') return null;
    throw error;
  }
}

interface FindRideProps {
  /** The typed id. */
  id: string;
  /** Null if no ride has this id. */
  ride?: RideHistory | null;
  /** Null if Redis does not answer. */
  jobs: readonly RideJob[] | null;
}

const findRidePage = ({ id, ride, jobs }: FindRideProps): string =>
  renderDocument({
    title: ride ? `Ride ${ride.rideId}` : 'Find a ride',
    kind: 'dashboard operators',
    firstScript: 'dashboard-page.js',
    children: (
      <>
        <OperatorsHeader current={findRidePath} />
        <main id="main" tabIndex={-1}>
          <div class="page-head">
            <h1>Find a ride</h1>
          </div>
          <search>
            <form class="search" method="get" action={findRidePath}>
              <input
                id="id"
                name="id"
                class="mono"
                value={id}
                aria-label="Ride or event id"
                aria-invalid={ride === null ? 'true' : undefined}
                aria-describedby={ride === null ? 'id-fault' : undefined}
                placeholder="Ride or event id"
                autocomplete="off"
                autofocus={!ride}
                spellcheck={false}
              />
              <Submit>Find</Submit>
              {ride === null && (
                <p class="fault" id="id-fault" role="alert">
                  No ride has this id. Check that the id is complete; rides are deleted after their retention time.
                </p>
              )}
            </form>
          </search>
          {ride === undefined && (
            <p class="quiet">Shows the ride’s status, jobs, timers and events. An event’s id finds its ride.</p>
          )}
          {ride && <Ride ride={ride} jobs={jobs} />}
        </main>
      </>
    ),
  });

function Ride({ ride, jobs }: { ride: RideHistory; jobs: FindRideProps['jobs'] }) {
  const { rideId, keyId, accountId, driverId, mode, status, cancelledBy, createdAt, erasedAt } = ride;
  return (
    <>
      <section class="section card" aria-label="Ride">
        <Facts
          of={[
            ['Ride', <Id id={rideId} />],
            ['Status', [<StatusPill status={status} />, cancelledBy && ` by ${cancelledBy}`]],
            ['Mode', <ModePill mode={mode} />],
            ['Created', <Time at={createdAt} form="exact" />],
            ['Price', priceText(ride)],
            ['Key', <Id id={keyId} />],
            ['Account', <Id id={accountId} />],
            ['Driver', driverId && <Id id={driverId} />],
            ['Erased', erasedAt && <Time at={erasedAt} form="exact" />],
          ]}
        />
      </section>
      <Jobs ride={ride} jobs={jobs} />
      <Timers timers={ride.timers} />
      <Events ride={ride} />
    </>
  );
}

const priceText = ({ fare, agreedPrice }: RideHistory): string =>
  agreedPrice === undefined ? `${moneyText(fare)}, proposed` : `${moneyText(agreedPrice)}, agreed`;

function Jobs({ ride, jobs }: { ride: RideHistory; jobs: FindRideProps['jobs'] }) {
  const { timers, events, redeliveries, messages } = ride;
  const isPending =
    timersWithJob(timers).length > 0 ||
    [...events, ...redeliveries].some(({ outcome }) => outcome === 'waiting') ||
    messages.some(({ state }) => state === 'waiting');
  return (
    <Section id="jobs" title="Jobs">
      {!jobs && <p class="notice bad">Redis does not answer, so the jobs are unknown.</p>}
      {jobs?.length === 0 && (
        <p>
          {isPending
            ? 'No queue holds a job of this ride. The sweeper adds a missing job within seconds after it is due.'
            : 'Nothing is pending, and no queue keeps a finished job of this ride.'}
        </p>
      )}
      {jobs && jobs.length > 0 && (
        <Table
          class="labelled"
          labelledBy="jobs"
          columns={jobColumns}
          rows={jobs.map((job) => ({ id: `${job.pool} ${job.jobId}`, ...job }))}
        />
      )}
    </Section>
  );
}

const jobColumns: Column<RideJob & { id: string }>[] = [
  {
    head: 'Job',
    cell: ({ pool, jobId, step }) => (
      <a href={`${queueBoardPath}/queue/${pool}/${encodeURIComponent(jobId)}`}>{step}</a>
    ),
  },
  { head: 'Queue', cell: ({ pool }) => pool },
  { head: 'State', cell: ({ state }) => state },
  { head: 'Due', cell: ({ dueAt }) => <Time at={dueAt} form="exact" /> },
  { head: 'Process', cell: ({ processedBy }) => processedBy ?? 'none yet' },
  { head: 'Result', at: 'breakable', cell: ({ result }) => result ?? 'none yet' },
];

function Timers({ timers }: Pick<RideHistory, 'timers'>) {
  if (timers.length === 0) return null;
  return (
    <Section id="timers" title="Timers">
      <Facts of={timers.map(({ name, dueAt }) => [name, <Time at={dueAt} form="exact" />])} />
    </Section>
  );
}

/** The ride's events with the result of their attempt, the resends, and the copies for further endpoints. */
function Events({ ride: { events, redeliveries } }: { ride: RideHistory }) {
  const rows: EventRow[] = [
    ...events.map((event) => ({ ...event, id: `event-${event.seq}`, what: event.status ?? event.event })),
    ...redeliveries.map((attempt) => ({ ...attempt, id: attempt.attemptId, what: redeliveryWords(attempt) })),
  ];
  if (rows.length === 0) return null;
  return (
    <Section id="events" title="Events">
      <Table class="labelled" labelledBy="events" rows={rows} columns={eventColumns} />
    </Section>
  );
}

type EventRow = { id: string; what: string } & (RideHistory['events'] | RideHistory['redeliveries'])[number];

const eventColumns: Column<EventRow>[] = [
  { head: 'Number', cell: ({ seq }) => seq },
  { head: 'Event', cell: ({ what }) => what },
  { head: 'At', cell: ({ at }) => <Time at={at} form="exact" /> },
  { head: 'Delivery', cell: ({ outcome }) => <OutcomePill outcome={outcome} /> },
  {
    head: 'Answer',
    cell: ({ httpStatus, reason, durationMs }) =>
      [httpStatus, reason, durationMs !== undefined && msText(durationMs)].filter(Boolean).join(' · '),
  },
];
