import { sentEvents } from '../../shared/base/terms.ts';
import { rideNames } from '../../shared/rides/list-rides.ts';
import { type RecordedOutcome, recordedOutcomes } from '../../shared/webhooks/attempts.ts';
import { listAttempts } from '../../shared/webhooks/list-attempts.ts';
import { redeliverFailed } from '../../shared/webhooks/redeliver.ts';
import type { Document, SentRequest } from '../kit/answer.ts';
import { ButtonLink, Empty } from '../kit/blocks.tsx';
import { outcomeLabels } from '../kit/facts.tsx';
import { form } from '../kit/form.ts';
import { ChoiceField, FaultSummary } from '../kit/forms.tsx';
import {
  addressOf,
  FilterForm,
  FindById,
  isFiltered,
  keysOfRows,
  type ListFilters,
  oneOf,
  Pager,
  readFilters,
} from '../kit/lists.tsx';
import { page } from '../kit/page.tsx';
import { deliveriesPath, keysPath } from '../kit/paths.ts';
import { builders } from '../kit/roles.ts';
import { DeliveriesTable, type DeliveriesTableProps } from './deliveries-table.tsx';
import {
  firstPeriod,
  isPeriod,
  readSendFailed,
  SendFailed,
  type SendFailedForm,
  SentNotice,
  utcMinute,
} from './send-failed.tsx';

const pageSize = 50;

/** The deliveries of all rides, including test events and resends, newest first, and the form that resends failed events. */
export const deliveries = page('/deliveries', {
  section: 'deliveries',
  entry: 'Deliveries',
  roles: builders,
  async read(request) {
    const { owner, query } = request;
    const filters = await readFilters(request, ['outcome', 'event']);
    const hasFaults = Object.keys(filters.faults).length > 0;
    const after = query('after');
    const found = hasFaults ? [] : await listAttempts(owner, queryOf(filters, after));
    const attempts = found.slice(0, pageSize);
    const rideIds = [...new Set(attempts.flatMap(({ rideId = [] }) => rideId))];
    const [keys, rides] = await Promise.all([keysOfRows(found, request), rideNames(rideIds, owner)]);
    const form: SendFailedForm = {
      key: keyToResend(filters),
      since: filters.from ? utcMinute(filters.from) : firstPeriod,
      faults: {},
    };
    const sent = /^\d{1,3}$/.test(query('sent')) ? Number(query('sent')) : undefined;
    return { filters, attempts, keys, rides, hasOlder: found.length > pageSize, after, sent, form };
  },
  view: deliveriesView,
  faultTitle: 'Nothing was resent',
  forms: { 'send-again': form({ path: '/deliveries/send-again', act: sendAgain }) },
});

async function sendAgain(request: SentRequest) {
  const { typed, since } = readSendFailed(request);
  if (!since) return { again: 422, faults: typed.faults, show: { form: typed } };
  const { owner, requestId, sent, service } = request;
  const count = await redeliverFailed(service, typed.key, { since }, { ...owner, requestId, form: sent.id });
  const list = { key: typed.key, from: isPeriod(typed.since) ? '' : typed.since };
  return { redirectTo: addressOf(deliveriesPath, list, { sent: String(count) }) };
}

/** The key of the filter, or the account's only key. */
const keyToResend = ({ values, keys }: ListFilters): string =>
  values.key || (keys.length === 1 ? (keys[0]?._id ?? '') : '');

function queryOf({ values, key, from, to }: ListFilters, after: string) {
  const chosen = oneOf(outcomeFilters, values.outcome);
  const outcome: readonly RecordedOutcome[] | RecordedOutcome | undefined =
    chosen === 'missed' ? missedOutcomes : chosen;
  const event = oneOf(sentEvents, values.event);
  return { keyId: key?._id, outcome, event, from, to, after: after || undefined, limit: pageSize + 1 };
}

/** The outcomes of the filter "not delivered": the key or ride has a URL, but the event did not arrive. */
const missedOutcomes = ['failed', 'timeout', 'blocked'] as const satisfies RecordedOutcome[];
const outcomeFilters = ['missed', ...recordedOutcomes] as const;

interface DeliveriesData extends DeliveriesTableProps {
  filters: ListFilters;
  hasOlder: boolean;
  after?: string;
  /** The number of events that the form has resent. */
  sent?: number;
  form: SendFailedForm;
}

function deliveriesView(data: DeliveriesData): Document {
  const { filters, attempts, keys, rides, hasOlder, after, sent, form } = data;
  const { values, key, faults } = filters;
  const [hasErrors, isRefused] = [faults, form.faults].map((each) => Object.keys(each).length > 0);
  const waiting = attempts.some(({ outcome }) => outcome === 'waiting');
  return {
    title: 'Deliveries',
    test: key?.mode === 'test',
    hasErrors,
    scripts: ['live-page.js'],
    lead: (
      <p>Every attempt to send an event to your webhook. Each event is sent once to each URL; you can resend it.</p>
    ),
    actions: <FindById />,
    children: (
      <>
        <FaultSummary faults={faults} title="Filters not applied" />
        {sent !== undefined && <SentNotice sent={sent} />}
        {(attempts.length > 0 || isFiltered(filters) || hasErrors || isRefused) && (
          <SendFailed form={form} keys={filters.keys} isOpen={values.outcome === 'missed' || isRefused === true} />
        )}
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
            options={[['', 'All events'], ...sentEvents.map((name) => [name, name] as const)]}
          />
        </FilterForm>
        {!hasErrors && attempts.length === 0 && <NoDeliveries filters={filters} after={after} />}
        {attempts.length > 0 && (
          <div data-live={attempts.map(({ outcome }) => outcome).join(' ')} data-waiting={waiting ? '' : undefined}>
            <DeliveriesTable attempts={attempts} keys={keys} rides={rides} />
          </div>
        )}
        <Pager path={deliveriesPath} values={values} after={after} last={hasOlder ? attempts.at(-1)?._id : undefined} />
      </>
    ),
  };
}

function NoDeliveries({ filters, after }: { filters: ListFilters; after?: string }) {
  if (after) return <Empty text="No older deliveries." />;
  if (isFiltered(filters)) {
    return (
      <Empty text="No delivery matches these filters.">
        <ButtonLink to={deliveriesPath}>Show all deliveries</ButtonLink>
      </Empty>
    );
  }
  return (
    <Empty text="A delivery appears here as soon as an event is sent to your webhook.">
      {filters.keys.length === 0 ? (
        <ButtonLink to={`${keysPath}/new`} first>
          Create key
        </ButtonLink>
      ) : (
        <ButtonLink to={keysPath} first>
          Set webhook URL
        </ButtonLink>
      )}
    </Empty>
  );
}
