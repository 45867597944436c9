import type { Form } from '../../http/body.ts';
import { countText, exactText } from '../facts.tsx';
import { ChangeForm, type Faults } from '../forms.tsx';
import { KeyField, type ListedKey, TimeField, timeIn } from '../lists.tsx';
import { deliveriesPath } from '../paths.ts';

/** The form "Send failed events again" as typed, with its faults. */
export interface SendFailedForm {
  key: string;
  since: string;
  faults: Faults;
}

/** Reads the form. `since` is missing where there are faults. */
export function readSendFailed(form: Form): { typed: SendFailedForm; since?: Date } {
  const [key, typedSince] = [form.text('keyId'), form.text('since').trim()];
  const since = timeIn(typedSince, 'start');
  const faults: Faults = {
    ...(!key && { keyId: 'Choose the key whose events are sent again' }),
    ...(!since && { since: 'Give the time, in UTC, from which failed events are sent again' }),
  };
  return { typed: { key, since: typedSince, faults }, ...(key && since && { since }) };
}

/** The time that the form begins with, to the minute. */
export const dayAgo = (now: number): string => exactText(new Date(now - 24 * 3_600_000)).slice(0, 16);

export function SentNotice({ sent }: { sent: number }) {
  return (
    <div class="notice good" role="status">
      {sent === 0 ? (
        <p>No event of this key has failed since then: nothing is sent again.</p>
      ) : (
        <p>
          {sent === 1 ? 'One event is' : `${countText(sent)} events are`} being sent again, in the order of each ride,
          10 a second.
          <noscript> Load the list again to see how they went.</noscript>
        </p>
      )}
    </div>
  );
}

export function SendFailed({ form, keys }: { form: SendFailedForm; keys: readonly ListedKey[] }) {
  return (
    <section class="section card send-failed" id="send-failed" aria-labelledby="send-failed-title">
      <h2 id="send-failed-title">Send failed events again</h2>
      <p class="quiet">
        For when your receiver was away: every event of a key that has not arrived since then, 500 at most.
      </p>
      <ChangeForm action={`${deliveriesPath}/send-again`} class="form inline">
        <KeyField name="keyId" keys={keys} value={form.key} all="Choose a key" faults={form.faults} />
        <TimeField name="since" label="Failed since (UTC)" value={form.since} faults={form.faults} />
        <button class="btn" type="submit">
          Send failed again
        </button>
      </ChangeForm>
    </section>
  );
}
