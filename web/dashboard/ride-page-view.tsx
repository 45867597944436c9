import type { CurrentAccount } from '../../shared/accounts/members.ts';
import type { Config } from '../../shared/base/config.ts';
import type { ShownMessage } from '../../shared/messages/stored-messages.ts';
import { trackUrl } from '../../shared/rides/events.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import { hasEnded } from '../../shared/rides/transitions.ts';
import { type HistoryEntry, historyOf, type ShownAttempt } from '../../shared/webhooks/ride-history.ts';
import type { Document } from '../kit/answer.ts';
import { ButtonLink, LinkButton } from '../kit/blocks.tsx';
import { countText, OutcomePill, StatusPill, Time } from '../kit/facts.tsx';
import { consolePath, keyPath } from '../kit/paths.ts';
import { RideLinks, rideName, TripText } from '../kit/ride-parts.tsx';
import { builders } from '../kit/roles.ts';
import { CurlOfRide } from './curl-of-ride.tsx';
import { DriverSteps } from './driver-steps.tsx';
import { EntryDetail } from './entry-detail.tsx';
import { RideFacts } from './ride-facts.tsx';
import { MapWords, RideMap } from './ride-map.tsx';
import type { RideNews } from './ride-news.ts';
import { Offers } from './ride-offers.tsx';
import { chosenEntry, entryWords, isWaiting, missedDelivery, missedEvents, Timeline } from './timeline.tsx';

/** What the page of a ride shows. */
export interface ShownRide {
  config: Pick<Config, 'publicBaseUrl' | 'trackBaseUrl' | 'tiles'>;
  account: CurrentAccount;
  section: 'rides' | 'console';
  /** The path of the page. The test console shows a ride below its own path. */
  path: string;
  ride: Ride;
  attempts: readonly ShownAttempt[];
  messages: readonly ShownMessage[];
  /** `apiKey`, because preact reserves the property `key`. */
  apiKey?: { name: string; webhookUrl?: string };
  news: RideNews;
  /** The id of the chosen entry, from the URL. */
  entryId: string;
  /** The reason why a form was refused. */
  refusal?: string;
  now: number;
}

/**
 * One ride: its people, the live map, the offers, the timeline, and the details of the chosen entry. Of a test ride also
 * the manual steps, and its request.
 */
export function rideView(props: ShownRide): Document {
  const { config, account, section, path, ride, attempts, messages, news, entryId, refusal, now } = props;
  const isBuilder = builders.includes(account.member.role);
  const isByHand = ride.mode === 'test' && isBuilder;
  const history = historyOf(ride, attempts, now, messages);
  // Deliveries are not for the desk.
  const entries = isBuilder ? history : history.map((entry) => ({ ...entry, deliveries: [] }));
  const here = entryId ? `${path}?entry=${encodeURIComponent(entryId)}` : path;
  const waiting = isWaiting(entries);
  // Changes whenever the content of the page changes, except for relative times.
  const attempted = isBuilder ? attempts.map(({ outcome }) => outcome) : [];
  const version = [news.version, waiting, ...messages.map(({ state }) => state), ...attempted].join(' ');
  return {
    title: rideName(ride),
    heading: (
      <span class="row">
        {rideName(ride)} <StatusPill status={ride.status} />
      </span>
    ),
    lead: (
      <>
        <TripText ride={ride} />
        {news.map && <MapWords map={news.map} />}
      </>
    ),
    actions: (news.map || isByHand || !hasEnded(ride.status)) && <Actions {...props} isByHand={isByHand} />,
    section,
    test: ride.mode === 'test',
    hasErrors: refusal !== undefined,
    scripts: ['ride-page.browser.js'],
    // A refusal is shown at the URL of the form, which has no page to refresh.
    ...(waiting && !refusal && { refreshPath: here }),
    around: (content) => (
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
            class="flow"
            data-live={version}
            data-latest={entryWords(entries.at(-1) as HistoryEntry)}
            data-waiting={waiting ? '' : undefined}
          >
            {content}
          </div>
          {isByHand && <CurlOfRide ride={ride} apiUrl={`${config.publicBaseUrl}/v1`} />}
        </div>
      </>
    ),
    children: <LiveRide {...props} entries={entries} isByHand={isByHand} />,
  };
}

/** The part of the page that changes with the ride. Elements that can appear or disappear have an id. */
function LiveRide(props: ShownRide & { entries: readonly HistoryEntry[]; isByHand: boolean }) {
  const { config, account, path, ride, apiKey, news, entries, entryId, now, isByHand } = props;
  const chosen = chosenEntry(entries, entryId);
  return (
    <>
      {ride.erasedAt && (
        <p class="notice" id="erased">
          <span>
            The personal data of this ride was erased on <Time at={ride.erasedAt} form="date" />: passenger, notes,
            reference, metadata, addresses, drivers with their cars, offers that were not accepted, and the contents of
            requests and answers. Coordinates are kept to about a kilometre.
          </span>
        </p>
      )}
      {isByHand && <DriverSteps ride={ride} />}
      <div id="ride-top" class={news.map ? 'columns' : undefined}>
        <RideFacts ride={ride} keyName={apiKey?.name} />
        {news.map && <RideMap tiles={config.tiles} />}
      </div>
      <RideLinks ride={ride} desk={account.deskKeyId !== undefined} />
      <Offers ride={ride} path={path} />
      {isByHand && !apiKey?.webhookUrl && !ride.webhookUrl && (
        <p class="quiet" id="no-url">
          This key has no webhook URL, so its events are not sent. <a href={keyPath(ride.keyId)}>Set webhook URL</a>
        </p>
      )}
      <Missed path={path} ride={ride} entries={entries} />
      <Timeline path={path} entries={entries} chosen={chosen}>
        <EntryDetail ride={ride} chosen={chosen} now={now} />
      </Timeline>
    </>
  );
}

function Actions({ config, path, ride, news: { map }, isByHand }: ShownRide & { isByHand: boolean }) {
  return (
    <>
      {map && <ButtonLink to={trackUrl(config.trackBaseUrl, ride)}>Live map</ButtonLink>}
      {!hasEnded(ride.status) ? (
        <LinkButton to={`${path}/cancel`} danger>
          Cancel ride
        </LinkButton>
      ) : (
        isByHand && (
          <ButtonLink to={`${consolePath}?key=${ride.keyId}&scenario=${ride.scenario ?? 'default'}`}>
            Start a test ride
          </ButtonLink>
        )
      )}
    </>
  );
}

function Missed({ path, ride, entries }: { path: string; ride: Ride; entries: readonly HistoryEntry[] }) {
  const missed = missedEvents(entries);
  if (missed.length === 0) return null;
  return (
    <p id="missed">
      <OutcomePill outcome="failed" />{' '}
      <a href={`${path}?entry=${missed.map(missedDelivery).at(-1)?.id ?? ''}#detail`} data-entry>
        {missed.length === 1
          ? 'One event did not arrive'
          : `${countText(missed.length)} of ${countText(ride.seq)} events did not arrive`}
      </a>
    </p>
  );
}
