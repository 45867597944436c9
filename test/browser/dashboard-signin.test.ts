import { expect } from 'chai';
import type { BrowserContext, Page } from 'playwright-core';
import { createApp } from '../../api/app.ts';
import { serve } from '../../api/http/serve.ts';
import { mailBox } from '../../dev/stack/mail-box.tsx';
import { accountOf } from '../../shared/accounts/account.ts';
import { LimitModel } from '../../shared/accounts/limit.ts';
import { SessionModel, startSession } from '../../shared/accounts/session.ts';
import { randomBase62 } from '../../shared/base/ids.ts';
import { mails } from '../../shared/mail/mail-row.ts';
import { codeSentTo, linkSentTo, someone, wrongCode } from '../support/mails.ts';
import { useTestApi } from '../support/service.ts';
import { useStarted } from '../support/use-started.ts';
import { closeProfiles, lookAt, openPage, openProfile } from './browser.ts';

describe('sign-in to the dashboard', () => {
  const api = useTestApi();
  const dev = useStarted(() => serve(api.ctx, createApp(api.ctx, [mailBox(api.ctx)])));
  // All browsers of a test share one client address.
  beforeEach(() => LimitModel.deleteMany({}));
  afterEach(closeProfiles);
  const dashboard = () => `${api.url}/dashboard`;

  async function ask(page: Page, email: string): Promise<void> {
    await page.getByLabel('E-mail').fill(email);
    await page.getByRole('button', { name: 'Send code' }).click();
    await page.getByLabel('Code').waitFor();
  }
  /** Six digits send the form. */
  const enter = (page: Page, code: string) => page.getByLabel('Code').fill(code);
  const signedIn = (page: Page) => page.getByRole('button', { name: 'Sign out' }).waitFor();

  it('sign-in passes layout and accessibility checks in each state, on phone and desktop, light and dark', async () => {
    const options = { fullPage: true };
    await lookAt('signin-address', dashboard(), options);
    await lookAt('signin-address-fault', dashboard(), {
      ...options,
      prepare: async (page) => {
        await page.getByLabel('E-mail').fill('dana@partner');
        await page.getByRole('button', { name: 'Send code' }).click();
        await page.getByRole('alert').waitFor();
        // Chromium logs the expected 422 on the console.
        forget(page);
      },
    });
    await lookAt('signin-code', dashboard(), { ...options, prepare: (page) => ask(page, someone()) });
    await lookAt('signin-code-wrong', dashboard(), {
      ...options,
      prepare: async (page) => {
        const email = `long.name.of.somebody.${someone()}`;
        await ask(page, email);
        await enter(page, wrongCode(await codeSentTo(api.ctx, email)));
        await page.getByText('This code is wrong').waitFor();
        forget(page);
      },
    });
    await lookAt('signin-code-dead', dashboard(), {
      ...options,
      prepare: async (page) => {
        const email = someone();
        await ask(page, email);
        const code = wrongCode(await codeSentTo(api.ctx, email));
        await enter(page, code);
        for (const words of [/4 tries/, /3 tries/, /2 tries/, /one try/]) {
          await page.getByText(words).waitFor();
          // The refused code is still in the field.
          await page.getByRole('button', { name: 'Sign in' }).click();
        }
        await page.getByText('fifth wrong code').waitFor();
        forget(page);
      },
    });
    await lookAt('signin-no-cookie', `${dashboard()}?sent`, options);
    await lookAt('signin-limit', dashboard(), {
      ...options,
      prepare: async (page) => {
        const email = someone();
        for (let asked = 0; asked < 5; asked++) await ask(page, email);
        await page.getByRole('button', { name: 'Send code' }).click();
        await page.getByRole('heading', { name: 'Too many codes' }).waitFor();
        await LimitModel.deleteMany({});
        forget(page);
      },
    });
  });

  it('the pages for a valid and an invalid sign-in link pass layout and accessibility checks', async () => {
    const options = { fullPage: true };
    const prepare = async (page: Page) => {
      const email = someone();
      await ask(page, email);
      await page.goto(api.url + (await linkSentTo(api.ctx, email)));
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    };
    await lookAt('signin-link', dashboard(), { ...options, prepare });
    await lookAt('signin-link-dead', dashboard(), {
      ...options,
      prepare: async (page) => {
        await page.goto(`${dashboard()}/sign-in/link/${randomBase62(22)}`);
        await page.getByRole('heading', { name: 'does not work here' }).waitFor();
        forget(page);
      },
    });
    await lookAt('signin-wrong-limit', dashboard(), {
      ...options,
      prepare: async (page) => {
        const email = someone();
        await ask(page, email);
        const code = wrongCode(await codeSentTo(api.ctx, email));
        await enter(page, code);
        for (const words of [/4 tries/, /3 tries/, /2 tries/, /one try/]) {
          await page.getByText(words).waitFor();
          await page.getByRole('button', { name: 'Sign in' }).click();
        }
        await page.getByText('fifth wrong code').waitFor();
        await page.getByRole('button', { name: 'Send code' }).click();
        await page.getByText('We have sent a code').waitFor();
        await enter(page, code);
        await page.getByRole('heading', { name: 'Too many wrong codes' }).waitFor();
        forget(page);
      },
    });
  });

  it('a keyboard is enough to sign in with the link in the mail', async () => {
    const [email, page] = [someone(), await openPage(await openProfile(), dashboard())];
    await ask(page, email);
    await page.goto(api.url + (await linkSentTo(api.ctx, email)));
    await page.locator('button:focus', { hasText: 'Sign in' }).waitFor();
    await page.keyboard.press('Enter');
    await signedIn(page);
    expect(page.complaints).to.deep.equal([]);
  });

  it('the confirmation and the list of browsers pass layout and accessibility checks', async () => {
    const options = { fullPage: true };
    const withOldCode = async (page: Page) => {
      const email = someone();
      await ask(page, email);
      await enter(page, await codeSentTo(api.ctx, email));
      await signedIn(page);
      await SessionModel.updateMany({}, { $unset: { verifiedAt: 1 } });
      await page.goto(`${dashboard()}/confirm?next=%2Fdashboard%2Fkeys`);
      await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor();
      return email;
    };
    await lookAt('signin-confirm', dashboard(), {
      ...options,
      prepare: async (page) => {
        await withOldCode(page);
      },
    });
    await lookAt('signin-confirm-code', dashboard(), {
      ...options,
      prepare: async (page) => {
        const email = await withOldCode(page);
        await page.getByRole('button', { name: 'Send code' }).click();
        await page.getByLabel('Code').fill(wrongCode(await codeSentTo(api.ctx, email)));
        await page.getByText('This code is wrong').waitFor();
        forget(page);
      },
    });
    await lookAt('signin-browsers', dashboard(), {
      ...options,
      prepare: async (page) => {
        const email = await withOldCode(page);
        const { _id } = await accountOf(email);
        const facts = { browser: 'Samsung Internet on Android', network: '2001:db8:1234:5678::/64' };
        await startSession(_id, api.ctx.now() - 3 * 24 * 3_600_000, facts);
        await startSession(_id, api.ctx.now() - 40 * 60_000);
        await page.goto(`${dashboard()}/account`);
        await page.getByRole('heading', { name: 'Signed-in browsers' }).waitFor();
      },
    });
  });

  it('the page reports that mail is not set up, and passes layout and accessibility checks', async () => {
    const config = { ...api.ctx.config, environment: 'production', trustedProxyHops: 1 } as const;
    const bare = await serve(api.ctx, createApp({ ...api.ctx, config }));
    try {
      const options = { extraHTTPHeaders: { 'x-forwarded-proto': 'https' } };
      await lookAt('signin-no-mail', `http://127.0.0.1:${bare.port}/dashboard`, { options });
    } finally {
      await bare.close();
    }
  });

  it('the development stack shows the sent mails', async () => {
    await mails.deleteMany({});
    const url = `http://127.0.0.1:${dev.port}/dev/mail`;
    await lookAt('signin-mail-box-empty', url);
    const page = await openPage(await openProfile(), dashboard());
    await ask(page, someone());
    await page.getByRole('button', { name: 'Send code' }).click();
    await page.getByText('We have sent a code').waitFor();
    await lookAt('signin-mail-box', url, { fullPage: true });
  });

  it('the keyboard suffices to sign in', async () => {
    const [email, page] = [someone(), await openPage(await openProfile(), dashboard())];
    const { keyboard } = page;
    await page.locator('#email:focus').waitFor();
    await keyboard.type(email);
    await keyboard.press('Enter');
    await page.locator('#code:focus').waitFor();
    const code = await codeSentTo(api.ctx, email);
    // The sixth digit sends the form.
    await keyboard.type(`${code.slice(0, 3)} ${code.slice(3)}`);
    await signedIn(page);
    expect(page.complaints).to.deep.equal([]);
  });

  it('reports a wrong code once, and keeps it in the focused field until another one is typed', async () => {
    const [email, page] = [someone(), await openPage(await openProfile(), dashboard())];
    await ask(page, email);
    const code = await codeSentTo(api.ctx, email);
    const wrong = wrongCode(code);
    await enter(page, wrong);
    await page.getByText('4 tries are left').waitFor();
    expect(await page.getByText('This code is wrong').count()).to.equal(1);
    expect(await page.locator('#code:focus').inputValue()).to.equal(wrong);
    // The same code again would only cost a try.
    await page.keyboard.press('End');
    await page.keyboard.press('Backspace');
    await page.keyboard.type(wrong.slice(-1));
    expect(await page.locator('form[data-sent]').count()).to.equal(0);
    await page.locator('#code').selectText();
    await page.keyboard.type(code);
    await signedIn(page);
  });

  it('leads from the sign-in page of a development stack to the mail, whose link signs in', async () => {
    await mails.deleteMany({});
    const page = await openPage(await openProfile(), `http://127.0.0.1:${dev.port}/dashboard`);
    await page.getByRole('link', { name: 'Mail', exact: true }).waitFor();
    await ask(page, someone());
    await page.getByRole('link', { name: 'Mail', exact: true }).click();
    const link = await page.getByRole('link', { name: /sign-in\/link/ }).getAttribute('href');
    // The tests' public base URL is not that of this server.
    await page.goto(`http://127.0.0.1:${dev.port}${new URL(link ?? '').pathname}`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await signedIn(page);
    const own = await openPage(await openProfile(), dashboard());
    expect(await own.getByRole('link', { name: 'Mail', exact: true }).count()).to.equal(0);
  });

  it('the fault summary gets the focus, and its link focuses the field', async () => {
    const page = await openPage(await openProfile(), dashboard());
    await page.getByLabel('E-mail').fill('dana@partner');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    expect(await page.title()).to.match(/^Error: /);
    expect(await page.evaluate(() => document.activeElement?.className)).to.equal('fault-summary');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).to.equal('email');
    expect(await page.getByLabel('E-mail').inputValue()).to.equal('dana@partner');
  });

  it('a double click sends one code', async () => {
    const [email, page] = [someone(), await openPage(await openProfile(), dashboard())];
    await mails.deleteMany({});
    await page.getByLabel('E-mail').fill(email);
    await page.getByRole('button', { name: 'Send code' }).dblclick();
    await page.getByLabel('Code').waitFor();
    expect(await mails.countDocuments({})).to.equal(1);
    await enter(page, await codeSentTo(api.ctx, email));
    await signedIn(page);
  });

  it('Back after sign-out shows the sign-in page, without account data', async () => {
    const [email, profile] = [someone(), await openProfile()];
    const page = await signIn(profile, email);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Send code' }).waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Send code' }).waitFor();
    expect(await page.content()).not.to.include('Sign out');
  });

  async function signIn(profile: BrowserContext, email: string): Promise<Page> {
    const page = await openPage(profile, dashboard());
    await ask(page, email);
    await enter(page, await codeSentTo(api.ctx, email));
    await signedIn(page);
    return page;
  }
});

/** Drops the expected complaints: Chromium logs the status of an error page on the console. */
function forget(page: Page): void {
  const { complaints } = page as Page & { complaints: string[] };
  complaints.splice(0, complaints.length, ...complaints.filter((one) => !/status of 4(04|22|29)/.test(one)));
}
