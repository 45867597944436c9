import { expect } from 'chai';
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
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

  async function expectWhole(page: Page & { complaints: string[] }): Promise<void> {
    for (const viewport of [
      { width: 360, height: 740 },
      { width: 1280, height: 800 },
    ]) {
      await page.setViewportSize(viewport);
      await expectNotTooWide(page);
    }
    expect(page.complaints, page.url()).to.deep.equal([]);
  }

  async function walk(profile: BrowserContext, [first = '', ...others]: string[]): Promise<void> {
    const page = await openPage(profile, first);
    for (const url of [first, ...others]) {
      if (url !== first) await page.goto(url);
      expect(await page.locator('h1').count(), url).to.be.at.least(1);
      await expectWhole(page);
    }
    await page.close();
  }
  const phone: BrowserContextOptions = { viewport: { width: 360, height: 740 } };

  it('every page of the dashboard opens without a complaint and fits phones and desktops', async () => {
    const { visitor, params } = await hostileAccount(api);
    const pages = dashboardRoutes(api.ctx, {} as ConsoleParts)
      .filter(({ method, path }) => method === 'GET' && !/\/(state|events|statement\.csv)$/.test(path))
      .map(({ path }) => api.url + dashboardBase + path.replaceAll(/:(\w+)/g, (_, name) => params[name] ?? name));
    await walk(await openProfile(asVisitor(visitor, phone)), pages);
    const { trackToken } = await storedRide(params.rideId ?? '');
    await walk(await openProfile(phone), [`${api.url}/track/${trackToken}`]);
  });

  it('the front door, the sign-in pages, error pages and the documentation open and fit', async () => {
    const guides = pageNames.map((name) => `/docs/${name === 'index' ? '' : name}`);
    const paths = ['/', '/dashboard', '/drive', '/track/unknown', '/nothing', ...guides];
    await walk(
      await openProfile(phone),
      paths.map((path) => api.url + path),
    );
  });

  it("the driver's page and the operators' pages open and fit", async () => {
    const { key } = await newGatewayDriver(api);
    const drive = await openPage(await openProfile(phone), `${api.url}/drive`);
    await drive.getByLabel('Key').fill(key);
    await drive.getByRole('button', { name: 'Sign in' }).click();
    await drive.getByRole('button', { name: 'Go online' }).waitFor();
    await expectWhole(drive);

    const profile = await openProfile(phone);
    const ops = await openPage(profile, `${operators.url}/ops`);
    await ops.getByLabel('Token').fill(opsToken);
    await ops.keyboard.press('Enter');
    await ops.getByText('Read-only: MongoDB decides what is pending').waitFor();
    await walk(profile, [`${operators.url}/ops/rides?id=ride_x`]);
  });
});
