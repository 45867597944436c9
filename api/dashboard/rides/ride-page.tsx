import type { CurrentAccount } from '../../../shared/accounts/members.ts';
import type { Config } from '../../../shared/base/config.ts';
import { trackUrl } from '../../../shared/rides/events.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { hasEnded } from '../../../shared/rides/transitions.ts';
import { type HistoryEntry, historyOf, type ShownAttempt } from '../../../shared/webhooks/ride-history.ts';
import { LinkButton } from '../../../web/kit/blocks.tsx';
import { countText, OutcomePill, StatusPill, Time } from '../../../web/kit/facts.tsx';
import { entryPath, ridePath } from '../../../web/kit/paths.ts';
import type { TrackState } from '../../../web/track/track-state.ts';
import { dashboardPage, PageHead } from '../frame.tsx';
import { mayUse } from '../rights.ts';
import { EntryDetail } from './entry-detail.tsx';
import { Offers } from './offers.tsx';
import { RideFacts, rideName, TripText } from './ride-facts.tsx';
import { RideLinks } from './ride-links.tsx';
import { MapWords, RideMap } from './ride-map.tsx';
import type { RideNews } from './ride-news.ts';
import { chosenEntry, entryWords, isWaiting, missedEvents, Timeline } from './timeline.tsx';

interface RidePageProps {
  config: Pick<Config, 'trackBaseUrl' | 'tiles'>;
  account: CurrentAccount;
  ride: Ride;
  attempts: readonly ShownAttempt[];
  keyName?: string;
  news: RideNews;
  /** The id of the chosen entry, from the URL. */
  entryId: string;
  /** The reason why a form was refused. */
  refusal?: string;
  now: number;
}

/** One ride: its people, the live map, the offers, the timeline, and the details of the chosen entry. */
export function ridePage(props: RidePageProps): string {
  const { account, ride, attempts, news, entryId, refusal, now } = props;
  // Deliveries are not for the desk.
  const seesDeliveries = mayUse(account.member.role, 'GET /deliveries/:attemptId');
  const history = historyOf(ride, attempts, now);
  const entries = seesDeliveries ? history : history.map((entry) => ({ ...entry, deliveries: [] }));
  const path = ridePath(ride._id);
  const here = entryId ? `${path}?entry=${encodeURIComponent(entryId)}` : path;
  const waiting = isWaiting(entries);
  // Changes whenever the content of the page changes, except for relative times.
  const version = [news.version, waiting, ...(seesDeliveries ? attempts.map(({ outcome }) => outcome) : [])].join(' ');
  return dashboardPage({
    title: rideName(ride),
    account,
    section: 'rides',
    test: ride.mode === 'test',
    hasErrors: refusal !== undefined,
    scripts: ['ride-page.js'],
    // A refusal is shown at the URL of the form, which has no page to refresh.
    ...(waiting && !refusal && { refreshPath: here }),
    children: (
      <>
        <p class="spoken" role="status" id="said" />
        <p class="notice bad connection" id="connection" hidden>
          Connection lost. Trying again…
        </p>
        {refusal && (
          <div class="notice bad" role="alert" tabIndex={-1} data-focus>
            <p>
              <strong>{refusal}.</strong> The current state of the ride is shown below.
            </p>
          </div>
        )}
        {!news.isOver && (
          <noscript>
            <p class="notice">
              <span>
                Without scripts this page does not follow the ride: <a href={path}>reload it</a> for the latest state.
              </span>
            </p>
          </noscript>
        )}
        <div
          id="ride"
          data-path={path}
          data-here={refusal === undefined ? undefined : here}
          data-news={JSON.stringify(news)}
        >
          <div
            data-live={version}
            data-latest={entryWords(entries.at(-1) as HistoryEntry)}
            data-waiting={waiting ? '' : undefined}
          >
            <LiveRide {...props} entries={entries} />
          </div>
        </div>
      </>
    ),
  });
}

/** The part of the page that changes with the ride. Elements that can appear or disappear have an id. */
function LiveRide(props: RidePageProps & { entries: readonly HistoryEntry[] }) {
  const { config, account, ride, keyName, news, entries, entryId, now } = props;
  const chosen = chosenEntry(entries, entryId);
  return (
    <>
      <RideHead ride={ride} map={news.map} trackBaseUrl={config.trackBaseUrl} />
      {ride.erasedAt && (
        <p class="notice" id="erased">
          <span>
            The personal data of this ride was erased on <Time at={ride.erasedAt} form="date" />: passenger, notes,
            reference, metadata, addresses, drivers with their cars, offers that were not accepted, and the contents of
            requests and answers. Coordinates are kept to about a kilometre.
          </span>
        </p>
      )}
      <div id="ride-top" class={news.map ? 'ride-top' : undefined}>
        <RideFacts ride={ride} keyName={keyName} />
        {news.map && <RideMap tiles={config.tiles} />}
      </div>
      <RideLinks ride={ride} desk={account.deskKeyId !== undefined} />
      <Offers ride={ride} />
      <Missed ride={ride} entries={entries} />
      <Timeline rideId={ride._id} entries={entries} chosen={chosen}>
        <EntryDetail ride={ride} chosen={chosen} now={now} />
      </Timeline>
    </>
  );
}

function RideHead({ ride, map, trackBaseUrl }: { ride: Ride; map?: TrackState; trackBaseUrl: string }) {
  return (
    <PageHead
      title={
        <span class="title-row">
          {rideName(ride)} <StatusPill status={ride.status} />
        </span>
      }
      actions={
        (map || !hasEnded(ride.status)) && (
          <>
            {map && (
              <a class="btn second" href={trackUrl(trackBaseUrl, ride)}>
                Live map
              </a>
            )}
            {!hasEnded(ride.status) && (
              <LinkButton to={`${ridePath(ride._id)}/cancel`} danger>
                Cancel ride
              </LinkButton>
            )}
          </>
        )
      }
    >
      <TripText ride={ride} />
      {map && <MapWords map={map} />}
    </PageHead>
  );
}

function Missed({ ride, entries }: { ride: Ride; entries: readonly HistoryEntry[] }) {
  const missed = missedEvents(entries);
  if (missed.length === 0) return null;
  return (
    <p class="missed" id="missed">
      <OutcomePill outcome="failed" />{' '}
      <a href={entryPath(ride._id, missed.at(-1)?.deliveries.at(-1)?.id ?? '')} data-entry>
        {missed.length === 1
          ? 'One event did not arrive'
          : `${countText(missed.length)} of ${countText(ride.seq)} events did not arrive`}
      </a>
    </p>
  );
}
