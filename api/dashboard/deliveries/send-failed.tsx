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

/** Reads the form. `since` is missing if the form has faults. */
export function readSendFailed(form: Form): { typed: SendFailedForm; since?: Date } {
  const [key, typedSince] = [form.text('keyId'), form.text('since').trim()];
  const since = timeIn(typedSince, 'start');
  const faults: Faults = {
    ...(!key && { keyId: 'Choose the key whose failed events you want to send again' }),
    ...(!since && { since: 'Enter a time in UTC: failed events since then are sent again' }),
  };
  return { typed: { key, since: typedSince, faults }, ...(key && since && { since }) };
}

/** The initial value of the form's time field, to the minute. */
export const dayAgo = (now: number): string => exactText(new Date(now - 24 * 3_600_000)).slice(0, 16);

export function SentNotice({ sent }: { sent: number }) {
  return (
    <div class="notice good" role="status">
      {sent === 0 ? (
        <p>No event of this key has failed since then, so nothing is sent again.</p>
      ) : (
        <p>
          {sent === 1 ? 'One event is' : `${countText(sent)} events are`} being sent again: 10 a second, the events of
          each ride in order.
          <noscript> Reload the list to see the results.</noscript>
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
        Use this after your receiver was down. It resends every event of the key that has failed since the given time,
        at most 500.
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
