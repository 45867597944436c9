import { mostCounted } from '../../../shared/keys/list-keys.ts';
import type { KeyFacts } from '../../../shared/keys/manage-keys.ts';
import { type FailureCode, failureReasons } from '../../../shared/webhooks/failure-reasons.ts';
import { countText, When } from '../facts.tsx';
import { failedDeliveriesPath, keyPath, ridesOfKeyPath } from '../paths.ts';

export const revokedText = (count: number): string =>
  count > mostCounted ? `over ${countText(mostCounted)}` : countText(count);

export const lastFour = ({ hint }: Pick<KeyFacts, 'hint'>): string => `…${hint.slice(-4)}`;

export const Moment = ({ at, now }: { at?: Date; now: number }) =>
  at ? <When at={at} now={now} /> : <span class="quiet">never</span>;

export const RideCount = ({ keyId, count }: { keyId: string; count: number }) =>
  count > 0 ? <a href={ridesOfKeyPath(keyId)}>{countText(count)}</a> : <span class="quiet">0</span>;

/** The deliveries of a key that have failed in a row. */
export interface Failing {
  failuresInRow: number;
  since: Date;
  /** The reason of the last failure. */
  reason?: FailureCode;
}

export function FailingPill() {
  return (
    <span class="pill" data-status="failed">
      deliveries fail
    </span>
  );
}

/** Warns that a key's deliveries fail. */
export function FailingBanner({
  name,
  keyId,
  failing,
  now,
}: {
  keyId: string;
  /** For a page that is not the key's own. */
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

/** The fault of a text that is no name for a key. */
export const nameFault = (name: string): string =>
  name.trim()
    ? 'The name is too long: use at most 100 characters'
    : 'Enter a name, for example the system that uses it';
