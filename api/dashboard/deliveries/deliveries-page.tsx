import type { Account } from '../../../shared/accounts/account.ts';
import { type AttemptSummary, recordedOutcomes } from '../../../shared/webhooks/attempts.ts';
import { failureReason } from '../../../shared/webhooks/failure-reasons.ts';
import { countText, Empty, OutcomePill, outcomeLabels } from '../facts.tsx';
import { ChangeForm, ChoiceField, FaultSummary, type Faults } from '../forms.tsx';
import { dashboardPage, PageHead } from '../frame.tsx';
import { FilterForm, isFiltered, KeyField, type ListedKey, type ListFilters, TimeField } from '../rides/filters.tsx';
import { FindById } from '../rides/find-by-id.tsx';
import { Pager } from '../rides/pager.tsx';
import { KeyName, ListTime, None, RideLink } from '../rides/ride-facts.tsx';
import { KindTag, msText } from './attempt-detail.tsx';
import { attemptPath, deliveriesPath, eventNames } from './paths.ts';

/** "Send failed events again": what was typed, and what is wrong with it. */
export interface SendFailedForm {
  key: string;
  since: string;
  faults: Faults;
}

export interface DeliveriesPageProps {
  account: Account;
  filters: ListFilters;
  attempts: readonly AttemptSummary[];
  /** Those of the attempts. */
  keys: readonly ListedKey[];
  hasOlder: boolean;
  after?: string;
  /** How many events are sent again, after the form for it was sent. */
  sent?: number;
  form: SendFailedForm;
  now: number;
}

/** Deliveries over all rides, test events and redeliveries among them, the newest first. */
export function deliveriesPage(props: DeliveriesPageProps): string {
  const { account, filters, attempts, keys, hasOlder, after, sent, form, now } = props;
  const { values, key, faults } = filters;
  const hasErrors = Object.keys({ ...faults, ...form.faults }).length > 0;
  const waiting = attempts.some(({ outcome }) => outcome === 'waiting');
  return dashboardPage({
    title: 'Deliveries',
    account,
    room: 'deliveries',
    test: key?.mode === 'test',
    hasErrors,
    scripts: ['live-page.js'],
    children: (
      <>
        <PageHead title="Deliveries" actions={<FindById />}>
          <p>Every attempt to send an event to your webhook. An event is sent once; you can send it again by hand.</p>
        </PageHead>
        <FaultSummary faults={faults} title="Not filtered yet" />
        <FaultSummary faults={form.faults} title="Nothing is sent yet" />
        {sent !== undefined && <SentNotice sent={sent} />}
        <FilterForm path={deliveriesPath} filters={filters}>
          <ChoiceField
            name="outcome"
            label="Outcome"
            value={values.outcome}
            options={[
              ['', 'All outcomes'],
              ['missed', 'not delivered'],
              ...recordedOutcomes.map((outcome) => [outcome, outcomeLabels[outcome]] as const),
            ]}
          />
          <ChoiceField
            name="event"
            label="Event"
            value={values.event}
            options={[['', 'All events'], ...eventNames.map((name) => [name, name] as const)]}
          />
        </FilterForm>
        {Object.keys(faults).length === 0 && attempts.length === 0 && <NoDeliveries filters={filters} after={after} />}
        {attempts.length > 0 && (
          <div data-live={attempts.map(({ outcome }) => outcome).join(' ')} data-waiting={waiting ? '' : undefined}>
            <DeliveriesTable attempts={attempts} keys={keys} now={now} />
          </div>
        )}
        <Pager path={deliveriesPath} values={values} after={after} last={hasOlder ? attempts.at(-1)?._id : undefined} />
        {(attempts.length > 0 || isFiltered(filters) || hasErrors) && <SendFailed form={form} keys={filters.keys} />}
      </>
    ),
  });
}

function SentNotice({ sent }: { sent: number }) {
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

function NoDeliveries({ filters, after }: { filters: ListFilters; after?: string }) {
  if (after) return <Empty text="There are no older deliveries." />;
  if (isFiltered(filters)) {
    return (
      <Empty text="No delivery matches these filters.">
        <a class="btn second" href={deliveriesPath}>
          Show all deliveries
        </a>
      </Empty>
    );
  }
  return (
    <Empty text="A delivery appears here as soon as an event is sent to your webhook.">
      {filters.keys.length === 0 ? (
        <a class="btn" href="/dashboard/keys">
          Create a key
        </a>
      ) : (
        <a class="btn" href="/dashboard/keys">
          Set a webhook URL
        </a>
      )}
    </Empty>
  );
}

function DeliveriesTable({
  attempts,
  keys,
  now,
}: {
  attempts: readonly AttemptSummary[];
  keys: readonly ListedKey[];
  now: number;
}) {
  const keysById = new Map(keys.map((key) => [key._id, key]));
  return (
    <div class="scroll">
      <table class="table deliveries">
        <thead>
          <tr>
            <th scope="col">Event</th>
            <th scope="col">Outcome</th>
            <th scope="col">Answer</th>
            <th scope="col" class="number">
              Took
            </th>
            <th scope="col">Ride</th>
            <th scope="col">At (UTC)</th>
            <th scope="col">Key</th>
          </tr>
        </thead>
        <tbody>
          {attempts.map((attempt) => (
            <tr key={attempt._id}>
              <td data-label="Event">
                <span>
                  <a href={attemptPath(attempt._id)}>{attempt.event}</a> <KindTag kind={attempt.kind} />
                </span>
              </td>
              <td data-label="Outcome">
                <OutcomePill outcome={attempt.outcome} />
              </td>
              <td data-label="Answer" class="answer">
                <Answered attempt={attempt} />
              </td>
              <td data-label="Took" class="number">
                {attempt.durationMs === undefined ? <None /> : msText(attempt.durationMs)}
              </td>
              <td data-label="Ride">{attempt.rideId ? <RideLink rideId={attempt.rideId} /> : <None />}</td>
              <td data-label="At">
                <ListTime at={attempt.startedAt ?? attempt.at} now={now} />
              </td>
              <td data-label="Key" class="key">
                <KeyName keyId={attempt.keyId} known={keysById.get(attempt.keyId)} mode={attempt.mode} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The status of the answer, or why there was none. */
function Answered({ attempt }: { attempt: AttemptSummary }) {
  if (attempt.httpStatus !== undefined) return attempt.httpStatus;
  const reason = failureReason(attempt);
  return reason ? <span class="reason">{reason.name}</span> : <None />;
}

function SendFailed({ form, keys }: { form: SendFailedForm; keys: readonly ListedKey[] }) {
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
