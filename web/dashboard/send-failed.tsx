import type { SentRequest } from '../kit/answer.ts';
import { DeclaredForm } from '../kit/declared-form.tsx';
import { countText, exactText } from '../kit/facts.tsx';
import { ChoiceField, type Faults } from '../kit/forms.tsx';
import { KeyField, type ListedKey, timeIn } from '../kit/lists.tsx';

/** The form "Resend failed events" as typed, with its faults. */
export interface SendFailedForm {
  key: string;
  since: string;
  faults: Faults;
}

const hourMs = 3_600_000;
/** The choices of the form: the events that failed in the last hour, and so on. */
const periods: Readonly<Record<string, { ms: number; label: string }>> = {
  '1h': { ms: hourMs, label: 'the last hour' },
  '24h': { ms: 24 * hourMs, label: 'the last 24 hours' },
  '7d': { ms: 7 * 24 * hourMs, label: 'the last 7 days' },
  '30d': { ms: 30 * 24 * hourMs, label: 'the last 30 days' },
};
export const firstPeriod = '24h';
export const isPeriod = (since: string): boolean => Object.hasOwn(periods, since);

/** Reads the form. `since` is a period, or a time in UTC. It is missing in the result if the form has faults. */
export function readSendFailed({ text, service }: SentRequest): { typed: SendFailedForm; since?: Date } {
  const [key, typedSince] = [text('keyId'), text('since').trim()];
  const period = isPeriod(typedSince) ? periods[typedSince] : undefined;
  const since = period ? new Date(service.now() - period.ms) : timeIn(typedSince, 'start');
  const faults: Faults = {
    ...(!key && { keyId: 'Choose the key whose failed events you want to resend' }),
    ...(!since && { since: 'Choose since when the events have failed' }),
  };
  return { typed: { key, since: typedSince, faults }, ...(key && since && { since }) };
}

/** `2026-11-21 14:03`, in UTC. */
export const utcMinute = (at: Date): string => exactText(at).slice(0, 16);

export function SentNotice({ sent }: { sent: number }) {
  return (
    <div class="notice good" role="status">
      {sent === 0 ? (
        <p>
          No event of this key has failed since then, so nothing is resent. Copies for further endpoints are resent one
          by one.
        </p>
      ) : (
        <p>
          {sent === 1 ? 'One event is' : `${countText(sent)} events are`} being resent: 10 a second, the events of each
          ride in order.
          <noscript> Reload the list to see the results.</noscript>
        </p>
      )}
    </div>
  );
}

/** The form above the list. It is folded unless it has faults or the list shows failed events. */
export function SendFailed({
  form,
  keys,
  isOpen,
}: {
  form: SendFailedForm;
  keys: readonly ListedKey[];
  isOpen: boolean;
}) {
  const choices = Object.entries(periods).map(([period, { label }]) => [period, label] as const);
  const isTime = form.since !== '' && !isPeriod(form.since);
  return (
    <details id="send-failed" open={isOpen}>
      <summary class="btn second">Resend failed events</summary>
      <div class="card stack">
        <p class="quiet">
          Use this after your receiver was down. It resends every event of the key that has failed in this time, at most
          500. It leaves out copies for further endpoints: resend each of them on its own page.
        </p>
        <DeclaredForm name="send-again" class="form inline" button="Resend events">
          <KeyField name="keyId" keys={keys} value={form.key} all="Choose a key" faults={form.faults} />
          <ChoiceField
            name="since"
            label="Failed in"
            value={form.since}
            faults={form.faults}
            options={isTime ? [[form.since, `the time since ${form.since} UTC`], ...choices] : choices}
          />
        </DeclaredForm>
      </div>
    </details>
  );
}
