import { characterFault } from '../../shared/base/shown-text.ts';
import { maxCountedKeys } from '../../shared/keys/list-keys.ts';
import { isKeyName, type KeyFacts } from '../../shared/keys/manage-keys.ts';
import { type FailureCode, failureReasons } from '../../shared/webhooks/failure-reasons.ts';
import { fault } from './declared-fields.tsx';
import { countText, Pill, Time } from './facts.tsx';
import { failedDeliveriesPath, keyPath, ridesOfKeyPath } from './paths.ts';

export const revokedText = (count: number): string =>
  count > maxCountedKeys ? `over ${countText(maxCountedKeys)}` : countText(count);

export const lastFour = ({ hint }: Pick<KeyFacts, 'hint'>): string => `…${hint.slice(-4)}`;

export const TimeOrNever = ({ at }: { at?: Date }) => (at ? <Time at={at} /> : <span class="quiet">never</span>);

export const RideCount = ({ keyId, count }: { keyId: string; count: number }) =>
  count > 0 ? <a href={ridesOfKeyPath(keyId)}>{countText(count)}</a> : <span class="quiet">0</span>;

/** The consecutive failures of a key's deliveries. */
export interface FailureStreak {
  failuresInRow: number;
  since: Date;
  /** The reason of the last failure. */
  reason?: FailureCode;
}

export const FailingPill = () => <Pill status="failed">deliveries fail</Pill>;

interface FailingKey {
  keyId: string;
  /** The key's name, on other pages than the key's own. */
  name?: string;
  failing: FailureStreak;
}

/** Warns that the deliveries of a key fail. */
export function FailingBanner({ name, keyId, failing }: FailingKey) {
  const [reason, remedy] = failing.reason ? failureReasons[failing.reason] : [];
  return (
    <section class="notice bad" aria-label="Failing deliveries">
      <p>
        <strong>
          {name === undefined ? 'Deliveries of this key fail: ' : <>Deliveries of {name} fail: </>}
          {countText(failing.failuresInRow)} in a row,
        </strong>{' '}
        since <Time at={failing.since} />. Each event is sent once; there is no automatic retry.
      </p>
      {reason && (
        <p>
          Last reason: {reason}. {remedy}
        </p>
      )}
      <p class="links">
        <a href={failedDeliveriesPath(keyId)}>Show failed deliveries</a>
        {name !== undefined && <a href={keyPath(keyId)}>Set webhook URL</a>}
      </p>
    </section>
  );
}

/** The name of a key, or its fault. */
export function keyNameIn(typed: string): string {
  if (isKeyName(typed)) return typed;
  if (characterFault(typed)) fault(`The name ${characterFault(typed)}`);
  return fault(
    typed.trim()
      ? 'The name is too long: use at most 100 characters'
      : 'Enter a name, for example of the system that uses it',
  );
}
