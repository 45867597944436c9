import { expect } from 'chai';
import { useTestApi } from '../support/service.ts';
import { layoutShifts, lookAround, openPage, openProfile } from './browser.ts';

describe('the documentation in a browser', () => {
  const api = useTestApi();

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
    const page = await openPage(await openProfile({ viewport: { width: 360, height: 740 } }), `${api.url}/docs`);
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

  it('the search opens with a key, chooses with arrows, opens with Enter and closes with Escape', async () => {
    const page = await openPage(await openProfile(), `${api.url}/docs/errors`);
    await page.keyboard.press('/');
    const field = page.getByRole('combobox', { name: 'Search the documentation' });
    await field.pressSequentially('cancel a rid');
    const options = page.getByRole('option');
    await options.first().waitFor();
    const active = () =>
      field.evaluate((input) => document.getElementById(input.getAttribute('aria-activedescendant') ?? '')?.innerText);
    expect(await active()).to.equal(await options.first().innerText());
    await page.keyboard.press('ArrowDown');
    expect(await active()).to.equal(await options.nth(1).innerText());
    await page.keyboard.press('ArrowUp');
    await lookAround('docs-search', page);
    await page.keyboard.press('Escape');
    expect(await page.getByRole('listbox').isVisible()).to.equal(false);
    expect(await field.inputValue()).to.equal('');
    await field.pressSequentially('c');
    expect(await page.locator('.search .options').isVisible(), 'for one letter').to.equal(false);
    await field.pressSequentially('ancel a ride');
    await page.getByRole('option', { name: 'Cancel a ride' }).first().waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/reference/cancel-ride');
  });

  it('a search without a result names the words that it has not found', async () => {
    const page = await openPage(await openProfile(), `${api.url}/docs`);
    await page.getByRole('combobox').fill('helicopter');
    await page.getByText('Nothing found for “helicopter”.').waitFor();
    expect(page.complaints).to.deep.equal([]);
  });

  it('the language of a sample applies to other pages too', async () => {
    const page = await openPage(await openProfile(), `${api.url}/docs/reference/create-ride`);
    await page.getByRole('tab', { name: 'curl' }).focus();
    await page.keyboard.press('ArrowLeft');
    expect(await page.getByRole('tab', { name: 'Python' }).getAttribute('aria-selected')).to.equal('true');
    await page.goto(`${api.url}/docs/reference/accept-offer`);
    expect(await page.getByRole('tabpanel').innerText()).to.include('import urllib.request');
    expect(await page.getByRole('tabpanel').count()).to.equal(1);
  });

  it('a copy button copies the block that is visible', async () => {
    const profile = await openProfile({ permissions: ['clipboard-read', 'clipboard-write'] });
    const page = await openPage(profile, `${api.url}/docs/reference/raise-fare`);
    await page.getByRole('tab', { name: 'TypeScript' }).click();
    await page.getByRole('tabpanel').getByRole('button', { name: 'Copy' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied)
      .to.match(/^const rideId = /)
      .and.to.match(/await response\.json\(\)\);$/);
  });

  it('the table of contents marks the section in view', async () => {
    const page = await openPage(await openProfile(), `${api.url}/docs/webhooks`);
    const marked = page.locator('.contents [aria-current]');
    expect(await marked.innerText()).to.equal('Write a receiver');
    await page.locator('#no-retry').evaluate((heading) => heading.scrollIntoView());
    await page.locator('.contents [aria-current][href="#no-retry"]').waitFor();
    expect(await marked.count()).to.equal(1);
  });

  it('without scripts, a page shows the samples in every language, and no search and no tabs', async () => {
    const page = await openPage(
      await openProfile({ javaScriptEnabled: false }),
      `${api.url}/docs/reference/create-ride`,
    );
    for (const text of ['curl https://', 'await fetch(', 'urllib.request.urlopen('])
      expect(await page.getByText(text).isVisible(), text).to.equal(true);
    for (const part of ['.search', '.tab-list']) expect(await page.locator(part).isVisible()).to.equal(false);
  });

  it('the page of an operation does not move while its script starts', async () => {
    const page = await openPage(await openProfile(), `${api.url}/docs/reference/create-ride`);
    expect(await layoutShifts(page)).to.equal(0);
  });
});
