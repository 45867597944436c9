import path from 'node:path';
import { expect } from 'chai';
import { createKey } from '../../shared/keys/manage-keys.ts';
import { attempts } from '../../shared/webhooks/attempts.ts';
import { signedIn } from '../support/dashboard.ts';
import { useReceiver } from '../support/receiver.ts';
import { rideIn } from '../support/rides.ts';
import { attemptStates, rideWithAttempts } from '../support/rides-with-attempts.ts';
import { useTestApi } from '../support/service.ts';
import { storedRide } from '../support/stored-rides.ts';
import { until } from '../support/until.ts';
import { useTestService } from '../support/workers.ts';
import { asVisitor } from './as-visitor.ts';
import { closeProfiles, openPage, openProfile, shotFolder } from './browser.ts';

describe('the list of deliveries in a browser', () => {
  // No workers run, so every delivery stays as the test has stored it.
  const api = useTestApi();
  afterEach(closeProfiles);

  /** A visitor with deliveries of each outcome. */
  async function listedDeliveries() {
    const visitor = await signedIn(api);
    const accountId = visitor.account._id;
    const { keyId } = await createKey(api.ctx.config, { accountId, name: 'Night ward of building 4', mode: 'live' });
    const outcomes = Object.values(attemptStates);
    await rideWithAttempts(api.ctx, { accountId, keyId }, 'completed', outcomes);
    return { visitor, keyId, url: `${api.url}/dashboard/deliveries` };
  }

  it('shows each delivery as a card of three lines that is one link, on a phone', async () => {
    const { visitor, url } = await listedDeliveries();
    const options = asVisitor(visitor, { viewport: { width: 360, height: 740 }, hasTouch: true });
    const page = await openPage(await openProfile(options), url);
    const cards = page.locator('.table.deliveries tbody tr');
    for (const card of await cards.all()) expect((await card.boundingBox())?.height).to.be.within(44, 120);
    const card = cards.filter({ hasText: '503' });
    const { width = 0, height = 0 } = (await card.boundingBox()) ?? {};
    await card.tap({ position: { x: width - 8, y: height - 8 } });
    await page.waitForURL(/\/deliveries\/att_/);
    await page.getByText('Answered with a 5xx status').waitFor();
  });

  it('shows the list of deliveries without clipping from 1,024 to 1,920 px', async () => {
    const { visitor, url } = await listedDeliveries();
    const page = await openPage(await openProfile(asVisitor(visitor)), url);
    for (const width of [1_024, 1_280, 1_920]) {
      await page.setViewportSize({ width, height: 800 });
      const clipped = await page.evaluate(() => {
        const isClipped = ({ scrollWidth, clientWidth }: Element) => clientWidth > 0 && scrollWidth > clientWidth + 1;
        const shown = document.querySelectorAll('main, .table.deliveries, .table.deliveries :is(td, td :not(.spoken))');
        return [...shown].filter(isClipped).map(({ outerHTML }) => outerHTML.slice(0, 200));
      });
      expect(clipped, `${width} px`).to.deep.equal([]);
      await page.screenshot({ path: path.join(shotFolder, `dashboard-deliveries-${width}.png`) });
    }
  });

  it('resends failed events with only the keyboard', async () => {
    const { visitor, keyId, url } = await listedDeliveries();
    const page = await openPage(await openProfile(asVisitor(visitor)), url);
    await page.getByText('Resend failed events').press('Enter');
    await page.locator('.send-failed').getByLabel('Key').selectOption(keyId);
    await page.getByLabel('Failed in').selectOption('30d');
    await page.getByRole('button', { name: 'Resend events' }).press('Enter');
    await page.getByText(/being resent|nothing is resent/).waitFor();
    expect(page.complaints).to.deep.equal([]);
  });
});

describe('an event that is resent from the page of its ride', () => {
  let answers: number;
  const receiver = useReceiver({
    answer: (response) => {
      response.statusCode = answers;
      response.end(answers === 200 ? 'ok' : 'upstream is away');
    },
  });
  const api = useTestService(() => ({ WEBHOOK_LOCAL_TARGETS: receiver.origin }), ['webhooks', 'webhooks-slow']);
  afterEach(closeProfiles);

  /** A ride whose only event was answered with 404, and the URL of its page. */
  async function failedRide() {
    answers = 404;
    const visitor = await signedIn(api);
    const accountId = visitor.account._id;
    const wish = { accountId, name: 'Front desk', mode: 'live', webhookUrl: receiver.url } as const;
    const { keyId } = await createKey(api.ctx.config, wish);
    const { rideId } = await rideIn(api.ctx, 'bidding', { keyId, accountId });
    await until(async () => (await attempts.findOne({ rideId }))?.outcome === 'failed');
    return { visitor, rideId, url: `${api.url}/dashboard/rides/${rideId}` };
  }

  it('the answer to a resend appears automatically', async () => {
    const { visitor, url, rideId } = await failedRide();
    answers = 200;
    const page = await openPage(await openProfile(asVisitor(visitor)), url);
    await page.getByRole('button', { name: 'Resend' }).click();
    await page.locator('.detail .pill', { hasText: 'delivered' }).waitFor();
    expect(new URL(page.url()).searchParams.get('entry')).to.match(/^attempt-/);
    const receipt = receiver.receipts.at(-1);
    expect(receipt?.raw).to.equal((await storedRide(rideId)).events[0]?.body);
    expect(receipt?.headers['x-service-redelivery']).to.equal('true');
    expect(page.complaints).to.deep.equal([]);
  });
});
