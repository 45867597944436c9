import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { createApp } from '../../api/app.ts';
import { serve } from '../../api/http/serve.ts';
import { mailBox } from '../../dev/stack/mail-box.tsx';
import { accountOf } from '../../shared/accounts/account.ts';
import { LimitModel } from '../../shared/accounts/limit.ts';
import { SessionModel, startSession } from '../../shared/accounts/session.ts';
import { mails } from '../../shared/mail/mail-row.ts';
import { codeSentTo, linkSentTo, someone, wrongCode } from '../support/mails.ts';
import { useTestApi } from '../support/service.ts';
import { useStarted } from '../support/use-started.ts';
import { lookAround, lookAt, openPage, openProfile } from './browser.ts';

describe('sign-in to the dashboard', () => {
  const api = useTestApi();
  const dev = useStarted(() => serve(api.ctx, createApp(api.ctx, [mailBox(api.ctx)])));
  // All browsers of a test share one client address.
  beforeEach(() => LimitModel.deleteMany({}));
  const devUrl = () => `http://127.0.0.1:${dev.port}`;
  const dashboard = '/dashboard';
  const open = async () => openPage(await openProfile(), api.url + dashboard);

  const sendCode = (page: Page) => page.getByRole('button', { name: 'Send code' }).click();
  const heading = (page: Page, name: string) => page.getByRole('heading', { name }).waitFor();
  async function ask(page: Page, email = someone()): Promise<string> {
    await page.getByLabel('E-mail').fill(email);
    await sendCode(page);
    await page.getByLabel('Code').waitFor();
    return email;
  }
  /** Six digits send the form. */
  const enter = (page: Page, code: string) => page.getByLabel('Code').fill(code);
  const signedIn = (page: Page) => page.getByRole('button', { name: 'Sign out' }).waitFor();
  async function signIn(page: Page): Promise<string> {
    const email = await ask(page);
    await enter(page, await codeSentTo(api.ctx, email));
    await signedIn(page);
    return email;
  }
  /** Enters five wrong codes. Resolves with the last one. */
  async function useUpCode(page: Page): Promise<string> {
    const code = wrongCode(await codeSentTo(api.ctx, await ask(page)));
    await enter(page, code);
    for (const words of [/4 tries/, /3 tries/, /2 tries/, /one try/]) {
      await page.getByText(words).waitFor();
      // The refused code is still in the field.
      await page.getByRole('button', { name: 'Sign in' }).click();
    }
    await page.getByText('fifth wrong code').waitFor();
    return code;
  }

  it('the forms of address and code pass layout and accessibility checks in each state', async () => {
    await lookAt(api.url, [
      [
        'signin-address-fault',
        dashboard,
        async (page) => {
          await page.getByLabel('E-mail').fill('dana@partner');
          await sendCode(page);
          await page.getByRole('alert').waitFor();
        },
      ],
      ['signin-code', dashboard, (page) => ask(page)],
      [
        'signin-code-wrong',
        dashboard,
        async (page) => {
          const email = await ask(page, `long.name.of.somebody.${someone()}`);
          await enter(page, wrongCode(await codeSentTo(api.ctx, email)));
          await page.getByText('This code is wrong').waitFor();
        },
      ],
      [
        'signin-limit',
        dashboard,
        async (page) => {
          const email = someone();
          for (let asked = 0; asked < 5; asked++) await ask(page, email);
          await sendCode(page);
          await heading(page, 'Too many codes');
          await LimitModel.deleteMany({});
        },
      ],
      [
        'signin-wrong-limit',
        dashboard,
        async (page) => {
          const code = await useUpCode(page);
          await lookAround('signin-code-dead', page);
          await sendCode(page);
          await page.getByText('We have sent a code').waitFor();
          await enter(page, code);
          await heading(page, 'Too many wrong codes');
        },
      ],
      [
        'signin-link',
        dashboard,
        async (page) => {
          await page.goto(api.url + (await linkSentTo(api.ctx, await ask(page))));
          await page.locator('button:focus', { hasText: 'Sign in' }).waitFor();
        },
      ],
    ]);
  });

  it('the confirmation and the list of browsers pass layout and accessibility checks', async () => {
    let email: string;
    await lookAt(api.url, [
      [
        'signin-confirm',
        dashboard,
        async (page) => {
          email = await signIn(page);
          const { _id } = await accountOf(email);
          const facts = { browser: 'Samsung Internet on Android', network: '2001:db8:1234:5678::/64' };
          await startSession(_id, api.ctx.now() - 3 * 24 * 3_600_000, facts);
          await SessionModel.updateMany({}, { $unset: { verifiedAt: 1 } });
          await page.goto(`${api.url}/dashboard/confirm?next=%2Fdashboard%2Fkeys`);
          await heading(page, 'Confirm that it is you');
        },
      ],
      [
        'signin-confirm-code',
        '/dashboard/confirm?next=%2Fdashboard%2Fkeys',
        async (page) => {
          await sendCode(page);
          await enter(page, wrongCode(await codeSentTo(api.ctx, email)));
          await page.getByText('This code is wrong').waitFor();
        },
      ],
      ['signin-browsers', '/dashboard/account', (page) => heading(page, 'Signed-in browsers')],
    ]);
  });

  it('the mail box of the development stack passes layout and accessibility checks', async () => {
    await mails.deleteMany({});
    await lookAt(devUrl(), [['signin-mail-box-empty', '/dev/mail']]);
    const page = await open();
    await ask(page);
    await sendCode(page);
    await page.getByText('We have sent a code').waitFor();
    await lookAt(devUrl(), [['signin-mail-box', '/dev/mail']]);
  });

  it('the keyboard suffices to sign in', async () => {
    const [email, page] = [someone(), await open()];
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
    const page = await open();
    const code = await codeSentTo(api.ctx, await ask(page));
    const wrong = wrongCode(code);
    await enter(page, wrong);
    await page.getByText('4 tries are left').waitFor();
    expect(await page.getByText('This code is wrong').count()).to.equal(1);
    expect(await page.locator('#code:focus').inputValue()).to.equal(wrong);
    const sent: string[] = [];
    page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()));
    // The same code again would only cost a try.
    await page.keyboard.press('End');
    await page.keyboard.press('Backspace');
    await page.keyboard.type(wrong.slice(-1));
    expect(await page.locator('form[data-sent]').count()).to.equal(0);
    await page.locator('#code').selectText();
    await page.keyboard.type(code);
    await signedIn(page);
    expect(sent).to.have.length(1);
  });

  it('Back after sign-out shows the sign-in page, without account data', async () => {
    const page = await open();
    await signIn(page);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Send code' }).waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Send code' }).waitFor();
    expect(await page.content()).not.to.include('Sign out');
  });
});
