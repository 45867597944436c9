import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { accounts } from '../../shared/accounts/account.ts';
import { chooseDeskKey } from '../../shared/accounts/desk.ts';
import { SessionModel, startSession } from '../../shared/accounts/session.ts';
import { newFormId, signedIn, type Visitor } from '../support/dashboard.ts';
import { newDesk } from '../support/desk.ts';
import { newRide, rideIn } from '../support/rides.ts';
import { useTestApi } from '../support/service.ts';
import { newMember, visitorAs } from '../support/team.ts';
import { asVisitor, openAs } from './as-visitor.ts';
import { openPage, openProfile, seriousFindings } from './browser.ts';

describe('an open board whose account, key or session changes', () => {
  const api = useTestApi();

  const path = '/dashboard/desk';
  const rideNamed = (page: Page, name: string) => page.locator('#board-list > li', { hasText: name });
  const named = (name: string) => ({ passenger: { name } });
  /** Gives the desk a test key, under which a ride is open. */
  async function chooseTestKey(visitor: Visitor): Promise<void> {
    const { keyId } = await visitor.rideIn('bidding', { mode: 'test', scenario: 'no_offers', ...named('Test ride') });
    await chooseDeskKey(visitor.account._id, newFormId(), keyId);
  }

  it('reloads when the desk gets another key, on a wall too, and never mixes test rides with live ones', async () => {
    const { visitor, owner } = await newDesk(api);
    await newRide(api.ctx, { ...owner, ...named('Live ride') });
    const profile = await openProfile(asVisitor(visitor));
    const pages = [await openPage(profile, api.url + path), await openPage(profile, `${api.url}${path}?wall`)];
    for (const page of pages) {
      await rideNamed(page, 'Live ride').waitFor();
      expect(await page.locator('.test-band').count()).to.equal(0);
    }
    await chooseTestKey(visitor);
    for (const page of pages) {
      await rideNamed(page, 'Test ride').waitFor();
      await page.locator('.test-band').first().waitFor();
      expect(await rideNamed(page, 'Live ride').count()).to.equal(0);
    }
  });

  it('follows the rides as soon as a desk without a key gets one', async () => {
    const visitor = await signedIn(api);
    const page = await openAs(visitor, api.url + path);
    await rideNamed(page, 'The desk has no key').waitFor();
    await chooseTestKey(visitor);
    await rideNamed(page, 'Test ride').waitFor();
  });

  it('keeps what is typed when the desk gets another key, and says that the rides are of the previous one', async () => {
    const { visitor, owner } = await newDesk(api);
    await newRide(api.ctx, { ...owner, ...named('Live ride') });
    const page = await openAs(visitor, api.url + path);
    await page.getByLabel('Passenger', { exact: true }).fill('Ada Lovelace');
    await chooseTestKey(visitor);
    await page.getByRole('alert').filter({ hasText: 'another key for the desk, was chosen' }).waitFor();
    expect(await page.getByText('Nothing needs you').isVisible()).to.equal(false);
    expect(await rideNamed(page, 'Test ride').count()).to.equal(0);
    expect(await page.getByLabel('Passenger', { exact: true }).inputValue()).to.equal('Ada Lovelace');
    expect(await seriousFindings(page)).to.deep.equal([]);
    const opening = page.context().waitForEvent('page');
    await page.getByRole('link', { name: 'Open the desk in a new tab' }).click();
    const fresh = await opening;
    await rideNamed(fresh, 'Test ride').waitFor();
  });

  it('says so when the role of the person no longer allows the desk', async () => {
    const { owner } = await newDesk(api);
    const { accountId } = owner;
    await newRide(api.ctx, { ...owner, ...named('Live ride') });
    const { id } = await newMember(accountId, 'desk');
    const page = await openAs(await visitorAs(api, accountId, id), api.url + path);
    await rideNamed(page, 'Live ride').waitFor();
    await accounts.updateOne({ _id: accountId, 'members.id': id }, { $set: { 'members.$.role': 'finance' } });
    await page.getByRole('heading', { name: 'Your role does not allow this' }).waitFor();
  });

  it('keeps what is typed when the session ends, and follows the rides again after a new sign-in', async () => {
    const { visitor, owner } = await newDesk(api);
    const profile = await openProfile(asVisitor(visitor));
    const page = await openPage(profile, api.url + path);
    await page.getByLabel('Passenger', { exact: true }).fill('Ada Lovelace');
    await SessionModel.deleteMany({ accountId: owner.accountId });
    const notice = page.getByRole('alert').filter({ hasText: 'You are signed out' });
    await notice.getByRole('link', { name: 'Sign in in a new tab' }).waitFor();
    const value = await startSession(owner.accountId, api.ctx.now());
    await profile.addCookies([{ name: 'session', value, domain: '127.0.0.1', path: '/', httpOnly: true }]);
    await newRide(api.ctx, { ...owner, ...named('After the sign-in') });
    await rideNamed(page, 'After the sign-in').waitFor();
    await notice.waitFor({ state: 'hidden' });
    expect(await page.getByLabel('Passenger', { exact: true }).inputValue()).to.equal('Ada Lovelace');
  });

  it('reads the board again if a read fails, or if a form is sent during a read', async () => {
    const { visitor, owner } = await newDesk(api);
    for (const name of ['Ada', 'Grace']) await rideIn(api.ctx, 'bidding', { ...owner, ...named(name) });
    const profile = await openProfile(asVisitor(visitor));
    // Without the stream, only these reads show what has changed.
    await profile.route(`**${path}/events`, (route) => route.fulfill({ status: 204 }));
    const page = await openPage(profile, api.url + path);
    let answerFirst = () => {};
    const isFirstDue = new Promise<void>((resolve) => {
      answerFirst = resolve;
    });
    let reads = 0;
    await page.route(`**${path}/state?rows`, async (route) => {
      reads += 1;
      if (reads === 2) return route.fulfill({ status: 503, body: '' });
      if (reads > 2) return route.continue();
      const response = await route.fetch();
      await isFirstDue;
      await route.fulfill({ response });
    });
    for (const name of ['Ada', 'Grace']) {
      await rideNamed(page, name)
        .getByRole('button', { name: /^Accept/ })
        .click();
      await page.getByText(`${name}: offer accepted.`).waitFor();
    }
    answerFirst();
    for (const name of ['Ada', 'Grace']) {
      await rideNamed(page, name).filter({ hasText: 'driver arriving' }).waitFor();
    }
  });
});
