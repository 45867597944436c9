import { roleIn } from '../../../shared/accounts/account.ts';
import type { CurrentAccount } from '../../../shared/accounts/members.ts';
import type { Context } from '../../../shared/base/context.ts';
import { AppError } from '../../../shared/base/errors.ts';
import { keyNames } from '../../../shared/keys/list-keys.ts';
import { dayMs, endOfMonth, startOfMonth } from '../../../shared/usage/days.ts';
import { allLines, readStatement, type StatementPage } from '../../../shared/usage/statements.ts';
import { type TripFacts, tripFacts } from '../../../shared/usage/trip-facts.ts';
import type { TripLine } from '../../../shared/usage/trips.ts';
import { Empty, TableHead } from '../../../web/kit/blocks.tsx';
import { counted, countText, exactText, moneyText, None, placeText, RideLink } from '../../../web/kit/facts.tsx';
import { csvPath, statementPath, usagePath } from '../../../web/kit/paths.ts';
import { dashboardPage, PageHead } from '../frame.tsx';
import { type DashboardRoute, type PageRequest, signedInRoutes } from '../page-routes.ts';
import { mayUse } from '../rights.ts';
import { chosenMonth, fullDayText, monthText } from './periods.tsx';
import { type LineDetails, statementCsv } from './statement-csv.ts';

/** The statement of a month, as a page and as CSV. */
export function statementRoutes(service: Context): DashboardRoute[] {
  const { page } = signedInRoutes(service);

  async function detailsOf(lines: readonly TripLine[], { account, owner }: PageRequest): Promise<LineDetails> {
    const [keyIds, rideIds] = [lines.map(({ keyId }) => keyId), lines.map(({ rideId }) => rideId)];
    const [names, trips] = await Promise.all([keyNames(keyIds, owner), tripFacts(rideIds, owner)]);
    return { keyNames: names, trips, hasPlaces: mayUse(account.member.role, 'GET /rides/:rideId') };
  }

  return [
    page('/usage/:month', async (request) => {
      const { account, param, query } = request;
      const now = service.now();
      const month = chosenMonth(param('month'), now);
      const shown = pageNumber(query('page'));
      const statement = await readStatement(account._id, month, shown, now);
      if (shown > statement.pages) throw new AppError('not_found');
      const details = await detailsOf(statement.lines, request);
      return statementPage({ account, statement, page: shown, details, now });
    }),
    page('/usage/:month/statement.csv', async (request) => {
      const { account, param, query } = request;
      const month = chosenMonth(param('month'), service.now());
      // A download can take long. It breaks off if the member gets another role or is removed.
      const detailsOfCsv = async (lines: readonly TripLine[]) => {
        if ((await roleIn(account._id, account.member.id)) !== account.member.role) throw new AppError('forbidden');
        return detailsOf(lines, request);
      };
      const form = query('format') === 'plain' ? 'plain' : 'spreadsheet';
      const body = await statementCsv(allLines(account._id, month), detailsOfCsv, form);
      return { file: `rides-${month}.csv`, type: 'text/csv; charset=utf-8; header=present', body };
    }),
  ];
}

interface StatementPageProps {
  account: CurrentAccount;
  statement: StatementPage;
  page: number;
  details: LineDetails;
  now: number;
}

/** The statement of a month: each completed live trip with its agreed price, and the sum. Prints well. */
function statementPage({ account, statement, page, details, now }: StatementPageProps): string {
  const { month, trips, pages, lines } = statement;
  const isAnyErased = lines.some(({ rideId }) => !details.trips.has(rideId));
  return dashboardPage({
    title: `Statement for ${monthText(month)}`,
    account,
    section: 'usage',
    scripts: ['statement-page.js'],
    children: (
      <div class="statement">
        <p class="back">
          <a href={usagePath}>Usage</a>
        </p>
        <PageHead title={`Statement for ${monthText(month)}`} actions={trips > 0 && <Actions month={month} />}>
          <p>
            {account.name}, {firstDay(month)} to {lastDay(month)} (UTC)
          </p>
        </PageHead>
        <Total statement={statement} now={now} />
        {trips === 0 ? (
          <Empty text={`No live trip was completed in ${monthText(month)}.`} />
        ) : (
          <Lines statement={statement} page={page} details={details} />
        )}
        {isAnyErased && (
          <p class="quiet below">
            {details.hasPlaces ? 'Reference and trip are' : 'The reference is'} shown until the personal data of a ride
            is erased.
          </p>
        )}
        {pages > 1 && <Pager month={month} page={page} pages={pages} />}
      </div>
    ),
  });
}

function Actions({ month }: { month: string }) {
  return (
    <>
      <button class="btn second" type="button" data-print hidden>
        Print
      </button>
      <a class="btn second" href={csvPath(month)}>
        Download CSV
      </a>
    </>
  );
}

function Total({ statement: { month, trips, cents, isSoFar }, now }: { statement: StatementPage; now: number }) {
  const closesAt = new Date(endOfMonth(month).getTime() + 3_600_000);
  return (
    <div class="card total">
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

/** Its times are in UTC, unlike those of other pages: so are the borders of the month, and paper has no hover. */
function Lines({ statement, page, details }: Pick<StatementPageProps, 'statement' | 'page' | 'details'>) {
  const { lines, pages, trips, cents } = statement;
  const { hasPlaces } = details;
  return (
    <table class="table lines cards" aria-label="Completed live trips">
      <TableHead
        columns={['Reference', ...(hasPlaces ? ['Trip'] : []), 'Ended (UTC)', 'Key', 'Ride', 'Agreed price']}
        numbers={['Agreed price']}
      />
      <tbody>
        {lines.map(({ rideId, endedAt, keyId, cents: price }) => {
          const trip = details.trips.get(rideId);
          return (
            <tr key={rideId}>
              <td class="name">{trip?.reference ?? <None />}</td>
              {hasPlaces && <td class="trip">{trip ? <Trip {...trip} /> : <None />}</td>}
              <td class="at" data-label="Ended (UTC)">
                <time dateTime={endedAt.toISOString()}>{exactText(endedAt).replace(' UTC', '')}</time>
              </td>
              <td class="key name">{details.keyNames.get(keyId) ?? keyId}</td>
              <td class="ride">
                <RideLink rideId={rideId} />
              </td>
              <td class="number price">{moneyText(price / 100)}</td>
            </tr>
          );
        })}
      </tbody>
      {page === pages && (
        <tfoot>
          <tr>
            <th scope="row" colSpan={hasPlaces ? 5 : 4}>
              Sum of {trips === 1 ? '1 trip' : `all ${countText(trips)} trips`}
            </th>
            <td class="number">{moneyText(cents / 100)}</td>
          </tr>
        </tfoot>
      )}
    </table>
  );
}

function Trip({ pickup, destination }: Pick<TripFacts, 'pickup' | 'destination'>) {
  return (
    <span>
      <span class="pickup">{placeText(pickup)}</span>{' '}
      <span class="destination">
        <span class="spoken">to </span>
        {placeText(destination)}
      </span>
    </span>
  );
}

function Pager({ month, page, pages }: { month: string; page: number; pages: number }) {
  return (
    <nav class="pager" aria-label="Pages">
      {page > 1 && (
        <a class="btn second" href={statementPath(month, page - 1)} rel="prev">
          Earlier trips
        </a>
      )}
      <span class="place">
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

/** The page number in the URL; 1 without one. Throws `not_found` for an invalid number. */
function pageNumber(text: string): number {
  if (text && !/^[1-9]\d{0,5}$/.test(text)) throw new AppError('not_found');
  return Number(text || 1);
}
