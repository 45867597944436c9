import { statusIn } from '../../shared/rides/events.ts';
import { type AttemptSummary, attemptOf, attemptsOfEvent } from '../../shared/webhooks/attempts.ts';
import { failureReason } from '../../shared/webhooks/failure-reasons.ts';
import type { ShownAttempt } from '../../shared/webhooks/ride-history.ts';
import type { Document } from '../kit/answer.ts';
import { AttemptDetail, Resend } from '../kit/attempt-detail.tsx';
import { eventText, KindTag, OutcomePill, RideLink, Time } from '../kit/facts.tsx';
import { page } from '../kit/page.tsx';
import { attemptPath, entryPath, keyPath } from '../kit/paths.ts';
import { builders } from '../kit/roles.ts';

/** One delivery. While it is waiting, the page refreshes automatically. */
export const delivery = page('/deliveries/:attemptId', {
  section: 'deliveries',
  roles: builders,
  async read({ owner, param, service }) {
    const attempt = await attemptOf(param('attemptId'), owner);
    const { rideId, seq } = attempt;
    const ofEvent = rideId && seq !== undefined ? await attemptsOfEvent({ rideId, seq }, owner) : [];
    return { attempt, ofEvent, now: service.now() };
  },
  view: deliveryView,
});

interface DeliveryData {
  attempt: ShownAttempt;
  /** All attempts of the same event, this one included. Empty for a test event. */
  ofEvent: readonly AttemptSummary[];
  now: number;
}

function deliveryView({ attempt, ofEvent, now }: DeliveryData): Document {
  const { event, outcome, rideId, seq, mode } = attempt;
  const name = eventText({ event, rideStatus: attempt.rideStatus ?? statusIn(event, attempt.body) });
  const waiting = [attempt, ...ofEvent].some((each) => each.outcome === 'waiting');
  return {
    title: `Delivery of ${name}`,
    test: mode === 'test',
    scripts: ['live-page.js'],
    ...(waiting && { refreshPath: attemptPath(attempt._id) }),
    around: (page) => (
      <div
        class="flow"
        data-live={[outcome, ...ofEvent.map((each) => each.outcome)].join(' ')}
        data-waiting={waiting ? '' : undefined}
      >
        {page}
      </div>
    ),
    heading: (
      <span class="row">
        Delivery of <code>{name}</code> <OutcomePill outcome={outcome} /> <KindTag attempt={attempt} />
      </span>
    ),
    lead: <Lead attempt={attempt} />,
    children: (
      <div class={ofEvent.length > 0 ? 'columns delivery' : undefined}>
        <div class="card detail stack">
          <AttemptDetail attempt={attempt} now={now}>
            {rideId && seq !== undefined && outcome !== 'waiting' && !attempt.erasedAt && (
              <Resend rideId={rideId} seq={seq} endpointId={attempt.endpointId} />
            )}
          </AttemptDetail>
        </div>
        {ofEvent.length > 0 && <AttemptsOfEvent attempts={ofEvent} currentId={attempt._id} />}
      </div>
    ),
  };
}

/** What was sent: an event of a ride, or a test event. */
function Lead({ attempt: { _id, keyId, rideId, seq } }: { attempt: ShownAttempt }) {
  if (!rideId) {
    return (
      <p>
        A test event for a webhook URL of a key. <a href={keyPath(keyId)}>Go to the key</a>
      </p>
    );
  }
  if (seq === undefined) {
    return (
      <p>
        A withdrawn offer on ride <RideLink rideId={rideId} />.
      </p>
    );
  }
  return (
    <p>
      Event {seq} of ride <RideLink rideId={rideId} />.{' '}
      <a href={entryPath(rideId, `attempt-${_id}`)}>Show it in the ride’s timeline</a>
    </p>
  );
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
              <KindTag attempt={attempt} />
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
