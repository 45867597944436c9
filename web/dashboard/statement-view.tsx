import type { CurrentAccount } from '../../shared/accounts/members.ts';
import { placeText } from '../../shared/rides/place-text.ts';
import { dayMs, endOfMonth, startOfMonth } from '../../shared/usage/days.ts';
import type { LineDetails } from '../../shared/usage/statement-csv.ts';
import type { StatementPage } from '../../shared/usage/statements.ts';
import type { TripFacts, TripLine } from '../../shared/usage/trips.ts';
import type { Document } from '../kit/answer.ts';
import { ButtonLink, Empty } from '../kit/blocks.tsx';
import { counted, countText, exactText, moneyText, None, RideLink } from '../kit/facts.tsx';
import { fullDayText, monthText } from '../kit/months.ts';
import { csvPath, statementPath, usagePath } from '../kit/paths.ts';
import { type Column, Table } from '../kit/table.tsx';

interface StatementData {
  account: CurrentAccount;
  statement: StatementPage;
  page: number;
  details: LineDetails;
  now: number;
}

/** The statement of a month: each completed live trip with its agreed price, and the sum. Prints well. */
export function statementView({ account, statement, page, details, now }: StatementData): Document {
  const { month, trips, pages, lines } = statement;
  const isAnyErased = lines.some(({ rideId }) => !details.trips.has(rideId));
  return {
    title: `Statement for ${monthText(month)}`,
    scripts: ['statement.browser.js'],
    around: (page) => (
      <div class="statement flow">
        <p class="back">
          <a href={usagePath}>Usage</a>
        </p>
        {page}
      </div>
    ),
    lead: (
      <p>
        {account.name}, {firstDay(month)} to {lastDay(month)} (UTC)
      </p>
    ),
    actions: trips > 0 && (
      <>
        <button class="btn second" type="button" data-print hidden>
          Print
        </button>
        <ButtonLink to={csvPath(month)}>Download CSV</ButtonLink>
      </>
    ),
    children: (
      <>
        <Total statement={statement} now={now} />
        {trips === 0 ? (
          <Empty text={`No live trip was completed in ${monthText(month)}.`} />
        ) : (
          <Table
            label="Completed live trips"
            columns={lineColumns(details)}
            rows={lines.map((line) => ({ id: line.rideId, ...line, trip: details.trips.get(line.rideId) }))}
            foot={page === pages && <Sum statement={statement} columns={details.hasPlaces ? 5 : 4} />}
          />
        )}
        {isAnyErased && (
          <p class="quiet">
            {details.hasPlaces ? 'Reference and trip are' : 'The reference is'} shown until the personal data of a ride
            is erased.
          </p>
        )}
        {pages > 1 && <Pager month={month} page={page} pages={pages} />}
      </>
    ),
  };
}

function Total({ statement: { month, trips, cents, isSoFar }, now }: { statement: StatementPage; now: number }) {
  const closesAt = new Date(endOfMonth(month).getTime() + 3_600_000);
  return (
    <div class="card">
      <p class="sum">
        {moneyText(cents / 100)} {isSoFar && <span class="so-far">so far</span>}
      </p>
      <p>{counted(trips, 'completed live trip')}</p>
      <p class="quiet">
        You pay only for trips taken: live rides that a driver has completed, at the price that was agreed. Cancelled
        rides and test rides cost nothing.
      </p>
      {isSoFar && (
        <p class="quiet">
          As of {exactText(new Date(now))}. The month closes on {fullDayText(closesAt)}, {timeText(closesAt)} UTC.
        </p>
      )}
    </div>
  );
}

/** The times are in UTC, unlike those of other pages: so are the borders of the month, and paper has no hover. */
const lineColumns = (details: LineDetails): (Column<TripLine & { id: string; trip?: TripFacts }> | false)[] => [
  { head: 'Reference', at: 'name plain breakable line-1 left', cell: ({ trip }) => trip?.reference ?? <None /> },
  details.hasPlaces && {
    head: 'Trip',
    at: 'trip breakable line-2 small',
    cell: ({ trip }) => (trip ? <Trip {...trip} /> : <None />),
  },
  {
    head: 'Ended (UTC)',
    at: 'line-3 right small',
    cell: ({ endedAt }) => (
      <time class="nowrap" dateTime={endedAt.toISOString()}>
        {exactText(endedAt).replace(' UTC', '')}
      </time>
    ),
  },
  {
    head: 'Key',
    at: 'breakable line-3 left small',
    cell: ({ keyId }) => details.keyNames.get(keyId) ?? keyId,
  },
  { head: 'Ride', at: 'ride name plain line-1 left', cell: ({ rideId }) => <RideLink rideId={rideId} /> },
  { head: 'Agreed price', at: 'line-1 right', number: true, cell: ({ cents }) => moneyText(cents / 100) },
];

const Sum = ({ statement: { trips, cents }, columns }: { statement: StatementPage; columns: number }) => (
  <tr>
    <th scope="row" colSpan={columns}>
      Sum of {trips === 1 ? '1 trip' : `all ${countText(trips)} trips`}
    </th>
    <td class="number">{moneyText(cents / 100)}</td>
  </tr>
);

function Trip({ pickup, destination }: Pick<TripFacts, 'pickup' | 'destination'>) {
  return (
    <span>
      <span class="way-from">{placeText(pickup)}</span>{' '}
      <span class="way-to">
        <span class="spoken">to </span>
        {placeText(destination)}
      </span>
    </span>
  );
}

function Pager({ month, page, pages }: { month: string; page: number; pages: number }) {
  return (
    <nav class="pager row" aria-label="Pages">
      {page > 1 && (
        <a class="btn second" href={statementPath(month, page - 1)} rel="prev">
          Earlier trips
        </a>
      )}
      <span class="quiet">
        Page {countText(page)} of {countText(pages)}
      </span>
      {page < pages && (
        <a class="btn second" href={statementPath(month, page + 1)} rel="next">
          Later trips
        </a>
      )}
    </nav>
  );
}

const firstDay = (month: string): string => fullDayText(startOfMonth(month)).replace(/ .*/, '');
const lastDay = (month: string): string => fullDayText(new Date(endOfMonth(month).getTime() - dayMs));
const timeText = (at: Date): string => at.toISOString().slice(11, 16);
