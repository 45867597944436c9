import type { Account } from '../../../shared/accounts/account.ts';
import type { MonthTotal } from '../../../shared/usage/statements.ts';
import { type KeyUsage, summaryOf, type Usage } from '../../../shared/usage/usage.ts';
import { countText, Empty, Figure, ModePill, moneyText } from '../facts.tsx';
import { dashboardPage, PageHead } from '../frame.tsx';
import { revokedText } from '../keys/keys-page.tsx';
import { keyPath, keysPath } from '../keys/paths.ts';
import { RidesChart } from './chart.tsx';
import { csvPath, monthPath, statementPath, usagePath } from './paths.ts';
import { counted, monthText } from './words.ts';

interface UsagePageProps {
  account: Account;
  usage: Usage;
  /** The number of revoked keys, counted up to `mostCounted` + 1. */
  revoked: number;
  /** Newest first. */
  totals: readonly MonthTotal[];
  /** The months that can be chosen, newest first. */
  months: readonly string[];
  /** The month that is shown; without one, the last 30 days. */
  month?: string;
}

/** Links to more months than this are folded. */
const shownMonths = 6;
const shownKeys = 20;

/** What an account has used, and what each month comes to. */
export function usagePage({ account, usage, revoked, totals, months, month }: UsagePageProps): string {
  const period = month ? monthText(month) : 'last 30 days';
  const hasRides = usage.keys.some(({ rides }) => rides > 0);
  return dashboardPage({
    title: month ? `Usage, ${period}` : 'Usage',
    account,
    room: 'usage',
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
        value={<a href={keysPath}>{countText(activeKeys)}</a>}
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
        value={busiest ? <a href={keyPath(busiest.keyId)}>{busiest.name}</a> : <span class="quiet">none yet</span>}
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
            : 'No keys yet. A test key costs nothing, and its rides are counted apart.'
        }
      >
        <a class="btn" href={hasKeys ? '/dashboard/console' : `${keysPath}/new`}>
          {hasKeys ? 'Send a test ride' : 'Create a key'}
        </a>
      </Empty>
    </section>
  );
}

function Periods({ months, month }: { months: readonly string[]; month?: string }) {
  const link = (name: string) => (
    <li key={name}>
      <a href={monthPath(name)} aria-current={name === month ? 'page' : undefined}>
        {monthText(name)}
      </a>
    </li>
  );
  const earlier = months.slice(shownMonths);
  return (
    <nav class="periods" aria-label="Period">
      <ul>
        <li>
          <a href={usagePath} aria-current={month ? undefined : 'page'}>
            Last 30 days
          </a>
        </li>
        {months.slice(0, shownMonths).map(link)}
      </ul>
      {earlier.length > 0 && (
        <details open={month !== undefined && earlier.includes(month)}>
          <summary>Earlier months</summary>
          <ul>{earlier.map(link)}</ul>
        </details>
      )}
    </nav>
  );
}

function MonthTable({ totals }: { totals: readonly MonthTotal[] }) {
  return (
    <table class="table months" aria-label="Statements">
      <thead>
        <tr>
          <th scope="col">Month</th>
          <th scope="col" class="number">
            Completed live trips
          </th>
          <th scope="col" class="number">
            Agreed prices
          </th>
          <th scope="col">Download</th>
        </tr>
      </thead>
      <tbody>
        {totals.map(({ month, trips, cents, isSoFar }) => (
          <tr key={month}>
            <td class="name">
              <a href={statementPath(month)}>{monthText(month)}</a>
              {isSoFar && <span class="so-far">so far</span>}
            </td>
            <td data-label="Completed live trips" class="number">
              {countText(trips)}
            </td>
            <td data-label="Agreed prices" class="number">
              {moneyText(cents / 100)}
            </td>
            <td data-label="Download">
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
  // A stable sort: the older key stays first where two have the same number.
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
    <table class="table by-key" aria-label={label}>
      <thead>
        <tr>
          <th scope="col">Key</th>
          <th scope="col">Mode</th>
          <th scope="col" class="number">
            {periodLabel}
          </th>
          <th scope="col" class="number">
            In all
          </th>
        </tr>
      </thead>
      <tbody>
        {keys.map(({ keyId, name, mode, isRevoked, inPeriod, rides }) => (
          <tr key={keyId}>
            <td class="name">
              <a href={keyPath(keyId)}>{name}</a>
              {isRevoked && <span class="quiet">revoked</span>}
            </td>
            <td data-label="Mode">
              <ModePill mode={mode} />
            </td>
            <td data-label={periodLabel} class="number">
              {countText(inPeriod)}
            </td>
            <td data-label="In all" class="number">
              {countText(rides)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
