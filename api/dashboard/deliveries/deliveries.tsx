import type { CurrentAccount } from '../../../shared/accounts/members.ts';
import type { Context } from '../../../shared/base/context.ts';
import { rideNames } from '../../../shared/rides/list-rides.ts';
import type { EventName } from '../../../shared/rides/ride-types.ts';
import { listAttempts, type RecordedOutcome, recordedOutcomes } from '../../../shared/webhooks/attempts.ts';
import { redeliverFailed } from '../../../shared/webhooks/redeliver.ts';
import { Empty } from '../../../web/kit/blocks.tsx';
import { outcomeLabels } from '../../../web/kit/facts.tsx';
import { ChoiceField, FaultSummary } from '../../../web/kit/forms.tsx';
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
} from '../../../web/kit/lists.tsx';
import { deliveriesPath, keysPath } from '../../../web/kit/paths.ts';
import { dashboardPage, PageHead } from '../frame.tsx';
import { type Answer, type DashboardRoute, type PageRequest, requesterOf, signedInRoutes } from '../page-routes.ts';
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

/** The list of the account's deliveries, and the form that resends failed events. */
export function deliveriesRoutes(service: Context): DashboardRoute[] {
  const { page, action } = signedInRoutes(service);

  async function showList(request: PageRequest, more: Partial<SendFailedForm> = {}): Promise<Answer> {
    const { account, owner, query } = request;
    const filters = await readFilters(request, ['outcome', 'event']);
    const hasFaults = Object.keys(filters.faults).length > 0;
    const after = query('after');
    const found = hasFaults ? [] : await listAttempts(owner, queryOf(filters, after));
    const attempts = found.slice(0, pageSize);
    const rideIds = [...new Set(attempts.flatMap(({ rideId = [] }) => rideId))];
    const [keys, rides] = await Promise.all([keysOfRows(found, request), rideNames(rideIds, owner)]);
    const html = deliveriesPage({
      account,
      filters,
      attempts,
      keys,
      rides,
      hasOlder: found.length > pageSize,
      after,
      sent: /^\d{1,3}$/.test(query('sent')) ? Number(query('sent')) : undefined,
      form: {
        key: keyToResend(filters),
        since: filters.from ? utcMinute(filters.from) : firstPeriod,
        faults: {},
        ...more,
      },
    });
    return { html, status: hasFaults || more.faults ? 422 : 200 };
  }

  return [
    page('/deliveries', (request) => showList(request)),

    action('/deliveries/send-again', async (request) => {
      const { typed, since } = readSendFailed(request.form, service.now());
      if (!since) return showList(request, typed);
      const count = await redeliverFailed(service, typed.key, { since }, requesterOf(request));
      const list = { key: typed.key, from: isPeriod(typed.since) ? '' : typed.since };
      return { redirectTo: addressOf(deliveriesPath, list, { sent: String(count) }) };
    }),
  ];
}

/** The key of the filter, or the account's only key. */
const keyToResend = ({ values, keys }: ListFilters): string =>
  values.key || (keys.length === 1 ? (keys[0]?._id ?? '') : '');

function queryOf({ values, key, from, to }: ListFilters, after: string) {
  const chosen = oneOf(outcomeFilters, values.outcome);
  const outcome: readonly RecordedOutcome[] | RecordedOutcome | undefined =
    chosen === 'missed' ? missedOutcomes : chosen;
  const event = oneOf(eventNames, values.event);
  return { keyId: key?._id, outcome, event, from, to, after: after || undefined, limit: pageSize + 1 };
}

/** The outcomes of the filter "not delivered": the key or ride has a URL, but the event did not arrive. */
const missedOutcomes = ['failed', 'timeout', 'blocked'] as const satisfies RecordedOutcome[];
const outcomeFilters = ['missed', ...recordedOutcomes] as const;

const eventNames = ['offer.received', 'ride.status'] as const satisfies EventName[];

interface DeliveriesPageProps extends DeliveriesTableProps {
  account: CurrentAccount;
  filters: ListFilters;
  hasOlder: boolean;
  after?: string;
  /** The number of events that the form has resent. */
  sent?: number;
  form: SendFailedForm;
}

/** The deliveries of all rides, including test events and resends, newest first. */
function deliveriesPage(props: DeliveriesPageProps): string {
  const { account, filters, attempts, keys, rides, hasOlder, after, sent, form } = props;
  const { values, key, faults } = filters;
  const hasErrors = Object.keys({ ...faults, ...form.faults }).length > 0;
  const waiting = attempts.some(({ outcome }) => outcome === 'waiting');
  return dashboardPage({
    title: 'Deliveries',
    account,
    section: 'deliveries',
    test: key?.mode === 'test',
    hasErrors,
    scripts: ['live-page.js'],
    children: (
      <>
        <PageHead title="Deliveries" actions={<FindById />}>
          <p>Every attempt to send an event to your webhook. Each event is sent once; you can resend it.</p>
        </PageHead>
        <FaultSummary faults={faults} title="Filters not applied" />
        <FaultSummary faults={form.faults} title="Nothing was resent" />
        {sent !== undefined && <SentNotice sent={sent} />}
        {(attempts.length > 0 || isFiltered(filters) || hasErrors) && (
          <SendFailed
            form={form}
            keys={filters.keys}
            isOpen={values.outcome === 'missed' || Object.keys(form.faults).length > 0}
          />
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
            options={[['', 'All events'], ...eventNames.map((name) => [name, name] as const)]}
          />
        </FilterForm>
        {Object.keys(faults).length === 0 && attempts.length === 0 && <NoDeliveries filters={filters} after={after} />}
        {attempts.length > 0 && (
          <div data-live={attempts.map(({ outcome }) => outcome).join(' ')} data-waiting={waiting ? '' : undefined}>
            <DeliveriesTable attempts={attempts} keys={keys} rides={rides} />
          </div>
        )}
        <Pager path={deliveriesPath} values={values} after={after} last={hasOlder ? attempts.at(-1)?._id : undefined} />
      </>
    ),
  });
}

function NoDeliveries({ filters, after }: { filters: ListFilters; after?: string }) {
  if (after) return <Empty text="No older deliveries." />;
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
        <a class="btn" href={`${keysPath}/new`}>
          Create key
        </a>
      ) : (
        <a class="btn" href={keysPath}>
          Set webhook URL
        </a>
      )}
    </Empty>
  );
}
