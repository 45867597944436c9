import { expect } from 'chai';
import { randomBase62 } from '../../../shared/base/ids.ts';
import { codeSentTo, linkSentTo, someone } from '../../support/mails.ts';
import { plainBrowser } from '../../support/plain-browser.ts';
import { useSigningIn } from '../../support/signing-in.ts';

describe('the link in a mail with a code', () => {
  const { api, asked, isSignedIn } = useSigningIn();

  it('the link shows a button that signs in and redirects to the requested page', async () => {
    const email = someone();
    const browser = await asked(email, plainBrowser(api), '/dashboard?next=%2Fdashboard%2Frides%3Fstatus%3Dbidding');
    const page = await browser.get(await linkSentTo(api.ctx, email));
    expect(page.status).to.equal(200);
    expect(page.html).to.include(email);
    await browser.press('Sign in');
    expect(browser.page).to.include({ status: 200, path: '/dashboard/rides?status=bidding' });
    expect(await isSignedIn(browser)).to.equal(true);
  });

  it('the link signs nobody in when a mail scanner or the browser only opens it', async () => {
    const email = someone();
    const browser = await asked(email);
    const link = await linkSentTo(api.ctx, email);
    const scanner = plainBrowser(api, { headers: { 'sec-fetch-site': 'none' } });
    for (let opened = 0; opened < 3; opened++) {
      const { status, html } = await scanner.get(link);
      expect(status).to.equal(404);
      expect(html).not.to.include(email);
      expect(scanner.cookies.size).to.equal(0);
      expect((await browser.get(link)).status).to.equal(200);
    }
    expect(await isSignedIn(browser)).to.equal(false);
    await browser.get(link);
    await browser.press('Sign in');
    expect(await isSignedIn(browser)).to.equal(true);
  });

  it('the link opens from a page of another site, but its button does not work from there', async () => {
    const email = someone();
    const browser = await asked(email);
    const link = await linkSentTo(api.ctx, email);
    const crossSite = plainBrowser(api, { headers: { 'sec-fetch-site': 'cross-site' } });
    for (const [name, value] of browser.cookies) crossSite.cookies.set(name, value);
    expect((await crossSite.get(link)).status).to.equal(200);
    expect((await crossSite.press('Sign in')).status).to.equal(403);
    expect(await isSignedIn(browser)).to.equal(false);
  });

  it('the link works once, and only in the browser that asked for it', async () => {
    const email = someone();
    const [own, other] = [await asked(email), plainBrowser(api)];
    const link = await linkSentTo(api.ctx, email);
    await asked(someone(), other);
    const foreign = await other.post(link, { formId: randomBase62(22) });
    expect(foreign.status).to.equal(404);
    expect(foreign.html).to.include('only in the browser that asked for it');
    const kept = new Map(own.cookies);
    await own.get(link);
    await own.press('Sign in');
    expect(await isSignedIn(own)).to.equal(true);
    const again = plainBrowser(api);
    for (const [name, value] of kept) again.cookies.set(name, value);
    expect((await again.get(link)).status).to.equal(404);
    expect((await again.post(link, { formId: randomBase62(22) })).status).to.equal(404);
    expect(await isSignedIn(again)).to.equal(false);
  });

  it('the link redirects a signed-in person to the overview', async () => {
    const email = someone();
    const browser = await asked(email);
    const link = await linkSentTo(api.ctx, email);
    await browser.press('Sign in', { code: await codeSentTo(api.ctx, email) });
    expect((await browser.get(link)).html).to.include('Sign out');
    expect(browser.page.path).to.equal('/dashboard');
  });
});
