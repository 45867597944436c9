import { roleIn } from '../../shared/accounts/account.ts';
import { AppError } from '../../shared/base/errors.ts';
import { keyNames } from '../../shared/keys/list-keys.ts';
import { type LineDetails, statementCsv } from '../../shared/usage/statement-csv.ts';
import { allLines, readStatement } from '../../shared/usage/statements.ts';
import { type TripLine, tripFacts } from '../../shared/usage/trips.ts';
import type { PageRequest } from '../kit/answer.ts';
import { chosenMonth } from '../kit/months.ts';
import { page } from '../kit/page.tsx';
import { accountants, bookers } from '../kit/roles.ts';
import { statementView } from './statement-view.tsx';

/** The statement of a month, as a page and as CSV. */
export const statement = page('/usage/:month', {
  section: 'usage',
  roles: accountants,
  async read(request) {
    const { account, param, query, service } = request;
    const now = service.now();
    const month = chosenMonth(param('month'), now);
    const shown = pageNumber(query('page'));
    const statement = await readStatement(account._id, month, shown, now);
    if (shown > statement.pages) throw new AppError('not_found');
    return { account, statement, page: shown, details: await detailsOf(statement.lines, request), now };
  },
  view: statementView,
  files: {
    async 'statement.csv'(request) {
      const { account, param, query, service } = request;
      const month = chosenMonth(param('month'), service.now());
      // A download can take long. It breaks off if the member gets another role or is removed.
      const detailsOfCsv = async (lines: readonly TripLine[]) => {
        if ((await roleIn(account._id, account.member.id)) !== account.member.role) throw new AppError('forbidden');
        return detailsOf(lines, request);
      };
      const form = query('format') === 'plain' ? 'plain' : 'spreadsheet';
      const file = await statementCsv(allLines(account._id, month), detailsOfCsv, form);
      const headers = { 'Content-Disposition': `attachment; filename="rides-${month}.csv"` };
      return { file, type: 'text/csv; charset=utf-8; header=present', headers };
    },
  },
});

async function detailsOf(lines: readonly TripLine[], { account, owner }: PageRequest): Promise<LineDetails> {
  const [keyIds, rideIds] = [lines.map(({ keyId }) => keyId), lines.map(({ rideId }) => rideId)];
  const [names, trips] = await Promise.all([keyNames(keyIds, owner), tripFacts(rideIds, owner)]);
  const seesPassengers: readonly string[] = bookers;
  return { keyNames: names, trips, hasPlaces: seesPassengers.includes(account.member.role) };
}

/** The page number in the URL; 1 without one. Throws `not_found` for an invalid number. */
function pageNumber(text: string): number {
  if (text && !/^[1-9]\d{0,5}$/.test(text)) throw new AppError('not_found');
  return Number(text || 1);
}
