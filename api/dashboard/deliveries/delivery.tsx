import type { Account } from '../../../shared/accounts/account.ts';
import type { Context } from '../../../shared/base/context.ts';
import { attemptOf } from '../../../shared/webhooks/attempts.ts';
import type { ShownAttempt } from '../../../shared/webhooks/ride-history.ts';
import { KindTag, OutcomePill, RideLink } from '../facts.tsx';
import { dashboardPage, PageHead } from '../frame.tsx';
import { type DashboardRoute, signedInRoutes } from '../page-routes.ts';
import { entryPath } from '../paths.ts';
import { AttemptDetail, SendAgain } from './attempt-detail.tsx';

export function deliveryRoutes(service: Context): DashboardRoute[] {
  const { page } = signedInRoutes(service);
  return [
    page('/deliveries/:attemptId', async ({ account, owner, param }) => {
      const attempt = await attemptOf(param('attemptId'), owner);
      return deliveryPage({ account, attempt, now: service.now() });
    }),
  ];
}

/** One delivery. While it is waiting, the page refreshes automatically. */
function deliveryPage({ account, attempt, now }: { account: Account; attempt: ShownAttempt; now: number }): string {
  const { event, outcome, kind, rideId, seq, mode } = attempt;
  const waiting = outcome === 'waiting';
  return dashboardPage({
    title: `Delivery of ${event}`,
    account,
    section: 'deliveries',
    test: mode === 'test',
    scripts: ['live-page.js'],
    ...(waiting && { refreshPath: `/dashboard/deliveries/${attempt._id}` }),
    children: (
      <div data-live={outcome} data-waiting={waiting ? '' : undefined}>
        <PageHead
          title={
            <span class="title-row">
              Delivery of <code>{event}</code> <OutcomePill outcome={outcome} /> <KindTag kind={kind} />
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
              A test event for the webhook URL of a key. <a href={`/dashboard/keys/${attempt.keyId}`}>Show the key</a>
            </p>
          )}
        </PageHead>
        <div class="card detail">
          <AttemptDetail attempt={attempt} now={now}>
            {rideId && seq !== undefined && !waiting && !attempt.erasedAt && <SendAgain rideId={rideId} seq={seq} />}
          </AttemptDetail>
        </div>
      </div>
    ),
  });
}
