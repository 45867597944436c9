import { expect } from 'chai';
import { pageNames } from '../../api/docs/pages.ts';
import { useTestApi } from '../support/service.ts';
import { closeProfiles, lookAt, openPage, openProfile } from './browser.ts';

describe('the documentation in a browser', () => {
  const api = useTestApi();
  afterEach(closeProfiles);

  for (const name of pageNames) {
    it(`the page ${name} passes layout and accessibility checks`, async () => {
      await lookAt(`docs-${name}`, `${api.url}/docs/${name === 'index' ? '' : name}`, { fullPage: true });
    });
  }

  it('the skip link and the anchors work with only the keyboard', async () => {
    const page = await openPage(await openProfile(), `${api.url}/docs/webhooks`);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).to.equal('main');
    await page.getByRole('link', { name: 'Link to “No retry”' }).focus();
    await page.keyboard.press('Enter');
    expect(new URL(page.url()).hash).to.equal('#no-retry');
    expect(page.complaints).to.deep.equal([]);
  });

  it('on a phone, a menu lists the pages', async () => {
    const profile = await openProfile({ viewport: { width: 360, height: 740 }, hasTouch: true });
    const page = await openPage(profile, `${api.url}/docs`);
    await page.locator('summary', { hasText: 'All pages' }).click();
    await page.getByRole('link', { name: 'Errors', exact: true }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Errors' }).waitFor();
  });

  it('a printed page contains only the text, and shows every verifier', async () => {
    const page = await openPage(await openProfile(), `${api.url}/docs/webhooks`);
    await page.emulateMedia({ media: 'print' });
    for (const part of ['.top', '.rail', '.contents'])
      expect(await page.locator(part).first().isVisible()).to.equal(false);
    expect(await page.getByText('OpenSSL.fixed_length_secure_compare').isVisible()).to.equal(true);
  });
});
