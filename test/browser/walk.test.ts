import { expect } from 'chai';
import type { BrowserContextOptions } from 'playwright-core';
import { type ConsoleParts, dashboardBase, dashboardRoutes } from '../../api/dashboard/dashboard-part.ts';
import { pageNames } from '../../api/docs/pages.ts';
import { newGatewayDriver } from '../support/drivers.ts';
import { hostileAccount } from '../support/hostile-account.ts';
import { opsToken, startTestOperators } from '../support/operators.ts';
import { useTestApi } from '../support/service.ts';
import { storedRide } from '../support/stored-rides.ts';
import { useStarted } from '../support/use-started.ts';
import { asVisitor } from './as-visitor.ts';
import { closeProfiles, expectNotTooWide, openPage, openProfile } from './browser.ts';

/** Opens every page once. The account's texts are long, without blanks, and contain markup. */
describe('a walk through every page', function () {
  this.timeout(180_000);
  const api = useTestApi();
  const operators = useStarted(() => startTestOperators({ OPS_TOKEN: opsToken }));
  afterEach(closeProfiles);

  const screens = [
    { width: 360, height: 740 },
    { width: 1280, height: 800 },
  ];

  /** Opens the pages on a phone and on a desktop, as the person to whom the options belong. */
  async function walk(urls: string[], options: BrowserContextOptions = {}): Promise<void> {
    for (const viewport of screens) {
      const page = await openPage(await openProfile({ ...options, viewport }), urls[0] ?? '');
      for (const url of urls) {
        if (url !== urls[0]) await page.goto(url);
        expect(await page.locator('h1').count(), url).to.be.at.least(1);
        await expectNotTooWide(page);
        expect(page.complaints, url).to.deep.equal([]);
      }
      await closeProfiles();
    }
  }

  it('every page of the dashboard opens without a complaint and fits phones and desktops', async () => {
    const { visitor, params } = await hostileAccount(api);
    const pages = dashboardRoutes(api.ctx, {} as ConsoleParts)
      .filter(({ method, path }) => method === 'GET' && !/\/(state|events|statement\.csv)$/.test(path))
      .map(({ path }) => api.url + dashboardBase + path.replaceAll(/:(\w+)/g, (_, name) => params[name] ?? name));
    await walk(pages, asVisitor(visitor));
    const { trackToken } = await storedRide(params.rideId ?? '');
    await walk([`${api.url}/track/${trackToken}`]);
  });

  it('the front door, the sign-in pages, error pages and the documentation open and fit', async () => {
    const guides = pageNames.map((name) => `/docs/${name === 'index' ? '' : name}`);
    const paths = ['/', '/dashboard', '/drive', '/track/unknown', '/nothing', ...guides];
    await walk(paths.map((path) => api.url + path));
  });

  it("the driver's page and the operators' pages open and fit", async () => {
    const { key } = await newGatewayDriver(api);
    const profile = await openProfile();
    const drive = await openPage(profile, `${api.url}/drive`);
    await drive.getByLabel('Key').fill(key);
    await drive.getByRole('button', { name: 'Sign in' }).click();
    await drive.getByRole('button', { name: 'Go online' }).waitFor();
    await walk([`${api.url}/drive`], { storageState: await profile.storageState() });

    const operator = await openProfile();
    const ops = await openPage(operator, `${operators.url}/ops`);
    await ops.getByLabel('Token').fill(opsToken);
    await ops.keyboard.press('Enter');
    await ops.getByText('Read-only: MongoDB decides what is pending').waitFor();
    const storageState = await operator.storageState();
    await walk([`${operators.url}/ops/rides?id=ride_x`], { storageState });
  });
});
