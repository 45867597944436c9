import type { Context } from '../../../shared/base/context.ts';
import { attemptOf, listAttempts, type RecordedOutcome } from '../../../shared/webhooks/attempts.ts';
import { redeliverFailed } from '../../../shared/webhooks/redeliver.ts';
import { exactText } from '../facts.tsx';
import type { Faults } from '../forms.tsx';
import { addressOf, keysOfRows, type ListFilters, oneOf, readFilters, timeIn } from '../rides/filters.tsx';
import { type Answer, type DashboardRoute, signedInRoutes, type Visit } from '../visit.ts';
import { deliveriesPage, type SendFailedForm } from './deliveries-page.tsx';
import { deliveryPage } from './delivery-page.tsx';
import { deliveriesPath, eventNames, missedOutcomes, outcomeFilters } from './paths.ts';

const pageSize = 50;

/** All deliveries of the account: the list, one delivery, and sending what failed once more. */
export function deliveriesRoutes(service: Context): DashboardRoute[] {
  const { page, action } = signedInRoutes(service);

  async function showList(visit: Visit, more: Partial<SendFailedForm> = {}): Promise<Answer> {
    const { account, query } = visit;
    const filters = await readFilters(visit, ['outcome', 'event']);
    const hasFaults = Object.keys(filters.faults).length > 0;
    const after = query('after');
    const found = hasFaults ? [] : await listAttempts({ accountId: account._id }, queryOf(filters, after));
    const html = deliveriesPage({
      account,
      filters,
      attempts: found.slice(0, pageSize),
      keys: await keysOfRows(found, visit),
      hasOlder: found.length > pageSize,
      after,
      sent: /^\d{1,3}$/.test(query('sent')) ? Number(query('sent')) : undefined,
      form: { key: filters.values.key ?? '', since: filters.values.from || dayAgo(service.now()), faults: {}, ...more },
      now: service.now(),
    });
    return { html, status: hasFaults || more.faults ? 422 : 200 };
  }

  return [
    page('/deliveries', (visit) => showList(visit)),

    page('/deliveries/:attemptId', async ({ account, param }) => {
      const owner = { accountId: account._id };
      const attempt = await attemptOf(param('attemptId'), owner);
      return deliveryPage({ account, attempt, now: service.now() });
    }),

    action('/deliveries/send-again', async (sending) => {
      const { account, form, sent } = sending;
      const typed = { key: form.text('keyId'), since: form.text('since').trim() };
      const asked = { accountId: account._id, requestId: sending.ctx.state.requestId, form: sent.id };
      const since = timeIn(typed.since, 'start');
      const faults: Faults = {
        ...(!typed.key && { keyId: 'Choose the key whose events are sent again' }),
        ...(!since && { since: 'Give the time, in UTC, from which failed events are sent again' }),
      };
      if (!since || !typed.key) return showList(sending, { ...typed, faults });
      const seen = { key: typed.key, from: typed.since };
      const count = await redeliverFailed(service, typed.key, { since }, asked);
      return { see: addressOf(deliveriesPath, seen, { sent: String(count) }) };
    }),
  ];
}

/** To the minute, as a field for times takes it. */
const dayAgo = (now: number): string => exactText(new Date(now - 24 * 3_600_000)).slice(0, 16);

function queryOf({ values, key, from, to }: ListFilters, after: string) {
  const chosen = oneOf(outcomeFilters, values.outcome);
  const outcome: readonly RecordedOutcome[] | RecordedOutcome | undefined =
    chosen === 'missed' ? missedOutcomes : chosen;
  const event = oneOf(eventNames, values.event);
  return { keyId: key?._id, outcome, event, from, to, after: after || undefined, limit: pageSize + 1 };
}
