import { expect } from 'chai';
import { opsToken, startTestOperators } from '../support/operators.ts';
import { newRide } from '../support/rides.ts';
import { useStarted } from '../support/use-started.ts';
import { lookAround, openPage, openProfile } from './browser.ts';

describe('the operators’ pages', () => {
  const operators = useStarted(() => startTestOperators({ OPS_TOKEN: opsToken }));
  let rideId: string;
  before(async () => {
    rideId = await newRide(operators.ctx, { mode: 'test' });
  });

  it('the keyboard suffices to see the queues and the banner, without requests to other hosts', async () => {
    for (const viewport of [
      { width: 360, height: 740 },
      { width: 1280, height: 800 },
    ]) {
      const page = await openPage(await openProfile({ viewport }), `${operators.url}/ops`);
      await page.locator('input:focus').waitFor();
      await page.keyboard.type('not the token of the tests');
      await page.keyboard.press('Enter');
      await page.getByText('This is not a valid token of this service').waitFor();
      await page.locator('input:focus').waitFor();
      await page.keyboard.type(opsToken);
      await page.keyboard.press('Enter');
      await page.getByText('Read-only: MongoDB decides what is pending').waitFor();
      await page
        .getByText(/[1-9]\d* Jobs?/)
        .first()
        .waitFor();
      const covered = await page.evaluate(() => {
        const ours = document.querySelector('.operators-header') as HTMLElement;
        const theirs = document.querySelector('#root header:has(~ main)') as HTMLElement;
        return ours.getBoundingClientRect().bottom - theirs.getBoundingClientRect().top;
      });
      expect(covered, 'of the board’s own header, in px').to.equal(0);
      expect(page.complaints).to.deep.equal([]);
    }
  });

  it('finds a ride by its id, and leads from its job to the queue board', async () => {
    const page = await openPage(await openProfile(), `${operators.url}/ops`);
    await page.getByLabel('Token').fill(opsToken);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Find a ride' }).click();
    await page.getByLabel('Ride or event id').fill(rideId);
    await page.keyboard.press('Enter');
    await page.getByRole('cell', { name: 'simulator' }).first().waitFor();
    await lookAround('operators-ride', page);
    await page.locator('td a').first().click();
    await page.getByText('Read-only: MongoDB decides what is pending').waitFor();
    expect(page.url()).to.match(/\/ops\/queues\/queue\/simulator\/\w+/);
    expect(page.complaints).to.deep.equal([]);
  });
});
