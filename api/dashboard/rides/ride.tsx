import type { ComponentChildren } from 'preact';
import type { Account } from '../../../shared/accounts/account.ts';
import type { Context } from '../../../shared/base/context.ts';
import { AppError } from '../../../shared/base/errors.ts';
import { trackUrl } from '../../../shared/rides/events.ts';
import { rideWithKeyName } from '../../../shared/rides/list-rides.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { attemptsOfRide } from '../../../shared/webhooks/attempts.ts';
import { redeliver } from '../../../shared/webhooks/redeliver.ts';
import { historyOf, type ShownAttempt } from '../../../shared/webhooks/ride-history.ts';
import { hasRunOut } from '../../track/track-state.ts';
import { CopyButton } from '../blocks.tsx';
import {
  countText,
  exactText,
  KeyName,
  moneyText,
  None,
  OutcomePill,
  placeText,
  StatusPill,
  shortId,
  When,
} from '../facts.tsx';
import { dashboardPage, PageHead } from '../frame.tsx';
import { type DashboardRoute, type PageRequest, requesterOf, signedInRoutes } from '../page-routes.ts';
import { entryPath, ridePath } from '../paths.ts';
import { EntryDetail } from './entry-detail.tsx';
import { chosenEntry, isWaiting, missedEvents, TimelineList } from './timeline.tsx';

/** The page of one ride, and the form that resends one of its events. */
export function rideRoutes(service: Context): DashboardRoute[] {
  const { page, action } = signedInRoutes(service);

  async function showRide(request: PageRequest, entryId = request.query('entry'), refusal?: string): Promise<string> {
    const { account, owner, param } = request;
    const rideId = param('rideId');
    const [found, attempts] = await Promise.all([rideWithKeyName(rideId, owner), attemptsOfRide(rideId, owner)]);
    if (!found) throw new AppError('not_found');
    const { trackBaseUrl } = service.config;
    return ridePage({ account, ...found, attempts, trackBaseUrl, entryId, refusal, now: service.now() });
  }

  return [
    page('/rides/:rideId', (request) => showRide(request)),

    action('/rides/:rideId/events/:seq/send-again', async (request) => {
      const { param } = request;
      const event = { rideId: param('rideId'), seq: Number(param('seq')) };
      try {
        const attemptId = await redeliver(service, event, requesterOf(request));
        return { redirectTo: entryPath(event.rideId, `attempt-${attemptId}`) };
      } catch (error) {
        if (!(error instanceof AppError) || error.code === 'not_found') throw error;
        return { html: await showRide(request, `event-${event.seq}`, error.message), status: error.status };
      }
    }),
  ];
}

interface RidePageProps {
  account: Account;
  ride: Ride;
  attempts: readonly ShownAttempt[];
  keyName?: string;
  trackBaseUrl: string;
  /** The id of the chosen entry, from the URL. */
  entryId: string;
  /** The reason why a form was refused. */
  refusal?: string;
  now: number;
}

/** One ride: its timeline, and the details of the chosen entry. */
function ridePage(props: RidePageProps): string {
  const { account, ride, attempts, keyName, trackBaseUrl, entryId, refusal, now } = props;
  const entries = historyOf(ride, attempts, now);
  const chosen = chosenEntry(entries, entryId);
  const missed = missedEvents(entries);
  // A refusal is shown at the URL of the form, which has no page to refresh.
  const waiting = isWaiting(entries) && !refusal;
  // Changes whenever the content of the page changes, except for relative times.
  const version = [ride.rev, ride.settledSeq, waiting, ...attempts.map(({ outcome }) => outcome)].join(' ');
  return dashboardPage({
    title: `Ride ${shortId(ride._id)}`,
    account,
    section: 'rides',
    test: ride.mode === 'test',
    scripts: ['live-page.js'],
    ...(waiting && { refreshPath: `${ridePath(ride._id)}${entryId && `?entry=${encodeURIComponent(entryId)}`}` }),
    children: (
      <>
        <p class="spoken" role="status" id="said" />
        <div data-live={version} data-waiting={waiting ? '' : undefined}>
          <PageHead
            title={
              <>
                Ride{' '}
                <span class="id">
                  <code title={ride._id}>{shortId(ride._id)}</code>
                  <CopyButton text={ride._id} what="ride id" />
                </span>
              </>
            }
            actions={
              !hasRunOut(ride, now) &&
              !ride.erasedAt && (
                <a class="btn second" href={trackUrl(trackBaseUrl, ride)}>
                  Live map
                </a>
              )
            }
          />
          {refusal && (
            <div class="notice bad" role="alert">
              <p>{refusal}</p>
            </div>
          )}
          <Summary ride={ride} keyName={keyName} now={now} />
          {ride.erasedAt && (
            <p class="notice">
              The personal data of this ride was erased on {exactText(ride.erasedAt)}: passenger, notes, reference,
              metadata, addresses, phone numbers, and the contents of requests and answers. Coordinates are kept to
              about a kilometre.
            </p>
          )}
          {missed.length > 0 && (
            <p class="missed">
              <OutcomePill outcome="failed" />{' '}
              <a href={entryPath(ride._id, missed.at(-1)?.deliveries.at(-1)?.id ?? '')} data-entry>
                {missed.length === 1
                  ? 'One event did not arrive'
                  : `${countText(missed.length)} of ${countText(ride.seq)} events did not arrive`}
              </a>
            </p>
          )}
          <div class="split ride">
            <TimelineList rideId={ride._id} entries={entries} chosen={chosen} />
            <section class="card detail" id="detail" aria-labelledby="detail-title" tabIndex={-1}>
              <EntryDetail ride={ride} chosen={chosen} now={now} />
            </section>
          </div>
        </div>
      </>
    ),
  });
}

function Summary({ ride, keyName, now }: Pick<RidePageProps, 'ride' | 'keyName' | 'now'>) {
  const { driver, pickup, destination } = ride;
  return (
    <dl class="summary">
      <Item name="Status">
        <StatusPill status={ride.status} />
      </Item>
      <Item name="Fare">{moneyText(ride.fare)}</Item>
      <Item name="Agreed price">{ride.agreedPrice === undefined ? <None /> : moneyText(ride.agreedPrice)}</Item>
      <Item name="Created">
        <When at={ride.createdAt} now={now} />
      </Item>
      <Item name="Key">
        <KeyName keyId={ride.keyId} name={keyName} mode={ride.mode} />
      </Item>
      <Item name="Driver">{driver ? `${driver.name}, ${driver.vehicle}, ${driver.plate}` : <None />}</Item>
      {ride.reference && <Item name="Reference">{ride.reference}</Item>}
      <Item name="Trip" wide>
        {placeText(pickup)} <span class="quiet">to</span> {placeText(destination)},{' '}
        <span class="nowrap">{ride.distanceKm.toFixed(1)} km</span>
      </Item>
    </dl>
  );
}

function Item({ name, wide, children }: { name: string; wide?: boolean; children: ComponentChildren }) {
  return (
    <div class={wide ? 'wide' : undefined}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
