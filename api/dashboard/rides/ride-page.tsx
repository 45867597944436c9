import type { Account } from '../../../shared/accounts/account.ts';
import type { ApiKey } from '../../../shared/keys/api-key.ts';
import { trackUrl } from '../../../shared/rides/events.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { hasRunOut } from '../../track/track-state.ts';
import { CopyButton, countText, exactText, moneyText, OutcomePill, StatusPill, shortId, When } from '../facts.tsx';
import { dashboardPage, PageHead } from '../frame.tsx';
import { EntryDetail } from './entry-detail.tsx';
import { entryPath, ridePath } from './paths.ts';
import { KeyName, None, placeText } from './ride-facts.tsx';
import { chosenEntry, isWaiting, missedEvents, type ShownAttempt, timelineOf } from './timeline.ts';
import { TimelineList } from './timeline-list.tsx';

export interface RidePageProps {
  account: Account;
  ride: Ride;
  attempts: readonly ShownAttempt[];
  keyName?: Pick<ApiKey, 'name'>;
  trackBaseUrl: string;
  /** The entry that the URL names. */
  entryId: string;
  /** Why what was asked for was not done. */
  refusal?: string;
  now: number;
}

/** One ride: its timeline, and all that is known of the chosen entry. */
export function ridePage(props: RidePageProps): string {
  const { account, ride, attempts, keyName, trackBaseUrl, entryId, refusal, now } = props;
  const entries = timelineOf(ride, attempts, now);
  const chosen = chosenEntry(entries, entryId);
  const missed = missedEvents(entries);
  // The page of a refusal has the address of a form: reading it again would find nothing.
  const waiting = isWaiting(entries) && !refusal;
  // Changes with each change of what the page shows, times aside.
  const version = [ride.rev, ride.settledSeq, waiting, ...attempts.map(({ outcome }) => outcome)].join(' ');
  return dashboardPage({
    title: `Ride ${shortId(ride._id)}`,
    account,
    room: 'rides',
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
              What was personal in this ride was erased on {exactText(ride.erasedAt)}: passenger, notes, reference,
              metadata, addresses, phone numbers, and what was sent and answered. Coordinates are kept to about a
              kilometre.
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

/** The ride in one look. */
function Summary({ ride, keyName, now }: Pick<RidePageProps, 'ride' | 'keyName' | 'now'>) {
  const { driver, pickup, destination } = ride;
  return (
    <dl class="summary">
      <div>
        <dt>Status</dt>
        <dd>
          <StatusPill status={ride.status} />
        </dd>
      </div>
      <div>
        <dt>Fare</dt>
        <dd>{moneyText(ride.fare)}</dd>
      </div>
      <div>
        <dt>Agreed price</dt>
        <dd>{ride.agreedPrice === undefined ? <None /> : moneyText(ride.agreedPrice)}</dd>
      </div>
      <div>
        <dt>Created</dt>
        <dd>
          <When at={ride.createdAt} now={now} />
        </dd>
      </div>
      <div>
        <dt>Key</dt>
        <dd>
          <KeyName keyId={ride.keyId} known={keyName} mode={ride.mode} />
        </dd>
      </div>
      <div>
        <dt>Driver</dt>
        <dd>{driver ? `${driver.name}, ${driver.vehicle}, ${driver.plate}` : <None />}</dd>
      </div>
      {ride.reference && (
        <div>
          <dt>Reference</dt>
          <dd>{ride.reference}</dd>
        </div>
      )}
      <div class="wide">
        <dt>Trip</dt>
        <dd>
          {placeText(pickup)} <span class="quiet">to</span> {placeText(destination)},{' '}
          <span class="nowrap">{ride.distanceKm.toFixed(1)} km</span>
        </dd>
      </div>
    </dl>
  );
}
