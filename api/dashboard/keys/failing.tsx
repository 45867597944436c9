import { type FailureCode, failureReasons } from '../../../shared/webhooks/failure-reasons.ts';
import { countText, When } from '../facts.tsx';
import { failedDeliveriesPath, keyPath } from './paths.ts';

/** Deliveries of a key have failed, one after the other, since a time. */
export interface Failing {
  failuresInRow: number;
  since: Date;
  /** Why the last one failed. */
  reason?: FailureCode;
}

export function FailingPill() {
  return (
    <span class="pill" data-status="failed">
      deliveries fail
    </span>
  );
}

/** Says that a key's deliveries fail: events are sent once, so what is missed now is missed for good. */
export function FailingBanner({
  name,
  keyId,
  failing,
  now,
}: {
  keyId: string;
  /** Where the page is not the key's own. */
  name?: string;
  failing: Failing;
  now: number;
}) {
  const [reason, remedy] = failing.reason ? failureReasons[failing.reason] : [];
  return (
    <section class="notice bad" aria-label="Failing deliveries">
      <p>
        <strong>
          {name === undefined ? 'Deliveries of this key fail: ' : <>Deliveries of {name} fail: </>}
          {countText(failing.failuresInRow)} in a row,
        </strong>{' '}
        since <When at={failing.since} now={now} />. Events are sent once and not repeated by themselves.
      </p>
      {reason && (
        <p>
          Last cause: {reason}. {remedy}
        </p>
      )}
      <p class="links">
        <a href={failedDeliveriesPath(keyId)}>See what failed, and why</a>
        {name !== undefined && <a href={keyPath(keyId)}>Change the webhook URL</a>}
      </p>
    </section>
  );
}
