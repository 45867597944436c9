import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { accountOf } from '../../shared/accounts/account.ts';
import { useVisitor } from '../support/dashboard.ts';
import { codeSentTo, mailsTo, someone } from '../support/mails.ts';
import { useTestApi } from '../support/service.ts';
import { newInvitation, newMember } from '../support/team.ts';
import { asVisitor } from './as-visitor.ts';
import { closeProfiles, lookAround, lookAt, openPage, openProfile } from './browser.ts';

describe('the team in a browser', () => {
  const api = useTestApi();
  const visitor = useVisitor(api);
  afterEach(closeProfiles);

  const teamUrl = () => `${api.url}/dashboard/team`;
  const open = async (path = '/team') => openPage(await openProfile(asVisitor(visitor)), `${api.url}/dashboard${path}`);

  it('a person is invited, joins, gets another role and is removed', async () => {
    const email = someone();
    const owner = await open();
    await owner.getByLabel('Name', { exact: true }).fill('Grand Hotel');
    await owner.getByRole('button', { name: 'Save name' }).click();
    await owner.getByText('The name is saved.').waitFor();
    await owner.getByLabel('E-mail', { exact: true }).fill(email);
    await owner.getByLabel('Role', { exact: true }).selectOption('finance');
    await owner.getByRole('button', { name: 'Send invitation' }).click();
    await owner.getByText('The invitation is sent.').waitFor();
    await lookAround('team-invited', owner);

    const [mail] = await mailsTo(api.ctx, email);
    const link = mail?.text.match(/\/dashboard\/sign-in\/invitation\/[\w-]{43}/)?.[0] ?? '';
    const person = await openPage(await openProfile(), api.url + link);
    await lookAround('invitation', person);
    await person.getByRole('button', { name: 'Send code' }).click();
    await person.getByRole('heading', { name: 'Enter the code' }).waitFor();
    await lookAround('invitation-code', person);
    await person.getByLabel('Code').fill(await codeSentTo(api.ctx, email));
    await person.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
    expect(await person.locator('.rail a').allTextContents()).to.deep.equal(['Usage', 'Team', 'Docs']);
    await lookAround('team-finance', person);

    await owner.reload();
    const row = owner.getByRole('row').filter({ hasText: email });
    await row.getByLabel(`Role of ${email}`).selectOption('desk');
    await row.getByRole('button', { name: /^Change/ }).click();
    await owner.getByText('The role is saved.').waitFor();
    await person.goto(`${api.url}/dashboard/usage`);
    await person.getByRole('heading', { name: 'Your role does not allow this' }).waitFor();
    await lookAround('team-refused', person);
    await person.goto(`${api.url}/dashboard/rides`);
    await person.getByRole('heading', { name: 'Rides', level: 1 }).waitFor();

    const remove = row.getByRole('button', { name: 'Remove', exact: true });
    const describedBy = (await remove.getAttribute('aria-describedby')) ?? '';
    expect(await owner.locator(`[id="${describedBy}"]`).textContent()).to.equal(email);
    await remove.click();
    await owner.getByRole('heading', { name: 'Remove this member?' }).waitFor();
    await lookAround('team-remove', owner);
    await owner.getByRole('button', { name: 'Remove', exact: true }).click();
    await owner.getByText('The member is removed.').waitFor();
    await person.reload();
    await person.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(owner.complaints).to.deep.equal([]);
  });

  it('the page of the team and the switch between accounts fit every screen', async () => {
    const { _id } = visitor.account;
    await newMember(_id, 'developer');
    await newMember(_id, 'desk', `${'a-very-long-address-of-a-person-at-'.repeat(2)}${someone()}`);
    await newInvitation(api, visitor.account, 'desk');
    const other = await accountOf(someone());
    await newMember(other._id, 'desk', visitor.account.email);
    await visitor.post('/dashboard/team/name', { name: 'Grand Hotel Budapest and Residences' });
    const options = asVisitor(visitor);
    await lookAt('team', teamUrl(), { options, fullPage: true });
    const prepare = async (page: Page) => {
      await page.locator('#switcher summary').click();
      await page.getByRole('button', { name: `Switch to ${other.email}` }).waitFor();
    };
    await lookAt('team-switcher', `${api.url}/dashboard/keys`, { options, prepare });
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
