import type { CurrentAccount } from '../../../shared/accounts/members.ts';
import type { Context } from '../../../shared/base/context.ts';
import { countRevokedKeys } from '../../../shared/keys/list-keys.ts';
import { monthOf } from '../../../shared/usage/days.ts';
import { type MonthTotal, monthTotals } from '../../../shared/usage/statements.ts';
import { type KeyUsage, summaryOf, type Usage, usageOf } from '../../../shared/usage/usage.ts';
import { Empty, Figure, TableHead } from '../../../web/kit/blocks.tsx';
import { counted, countText, ModePill, moneyText } from '../../../web/kit/facts.tsx';
import { revokedText } from '../../../web/kit/key-parts.tsx';
import { csvPath, keyPath, keysPath, statementPath } from '../../../web/kit/paths.ts';
import { IfMay, LinkIfMay } from '../../../web/kit/viewer.tsx';
import { dashboardPage, PageHead } from '../frame.tsx';
import { type DashboardRoute, signedInRoutes } from '../page-routes.ts';
import { RidesChart } from './chart.tsx';
import { chosenMonth, monthsSince, monthText, Periods, periodOf } from './periods.tsx';

export function usageRoutes(service: Context): DashboardRoute[] {
  const { page } = signedInRoutes(service);
  return [
    page('/usage', async ({ account, owner, query }) => {
      const now = service.now();
      const month = query('month') ? chosenMonth(query('month'), now) : undefined;
      const [usage, revoked, totals] = await Promise.all([
        usageOf(account._id, periodOf(month, now), now),
        countRevokedKeys(owner),
        monthTotals(account._id, now),
      ]);
      const months = monthsSince(usage.firstDay?.slice(0, 7) ?? monthOf(new Date(now)), now);
      return usagePage({ account, usage, revoked, totals, months, month });
    }),
  ];
}

interface UsagePageProps {
  account: CurrentAccount;
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

/** The account's rides by day and by key, and the total of each month. */
function usagePage({ account, usage, revoked, totals, months, month }: UsagePageProps): string {
  const period = month ? monthText(month) : 'last 30 days';
  const hasRides = usage.keys.some(({ rides }) => rides > 0);
  return dashboardPage({
    title: month ? `Usage, ${period}` : 'Usage',
    account,
    section: 'usage',
    children: (
      <>
        <PageHead title="Usage">
          <p>You pay only for trips taken: rides of a live key that a driver has completed. Days and months are UTC.</p>
        </PageHead>
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
              <MonthTable totals={totals} />
            </section>
            <section class="section">
              <h2>Rides by key</h2>
              <Keys keys={usage.keys} period={period} />
            </section>
          </>
        )}
      </>
    ),
  });
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
          <a class="btn" href={hasKeys ? '/dashboard/console' : `${keysPath}/new`}>
            {hasKeys ? 'Start a test ride' : 'Create key'}
          </a>
        </IfMay>
      </Empty>
    </section>
  );
}

function MonthTable({ totals }: { totals: readonly MonthTotal[] }) {
  return (
    <table class="table months cards" aria-label="Statements">
      <TableHead
        columns={['Month', 'Completed live trips', 'Agreed prices', 'Download']}
        numbers={['Completed live trips', 'Agreed prices']}
      />
      <tbody>
        {totals.map(({ month, trips, cents, isSoFar }) => (
          <tr key={month}>
            <td class="name">
              <a href={statementPath(month)}>{monthText(month)}</a>
              {isSoFar && <span class="so-far">so far</span>}
            </td>
            <td class="number trips">
              {countText(trips)} <span class="unit">{trips === 1 ? 'trip' : 'trips'}</span>
            </td>
            <td class="number price">{moneyText(cents / 100)}</td>
            <td class="file">
              <a href={csvPath(month)} aria-label={`CSV of ${monthText(month)}`}>
                CSV
              </a>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Keys({ keys, period }: { keys: readonly KeyUsage[]; period: string }) {
  // The sort is stable: of two keys with the same count, the older one stays first.
  const used = keys.filter(({ rides }) => rides > 0).sort((a, b) => b.rides - a.rides);
  const unused = keys.filter(({ rides, isRevoked }) => rides === 0 && !isRevoked).length;
  return (
    <>
      <KeyTable keys={used.slice(0, shownKeys)} period={period} label="Rides by key" />
      {used.length > shownKeys && (
        <details>
          <summary>{counted(used.length - shownKeys, 'more key')}</summary>
          <KeyTable keys={used.slice(shownKeys)} period={period} label="Rides by key, the others" />
        </details>
      )}
      {unused > 0 && <p class="quiet below">{counted(unused, 'active key')} without rides.</p>}
    </>
  );
}

function KeyTable({ keys, period, label }: { keys: readonly KeyUsage[]; period: string; label: string }) {
  const periodLabel = period.replace(/^l/, 'L');
  return (
    <table class="table by-key cards" aria-label={label}>
      <TableHead columns={['Key', 'Mode', periodLabel, 'In all']} numbers={[periodLabel, 'In all']} />
      <tbody>
        {keys.map(({ keyId, name, mode, isRevoked, inPeriod, rides }) => (
          <tr key={keyId}>
            <td class="name">
              <LinkIfMay route="GET /keys/:keyId" href={keyPath(keyId)}>
                {name}
              </LinkIfMay>
              {isRevoked && <span class="quiet">revoked</span>}
            </td>
            <td class="in-mode">
              <ModePill mode={mode} />
            </td>
            <td data-label={periodLabel} class="number period">
              {countText(inPeriod)}
            </td>
            <td data-label="In all" class="number all">
              {countText(rides)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
