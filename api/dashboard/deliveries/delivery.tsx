import type { CurrentAccount } from '../../../shared/accounts/members.ts';
import type { Context } from '../../../shared/base/context.ts';
import { statusIn } from '../../../shared/rides/events.ts';
import { type AttemptSummary, attemptOf, attemptsOfEvent } from '../../../shared/webhooks/attempts.ts';
import { failureReason } from '../../../shared/webhooks/failure-reasons.ts';
import type { ShownAttempt } from '../../../shared/webhooks/ride-history.ts';
import { eventText, KindTag, OutcomePill, RideLink, Time } from '../../../web/kit/facts.tsx';
import { attemptPath, entryPath, keyPath } from '../../../web/kit/paths.ts';
import { dashboardPage, PageHead } from '../frame.tsx';
import { type DashboardRoute, signedInRoutes } from '../page-routes.ts';
import { AttemptDetail, Resend } from './attempt-detail.tsx';

export function deliveryRoutes(service: Context): DashboardRoute[] {
  const { page } = signedInRoutes(service);
  return [
    page('/deliveries/:attemptId', async ({ account, owner, param }) => {
      const attempt = await attemptOf(param('attemptId'), owner);
      const { rideId, seq } = attempt;
      const ofEvent = rideId && seq !== undefined ? await attemptsOfEvent({ rideId, seq }, owner) : [];
      return deliveryPage({ account, attempt, ofEvent, now: service.now() });
    }),
  ];
}

interface DeliveryPageProps {
  account: CurrentAccount;
  attempt: ShownAttempt;
  /** All attempts of the same event, this one included. Empty for a test event. */
  ofEvent: readonly AttemptSummary[];
  now: number;
}

/** One delivery. While it is waiting, the page refreshes automatically. */
function deliveryPage({ account, attempt, ofEvent, now }: DeliveryPageProps): string {
  const { event, outcome, kind, rideId, seq, mode } = attempt;
  const name = eventText({ event, rideStatus: attempt.rideStatus ?? statusIn(event, attempt.body) });
  const waiting = [attempt, ...ofEvent].some((each) => each.outcome === 'waiting');
  return dashboardPage({
    title: `Delivery of ${name}`,
    account,
    section: 'deliveries',
    test: mode === 'test',
    scripts: ['live-page.js'],
    ...(waiting && { refreshPath: attemptPath(attempt._id) }),
    children: (
      <div
        data-live={[outcome, ...ofEvent.map((each) => each.outcome)].join(' ')}
        data-waiting={waiting ? '' : undefined}
      >
        <PageHead
          title={
            <span class="title-row">
              Delivery of <code>{name}</code> <OutcomePill outcome={outcome} /> <KindTag kind={kind} />
            </span>
          }
        >
          {rideId && seq !== undefined ? (
            <p>
              Event {seq} of ride <RideLink rideId={rideId} />.{' '}
              <a href={entryPath(rideId, `attempt-${attempt._id}`)}>Show it in the ride’s timeline</a>
            </p>
          ) : (
            <p>
              A test event for the webhook URL of a key. <a href={keyPath(attempt.keyId)}>Go to the key</a>
            </p>
          )}
        </PageHead>
        <div class={ofEvent.length > 0 ? 'delivery' : undefined}>
          <div class="card detail">
            <AttemptDetail attempt={attempt} now={now}>
              {rideId && seq !== undefined && outcome !== 'waiting' && !attempt.erasedAt && (
                <Resend rideId={rideId} seq={seq} />
              )}
            </AttemptDetail>
          </div>
          {ofEvent.length > 0 && <AttemptsOfEvent attempts={ofEvent} currentId={attempt._id} />}
        </div>
      </div>
    ),
  });
}

/** All attempts of the event, oldest first. */
function AttemptsOfEvent({ attempts, currentId }: { attempts: readonly AttemptSummary[]; currentId: string }) {
  return (
    <nav class="attempts" id="attempts" aria-labelledby="attempts-title">
      <h2 id="attempts-title">Attempts of this event</h2>
      <ol>
        {attempts.map((attempt) => (
          <li key={attempt._id} id={attempt._id}>
            <a href={attemptPath(attempt._id)} aria-current={attempt._id === currentId ? 'page' : undefined}>
              <OutcomePill outcome={attempt.outcome} />
              <span>{attempt.httpStatus ?? failureReason(attempt)?.name}</span>
              <KindTag kind={attempt.kind} />
              <span class="quiet">
                <Time at={attempt.startedAt ?? attempt.at} />
              </span>
            </a>
          </li>
        ))}
      </ol>
      {attempts.length === 1 && <p class="quiet">It was not resent.</p>}
    </nav>
  );
}
