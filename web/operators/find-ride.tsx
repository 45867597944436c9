import type { Context } from '../../shared/base/context.ts';
import { AppError, describeError } from '../../shared/base/errors.ts';
import { timersWithJob } from '../../shared/rides/ride-jobs.ts';
import { type RideHistory, redeliveryWords, rideHistory } from '../../shared/webhooks/ride-history.ts';
import type { Answer, PublicRequest } from '../kit/answer.ts';
import { Fact, TableHead } from '../kit/blocks.tsx';
import { renderDocument } from '../kit/document.tsx';
import { Id, ModePill, moneyText, msText, OutcomePill, StatusPill, Time } from '../kit/facts.tsx';
import type { PublicPages } from '../kit/public-pages.ts';
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
              <button class="btn" type="submit">
                Find
              </button>
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
        <dl class="facts">
          <Fact name="Ride">
            <Id id={rideId} />
          </Fact>
          <Fact name="Status">
            <StatusPill status={status} /> {cancelledBy && `by ${cancelledBy}`}
          </Fact>
          <Fact name="Mode">
            <ModePill mode={mode} />
          </Fact>
          <Fact name="Created">
            <Time at={createdAt} form="exact" />
          </Fact>
          <Fact name="Price">{priceText(ride)}</Fact>
          <Fact name="Key">
            <Id id={keyId} />
          </Fact>
          <Fact name="Account">
            <Id id={accountId} />
          </Fact>
          {driverId && (
            <Fact name="Driver">
              <Id id={driverId} />
            </Fact>
          )}
          {erasedAt && (
            <Fact name="Erased">
              <Time at={erasedAt} form="exact" />
            </Fact>
          )}
        </dl>
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
    <section class="section" aria-labelledby="jobs">
      <h2 id="jobs">Jobs</h2>
      {!jobs && <p class="notice bad">Redis does not answer, so the jobs are unknown.</p>}
      {jobs?.length === 0 && (
        <p>
          {isPending
            ? 'No queue holds a job of this ride. The sweeper adds a missing job within seconds after it is due.'
            : 'Nothing is pending, and no queue keeps a finished job of this ride.'}
        </p>
      )}
      {jobs && jobs.length > 0 && (
        <table class="table cards labelled" aria-labelledby="jobs">
          <TableHead columns={['Job', 'Queue', 'State', 'Due', 'Process', 'Result']} />
          <tbody>
            {jobs.map(({ pool, jobId, step, state, dueAt, processedBy, result }) => (
              <tr key={`${pool} ${jobId}`}>
                <td data-label="Job">
                  <a href={`${queueBoardPath}/queue/${pool}/${encodeURIComponent(jobId)}`}>{step}</a>
                </td>
                <td data-label="Queue">{pool}</td>
                <td data-label="State">{state}</td>
                <td data-label="Due">
                  <Time at={dueAt} form="exact" />
                </td>
                <td data-label="Process">{processedBy ?? 'none yet'}</td>
                <td data-label="Result" class="breakable">
                  {result ?? 'none yet'}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Timers({ timers }: Pick<RideHistory, 'timers'>) {
  if (timers.length === 0) return null;
  return (
    <section class="section" aria-labelledby="timers">
      <h2 id="timers">Timers</h2>
      <dl class="facts">
        {timers.map(({ name, dueAt }) => (
          <Fact key={name} name={name}>
            <Time at={dueAt} form="exact" />
          </Fact>
        ))}
      </dl>
    </section>
  );
}

/** The ride's events with the result of their attempt, the resends, and the copies for further endpoints. */
function Events({ ride: { events, redeliveries } }: { ride: RideHistory }) {
  const rows = [
    ...events.map((event) => ({ ...event, key: `event-${event.seq}`, what: event.status ?? event.event })),
    ...redeliveries.map((attempt) => ({ ...attempt, key: attempt.attemptId, what: redeliveryWords(attempt) })),
  ];
  if (rows.length === 0) return null;
  return (
    <section class="section" aria-labelledby="events">
      <h2 id="events">Events</h2>
      <table class="table cards labelled" aria-labelledby="events">
        <TableHead columns={['Number', 'Event', 'At', 'Delivery', 'Answer']} />
        <tbody>
          {rows.map(({ key, seq, what, at, outcome, httpStatus, reason, durationMs }) => (
            <tr key={key}>
              <td data-label="Number">{seq}</td>
              <td data-label="Event">{what}</td>
              <td data-label="At">
                <Time at={at} form="exact" />
              </td>
              <td data-label="Delivery">
                <OutcomePill outcome={outcome} />
              </td>
              <td data-label="Answer">
                {[httpStatus, reason, durationMs !== undefined && msText(durationMs)].filter(Boolean).join(' · ')}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
