import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { accountOf } from '../../shared/accounts/account.ts';
import { useVisitor } from '../support/dashboard.ts';
import { someone } from '../support/mails.ts';
import { useTestApi } from '../support/service.ts';
import { memberOf, newInvitation, newMember } from '../support/team.ts';
import { asVisitor } from './as-visitor.ts';
import { type Look, lookAround, lookAt, openPage, openProfile } from './browser.ts';

describe('the team in a browser', () => {
  const api = useTestApi();
  const visitor = useVisitor(api);

  const teamUrl = () => `${api.url}/dashboard/team`;

  it('the pages of a team and of an invited person pass layout and accessibility checks', async () => {
    const { _id } = visitor.account;
    await newMember(_id, 'developer');
    await newMember(_id, 'desk', `${'a-very-long-address-of-a-person-at-'.repeat(2)}${someone()}`);
    const invitation = await newInvitation(api, visitor.account, 'desk');
    const other = await accountOf(someone());
    await newMember(other._id, 'desk', visitor.account.email);
    await visitor.post('/dashboard/team/name', { name: 'Grand Hotel Budapest and Residences' });
    const switcher = async (page: Page) => {
      await page.locator('#switcher summary').click();
      await page.getByRole('button', { name: `Switch to ${other.email}` }).waitFor();
    };
    const looks: Look[] = [
      ['team', '/dashboard/team'],
      ['team-switcher', '/dashboard/keys', switcher],
    ];
    await lookAt(api.url, looks, asVisitor(visitor));
    const code = async (page: Page) => {
      await page.getByRole('button', { name: 'Send code' }).click();
      await page.getByRole('heading', { name: 'Enter the code' }).waitFor();
    };
    await lookAt(api.url, [['invitation-code', `/dashboard/sign-in/invitation/${invitation.token}`, code]]);
    const finance = await memberOf(api, _id, 'finance');
    const ofFinance: Look[] = [
      ['team-finance', '/dashboard/usage'],
      ['team-refused', '/dashboard/rides'],
    ];
    await lookAt(api.url, ofFinance, asVisitor(finance));
  });

  it('a person switches the account by keyboard, and a form of another tab is refused', async () => {
    const hotel = await accountOf(someone());
    await newMember(hotel._id, 'owner', visitor.account.email);
    const profile = await openProfile(asVisitor(visitor));
    const [first, second] = [await openPage(profile, teamUrl()), await openPage(profile, teamUrl())];
    await second.locator('#switcher summary').focus();
    await second.keyboard.press('Enter');
    await second.keyboard.press('Tab');
    await second.keyboard.press('Enter');
    await second.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(await second.locator('#switcher summary').textContent()).to.include(hotel.email);
    await first.getByLabel('E-mail', { exact: true }).fill(someone());
    await first.getByRole('button', { name: 'Send invitation' }).click();
    await first.getByRole('heading', { name: 'This page was of another account' }).waitFor();
    await lookAround('team-other-account', first);
    await first
      .getByRole('button', { name: /^Switch to/ })
      .first()
      .waitFor();
  });
});
