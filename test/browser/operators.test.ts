import { expect } from 'chai';
import { opsToken, startTestOperators } from '../support/operators.ts';
import { newRide } from '../support/rides.ts';
import { useStarted } from '../support/use-started.ts';
import { closeProfiles, lookAt, openPage, openProfile } from './browser.ts';

describe('the operators’ pages', () => {
  const operators = useStarted(() => startTestOperators({ OPS_TOKEN: opsToken }));
  before(() => newRide(operators.ctx, { mode: 'test' }));
  afterEach(closeProfiles);

  it('the token form passes all page checks', () => lookAt('operators-token', `${operators.url}/ops`));

  it('the keyboard suffices to see the queues and the banner, without requests to other hosts', async () => {
    for (const viewport of [
      { width: 360, height: 740 },
      { width: 1280, height: 800 },
    ]) {
      const page = await openPage(await openProfile({ viewport }), `${operators.url}/ops`);
      await page.locator('input:focus').waitFor();
      await page.keyboard.type('not the token of the tests');
      await page.keyboard.press('Enter');
      await page.getByText('This is not the token of this service').waitFor();
      await page.locator('input:focus').waitFor();
      await page.keyboard.type(opsToken);
      await page.keyboard.press('Enter');
      await page.getByText('Read-only: MongoDB decides what is pending').waitFor();
      await page.getByText('1 Job').first().waitFor();
      await page.screenshot({ path: `test/browser/shots/operators-queues-${viewport.width}.png` });
      expect(page.complaints).to.deep.equal([]);
    }
  });
});
