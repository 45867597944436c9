import type { Context } from '../../../shared/base/context.ts';
import { keysAmong } from '../../../shared/keys/list-keys.ts';
import { dashboardPage, PageHead } from '../frame.tsx';
import { type DashboardRoute, signedInRoutes } from '../page-routes.ts';
import { Board, boardScript, wallPage } from './board.tsx';
import { findRides } from './board-find.tsx';
import { readDesk } from './board-routes.tsx';
import type { Boards } from './desk-streams.ts';

/** The page of the desk, and its wall screen. */
export function deskRoutes(service: Context, boards: Boards): DashboardRoute[] {
  const { page } = signedInRoutes(service);
  return [
    page('/desk', async ({ ctx, account, owner, query }) => {
      const [view, [key]] = await Promise.all([
        readDesk(service, boards, account),
        keysAmong(account.deskKeyId ? [account.deskKeyId] : [], owner, ['mode']),
      ]);
      const isTest = key?.mode === 'test';
      if ('wall' in ctx.query) return wallPage(view, { isTest });
      const found = await findRides(query('find'), key?.mode ?? 'live', owner);
      return dashboardPage({
        title: 'Desk',
        account,
        section: 'desk',
        test: isTest,
        scripts: [boardScript],
        children: (
          <>
            <PageHead title="Desk" />
            <Board view={view} found={found} />
          </>
        ),
      });
    }),
  ];
}
