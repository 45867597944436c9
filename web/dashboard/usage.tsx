import { countRevokedKeys } from '../../shared/keys/list-keys.ts';
import { monthOf } from '../../shared/usage/days.ts';
import { type MonthTotal, monthTotals } from '../../shared/usage/statements.ts';
import { type KeyUsage, summaryOf, type Usage, usageOf } from '../../shared/usage/usage-summary.ts';
import type { Document } from '../kit/answer.ts';
import { ButtonLink, Empty, Figure } from '../kit/blocks.tsx';
import { counted, countText, ModePill, moneyText } from '../kit/facts.tsx';
import { revokedText } from '../kit/key-parts.tsx';
import { chosenMonth, monthsSince, monthText, periodOf } from '../kit/months.ts';
import { page } from '../kit/page.tsx';
import { csvPath, keyPath, keysPath, statementPath } from '../kit/paths.ts';
import { accountants } from '../kit/roles.ts';
import { type Column, Table } from '../kit/table.tsx';
import { IfMay, LinkIfMay } from '../kit/viewer.tsx';
import { RidesChart } from './usage-chart.tsx';
import { Periods } from './usage-periods.tsx';

/** The account's rides by day and by key, and the total of each month. */
export const usage = page('/usage', {
  section: 'usage',
  entry: 'Usage',
  roles: accountants,
  async read({ account, owner, query, service }) {
    const now = service.now();
    const month = query('month') ? chosenMonth(query('month'), now) : undefined;
    const [usage, revoked, totals] = await Promise.all([
      usageOf(account._id, periodOf(month, now), now),
      countRevokedKeys(owner),
      monthTotals(account._id, now),
    ]);
    const months = monthsSince(usage.firstDay?.slice(0, 7) ?? monthOf(new Date(now)), now);
    return { usage, revoked, totals, months, month };
  },
  view: usageView,
});

interface UsageData {
  usage: Usage;
  /** The number of revoked keys. They are counted only up to `maxCountedKeys` + 1. */
  revoked: number;
  /** The totals of the months, newest first. */
  totals: readonly MonthTotal[];
  /** The selectable months, newest first. */
  months: readonly string[];
  /** The selected month; without one, the page shows the last 30 days. */
  month?: string;
}

const shownKeys = 20;

function usageView({ usage, revoked, totals, months, month }: UsageData): Document {
  const period = month ? monthText(month) : 'last 30 days';
  const hasRides = usage.keys.some(({ rides }) => rides > 0);
  return {
    title: month ? `Usage, ${period}` : 'Usage',
    heading: 'Usage',
    lead: (
      <p>You pay only for trips taken: rides of a live key that a driver has completed. Days and months are UTC.</p>
    ),
    children: (
      <>
        <Figures keys={usage.keys} revoked={revoked} />
        {!hasRides && <NoRides hasKeys={usage.keys.length + revoked > 0} />}
        {hasRides && (
          <>
            <section class="section">
              <h2>Rides a day</h2>
              <Periods months={months} month={month} />
              {usage.days.some(({ live, test }) => live + test > 0) ? (
                <RidesChart days={usage.days} period={period} />
              ) : (
                <Empty text={`No rides were created in ${month ? period : `the ${period}`}.`} />
              )}
            </section>
            <section class="section">
              <h2>Statements</h2>
              <Table
                label="Statements"
                rows={totals.map((total) => ({ id: total.month, ...total }))}
                columns={monthColumns}
              />
            </section>
            <section class="section">
              <h2>Rides by key</h2>
              <Keys keys={usage.keys} period={period} />
            </section>
          </>
        )}
      </>
    ),
  };
}

function Figures({ keys, revoked }: { keys: readonly KeyUsage[]; revoked: number }) {
  const { activeKeys, ridesCreated, live, test, keysWithTraffic, busiest } = summaryOf(keys);
  return (
    <dl class="figures" aria-label="Summary">
      <Figure
        label="Active keys"
        value={
          <LinkIfMay route="GET /keys" href={keysPath}>
            {countText(activeKeys)}
          </LinkIfMay>
        }
        detail={revoked > 0 && `${revokedText(revoked)} revoked`}
      />
      <Figure
        label="Rides created"
        value={countText(ridesCreated)}
        detail={ridesCreated > 0 && `${countText(live)} live, ${countText(test)} test`}
      />
      <Figure label="Keys with traffic" value={countText(keysWithTraffic)} />
      <Figure
        label="Busiest key"
        value={
          busiest ? (
            <LinkIfMay route="GET /keys/:keyId" href={keyPath(busiest.keyId)}>
              {busiest.name}
            </LinkIfMay>
          ) : (
            <span class="quiet">none yet</span>
          )
        }
        detail={busiest && counted(busiest.rides, 'ride')}
      />
    </dl>
  );
}

function NoRides({ hasKeys }: { hasKeys: boolean }) {
  return (
    <section class="section">
      <Empty
        text={
          hasKeys
            ? 'No rides yet. Each day’s rides and each month’s statement appear here.'
            : 'No keys yet. A test key costs nothing, and its rides are counted separately.'
        }
      >
        <IfMay route="GET /console">
          <ButtonLink to={hasKeys ? '/dashboard/console' : `${keysPath}/new`} first>
            {hasKeys ? 'Start a test ride' : 'Create key'}
          </ButtonLink>
        </IfMay>
      </Empty>
    </section>
  );
}

const monthColumns: Column<MonthTotal & { id: string }>[] = [
  {
    head: 'Month',
    at: 'name plain line-1 left',
    cell: ({ month, isSoFar }) => (
      <>
        <a href={statementPath(month)}>{monthText(month)}</a>
        {isSoFar && <span class="so-far">so far</span>}
      </>
    ),
  },
  {
    head: 'Completed live trips',
    at: 'line-2 left small',
    number: true,
    cell: ({ trips }) => (
      <>
        {countText(trips)} <span class="if-narrow">{trips === 1 ? 'trip' : 'trips'}</span>
      </>
    ),
  },
  { head: 'Agreed prices', at: 'line-1 right', number: true, cell: ({ cents }) => moneyText(cents / 100) },
  {
    head: 'Download',
    at: 'file line-2 right',
    cell: ({ month }) => (
      <a href={csvPath(month)} aria-label={`CSV of ${monthText(month)}`}>
        CSV
      </a>
    ),
  },
];

function Keys({ keys, period }: { keys: readonly KeyUsage[]; period: string }) {
  // The sort is stable: of two keys with the same count, the older one stays first.
  const used = keys
    .filter(({ rides }) => rides > 0)
    .sort((a, b) => b.rides - a.rides)
    .map((key) => ({ id: key.keyId, ...key }));
  const columns = keyColumns(period.replace(/^l/, 'L'));
  const unused = keys.filter(({ rides, isRevoked }) => rides === 0 && !isRevoked).length;
  return (
    <>
      <Table label="Rides by key" rows={used.slice(0, shownKeys)} columns={columns} />
      {used.length > shownKeys && (
        <details>
          <summary>{counted(used.length - shownKeys, 'more key')}</summary>
          <Table label="Rides by key, the others" rows={used.slice(shownKeys)} columns={columns} />
        </details>
      )}
      {unused > 0 && <p class="quiet">{counted(unused, 'active key')} without rides.</p>}
    </>
  );
}

const keyColumns = (period: string): Column<KeyUsage & { id: string }>[] => [
  {
    head: 'Key',
    at: 'name plain line-1 left',
    cell: ({ keyId, name, isRevoked }) => (
      <>
        <LinkIfMay route="GET /keys/:keyId" href={keyPath(keyId)}>
          {name}
        </LinkIfMay>
        {isRevoked && <span class="quiet">revoked</span>}
      </>
    ),
  },
  { head: 'Mode', at: 'line-1 right', cell: ({ mode }) => <ModePill mode={mode} /> },
  {
    head: period,
    at: 'line-2 left small',
    label: true,
    number: true,
    cell: ({ inPeriod }) => countText(inPeriod),
  },
  { head: 'In all', at: 'line-2 right small', label: true, number: true, cell: ({ rides }) => countText(rides) },
];
