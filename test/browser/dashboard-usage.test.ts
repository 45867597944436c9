import path from 'node:path';
import { expect } from 'chai';
import type { BrowserContextOptions, Page } from 'playwright-core';
import type { Mode } from '../../shared/base/terms.ts';
import { revokeKey } from '../../shared/keys/manage-keys.ts';
import { linesPerPart } from '../../shared/usage/trip-sums.ts';
import { useVisitor } from '../support/dashboard.ts';
import { ownDatabase } from '../support/own-database.ts';
import { useTestApi } from '../support/service.ts';
import { at, newKey, ridesAt, sumThrough, tripsAt, type UsageKey } from '../support/usage.ts';
import { asVisitor, openAs } from './as-visitor.ts';
import { expectNotTooWide, type Look, lookAt, shotFolder } from './browser.ts';

const now = at('2026-11-21 12:00');

describe('the dashboard: usage in a browser', () => {
  const api = useTestApi(async () => ({ MONGO_URL: (await ownDatabase()).url }));
  const visitor = useVisitor(api);
  beforeEach(() => {
    api.ctx.now = () => now.getTime();
  });

  const open = (page: string, options?: BrowserContextOptions) =>
    openAs(visitor, `${api.url}/dashboard/usage${page}`, options);

  const key = (name: string, mode: Mode = 'live') => newKey({ accountId: visitor.account._id, name, mode });

  /** The keys and rides of a typical account after some months. */
  async function fullAccount(): Promise<void> {
    const desk = await key('Front desk');
    const others = [
      await key('Concierge app'),
      await key('Night shift: a long name that somebody once pasted from a ticket, with its number 48213-B'),
      await key('Continuous integration', 'test'),
      await key('Old kiosk'),
    ];
    await key('Spare');
    for (let daysAgo = 0; daysAgo < 100; daysAgo++) {
      const day = now.getTime() - daysAgo * 24 * 3_600_000;
      const many = (count: number) => Array.from({ length: count }, (_, index) => new Date(day - index * 60_000));
      const isWeekend = new Date(day).getUTCDay() % 6 === 0;
      await tripsAt(desk, 14.25 + (daysAgo % 9), ...many(isWeekend ? 9 : 4 + (daysAgo % 4)));
      for (const [index, other] of others.entries()) {
        if ((daysAgo + index) % (index + 2) === 0 && daysAgo !== 12)
          await ridesAt(other, ...many(2 + ((daysAgo * 7) % 5)));
      }
    }
    await revokeKey((others[3] as UsageKey).keyId, { accountId: visitor.account._id });
    await sumThrough(at('2026-11-21 00:00'));
  }

  /** Statements of an open month, a closed month, and a month with more trips than a page shows. */
  async function statements(): Promise<void> {
    const desk = await key('Front desk');
    const night = await key(
      'Night shift: a long name that somebody once pasted from a ticket, with its number 48213-B',
    );
    const times = (month: string) =>
      Array.from({ length: 12 }, (_, index) => at(`2026-${month}-${String(index + 5).padStart(2, '0')} 17:21:09`));
    for (const month of ['10', '11']) {
      await tripsAt(desk, 14.25, ...times(month));
      await tripsAt(night, 1_208.5, ...times(month).slice(0, 3));
    }
    const start = at('2026-09-05 10:00').getTime();
    const many = Array.from({ length: linesPerPart + 9 }, (_, index) => new Date(start + index * 60_000));
    await tripsAt(desk, 12.5, ...many);
    await sumThrough(at('2026-11-21 00:00'));
  }

  const oneKey = async () => void (await key('Front desk'));
  const oneRide = async () => void (await ridesAt(await key('Front desk'), at('2026-11-03 10:00')));
  const openTable = (page: Page) => page.getByText('The same as a table').click();

  const looks: [title: string, prepareAccount: () => Promise<void>, looks: Look[]][] = [
    ['an empty account', async () => {}, [['empty', '']]],
    [
      'a key without rides',
      oneKey,
      [
        ['no-rides', ''],
        ['statement-empty', '/2026-11'],
      ],
    ],
    ['a single ride', oneRide, [['one-ride', '?month=2026-11']]],
    [
      'some months',
      fullAccount,
      [
        ['months', ''],
        ['month', '?month=2026-10', openTable],
      ],
    ],
    [
      'statements of a closed month, an open one and one with several pages',
      statements,
      [
        ['statement', '/2026-10'],
        ['statement-so-far', '/2026-11'],
        ['statement-last-page', '/2026-09?page=2'],
      ],
    ],
  ];
  for (const [title, prepareAccount, states] of looks) {
    it(`the usage of ${title} passes layout and accessibility checks`, async () => {
      await prepareAccount();
      const pages = states.map(([name, path, prepare]): Look => [`usage-${name}`, `/dashboard/usage${path}`, prepare]);
      await lookAt(api.url, pages, asVisitor(visitor));
    });
  }

  it('a statement is printed as a table, dark on white, without controls, in light and dark colours', async () => {
    await statements();
    // The width of an A4 sheet between its margins.
    const page = await open('/2026-10', { viewport: { width: 690, height: 1_000 } });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ media: 'print', colorScheme });
      const file = path.join(shotFolder, `dashboard-statement-print-${colorScheme}`);
      await page.screenshot({ path: `${file}.png`, fullPage: true });
      for (const hidden of ['.who', '.rail', '.actions'])
        expect(await page.locator(hidden).isVisible()).to.equal(false);
      // The cell of a missing reference keeps its column.
      expect(await page.locator('td:has(.none)').first().isVisible()).to.equal(true);
      const styles = await page.evaluate(() =>
        ['html', 'thead', 'tbody tr', 'body'].map((selector) => {
          const { backgroundColor, color, display } = getComputedStyle(document.querySelector(selector) as Element);
          return { html: backgroundColor, body: color }[selector] ?? display;
        }),
      );
      expect(styles).to.deep.equal(['rgb(255, 255, 255)', 'table-header-group', 'table-row', 'rgb(0, 0, 0)']);
      expect(await page.getByText(visitor.account.email).last().isVisible()).to.equal(true);
      const pdf = await page.pdf({ format: 'A4', path: `${file}.pdf` });
      expect(pdf.length).to.be.greaterThan(1_000);
      await expectNotTooWide(page);
    }
  });
});
