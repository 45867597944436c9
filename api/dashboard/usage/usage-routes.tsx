import type { Context } from '../../../shared/base/context.ts';
import { AppError } from '../../../shared/base/errors.ts';
import { countRevokedKeys, keyNames } from '../../../shared/keys/list-keys.ts';
import { monthOf } from '../../../shared/usage/days.ts';
import { allLines, monthTotals, readStatement } from '../../../shared/usage/statements.ts';
import { usageOf } from '../../../shared/usage/usage.ts';
import { type DashboardRoute, signedInRoutes } from '../visit.ts';
import { chosenMonth, monthsSince, periodOf } from './periods.ts';
import { statementCsv } from './statement-csv.ts';
import { statementPage } from './statement-page.tsx';
import { usagePage } from './usage-page.tsx';

/** What an account has used, and its statements. */
export function usageRoutes(service: Context): DashboardRoute[] {
  const { page } = signedInRoutes(service);
  return [
    page('/usage', async ({ account, query }) => {
      const now = service.now();
      const month = query('month') ? chosenMonth(query('month'), now) : undefined;
      const [usage, revoked, totals] = await Promise.all([
        usageOf(account._id, periodOf(month, now), now),
        countRevokedKeys({ accountId: account._id }),
        monthTotals(account._id, now),
      ]);
      const months = monthsSince(usage.firstDay?.slice(0, 7) ?? monthOf(new Date(now)), now);
      return usagePage({ account, usage, revoked, totals, months, month });
    }),
    page('/usage/:month', async ({ account, param, query }) => {
      const now = service.now();
      const month = chosenMonth(param('month'), now);
      const shown = pageNumber(query('page'));
      const statement = await readStatement(account._id, month, shown, now);
      if (shown > statement.pages) throw new AppError('not_found');
      const names = await keyNames(keyIdsOf(statement.lines), { accountId: account._id });
      return statementPage({ account, statement, page: shown, keyNames: names, now });
    }),
    page('/usage/:month/statement.csv', async ({ account, param }) => {
      const month = chosenMonth(param('month'), service.now());
      const body = await statementCsv(allLines(account._id, month), (lines) =>
        keyNames(keyIdsOf(lines), { accountId: account._id }),
      );
      return { file: `rides-${month}.csv`, type: 'text/csv; charset=utf-8; header=present', body };
    }),
  ];
}

/** The page of a statement; the first one where the address names none. */
function pageNumber(text: string): number {
  if (text && !/^[1-9]\d{0,5}$/.test(text)) throw new AppError('not_found');
  return Number(text || 1);
}

const keyIdsOf = (lines: readonly { keyId: string }[]): string[] => lines.map(({ keyId }) => keyId);
