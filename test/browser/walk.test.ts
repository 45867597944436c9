import { expect } from 'chai';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { dashboardBase } from '../../api/dashboard/dashboard-part.ts';
import { dashboardRoutes, type PageParts } from '../../api/dashboard/web-pages.ts';
import { docs } from '../support/documented.ts';
import { newGatewayDriver } from '../support/drivers.ts';
import { hostileAccount, typedText } from '../support/hostile-account.ts';
import { opsToken, startTestOperators } from '../support/operators.ts';
import { newDriver, rideIn } from '../support/rides.ts';
import { usePartner, useTestApi } from '../support/service.ts';
import { storedRide } from '../support/stored-rides.ts';
import { useStarted } from '../support/use-started.ts';
import { asVisitor } from './as-visitor.ts';
import { type Look, lookAt, openPage, openProfile } from './browser.ts';
import { heading, signIn } from './drive-phones.ts';

/** Control characters, and characters that change the direction of the text around them. */
const invisible = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u202a-\u202e]/u;

/** Opens and checks every page once. Each text of the account breaks or disguises a page that shows it as it is. */
describe('a walk through every page', function () {
  this.timeout(180_000);
  const api = useTestApi();
  const partner = usePartner(api, 'live');
  const operators = useStarted(() => startTestOperators({ OPS_TOKEN: opsToken }));

  /** Checks pages on each screen, as the person to whom the options belong. */
  function walk(origin: string, paths: string[], options: BrowserContextOptions = {}): Promise<void> {
    const isReadable = async (page: Page) => {
      expect(await page.locator('h1').count(), page.url()).to.be.at.least(1);
      const [found] = invisible.exec(await page.locator('body').innerText()) ?? [];
      expect(found?.codePointAt(0), page.url()).to.equal(undefined);
    };
    const nameOf = (path: string) => `walk${path.replaceAll(/\W+/g, '-').slice(0, 80)}`;
    const looks = paths.map((path): Look => [nameOf(path), path, isReadable]);
    return lookAt(origin, looks, options);
  }

  it('every page of the dashboard passes layout and accessibility checks on phones and desktops', async () => {
    const { visitor, params } = await hostileAccount(api, typedText);
    const pages = dashboardRoutes(api.ctx, {} as PageParts)
      .filter(({ method, path }) => method === 'GET' && !/\/(state|events|statement\.csv)$/.test(path))
      .map(({ path }) => dashboardBase + path.replaceAll(/:(\w+)/g, (_, name) => params[name] ?? name));
    const { trackToken } = await storedRide(params.rideId ?? '');
    await walk(api.url, [...pages, `/track/${trackToken}`], asVisitor(visitor));
  });

  it('the front door, sign-in pages, error pages and guides pass layout and accessibility checks', async () => {
    const guides = docs.names.all.map((name) => `/docs/${name === 'index' ? '' : name}`);
    const paths = ['/', '/dashboard', '/dashboard?sent', '/drive', '/track/unknown', '/nothing', ...guides];
    await walk(api.url, paths);
  });

  it("the driver's page and the operators' pages pass layout and accessibility checks", async () => {
    const { key, driverId } = await newGatewayDriver(api);
    const profile = await openProfile();
    const drive = await openPage(profile, `${api.url}/drive`);
    await signIn(drive, key);
    await heading(drive, 'You are offline');
    const driverState = await profile.storageState();
    await walk(api.url, ['/drive'], { storageState: driverState });
    const place = { lat: 40.7128, lng: -74.006, address: typedText };
    await rideIn(api.ctx, 'driver_arriving', {
      ...{ by: partner, pickup: place, destination: place, passenger: { name: typedText, phone: typedText } },
      notes: [...typedText].slice(0, 200).join(''),
      offers: [{ driver: newDriver({ driverId }) }],
    });
    await walk(api.url, ['/drive', '/drive/ride'], { storageState: driverState });

    await walk(operators.url, ['/ops']);
    const operator = await openProfile();
    const ops = await openPage(operator, `${operators.url}/ops`);
    await ops.getByLabel('Token').fill(opsToken);
    await ops.keyboard.press('Enter');
    await ops.getByText('Read-only: MongoDB decides what is pending').waitFor();
    const storageState = await operator.storageState();
    await walk(operators.url, ['/ops/rides?id=ride_x'], { storageState });
  });
});
