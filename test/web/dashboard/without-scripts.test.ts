import { expect } from 'chai';
import { listKeys } from '../../../shared/keys/manage-keys.ts';
import type { PageAnswer } from '../../support/dashboard.ts';
import { useKeyPages } from '../../support/key-pages.ts';
import { formIn, hrefsIn } from '../../support/pages.ts';
import { offerOn } from '../../support/rides.ts';
import { storedRide } from '../../support/stored-rides.ts';

/** Sends the forms as the pages contain them, like a browser without scripts. */
describe('the dashboard without scripts', () => {
  const { api, visitor, owner, textOf, isAlive } = useKeyPages();

  /** Sends a form of the page with these fields filled in. Resolves with the page that follows. */
  async function send(html: string, action: string, fields: Record<string, string> = {}): Promise<PageAnswer> {
    const form = formIn(html, action);
    expect(form, action).to.include.keys('formId', 'account');
    const answer = await visitor.post(action, { ...form, ...fields });
    const location = answer.headers.get('location');
    return location ? visitor.get(location) : answer;
  }

  it('a key is created, rotated, renamed and revoked, and its signing secret shown and rolled', async () => {
    const asked = await visitor.get('/dashboard/keys/new?mode=live');
    const made = await send(asked.html, '/dashboard/keys', { name: 'Front desk', mode: 'live' });
    const first = textOf(made.html, 'new-key') ?? '';
    const page =
      hrefsIn(made.html)
        .find((href) => /\/keys\/key_\w+/.test(href))
        ?.split('#')[0] ?? '';
    const ask = async (path: string) => (await visitor.get(page + path)).html;
    const second = textOf((await send(await ask('/rotate'), `${page}/rotate`)).html, 'new-key') ?? '';
    expect([await isAlive(first), await isAlive(second)]).to.deep.equal([false, true]);

    const hook = { webhookUrl: 'https://partner.example/hook' };
    expect((await send(await ask(''), `${page}/webhook-url`, hook)).html).to.include('Saved.');
    const secret = textOf((await send(await ask(''), `${page}/signing-secret#secret`)).html, 'signing-secret');
    const rolled = textOf((await send(await ask('/roll-secret'), `${page}/roll-secret#secret`)).html, 'signing-secret');
    expect(rolled)
      .to.match(/^whsec_/)
      .and.not.equal(secret);
    expect((await send(await ask(''), `${page}/name`, { name: 'Night desk' })).html).to.match(/<h1[^>]*>Night desk/);
    const revoked = await send(await ask('/revoke'), `${page}/revoke`);
    expect(revoked.html).to.include('Requests with this key are answered 401');
    expect(await isAlive(second)).to.equal(false);
    expect(await listKeys(owner())).to.have.length(1);
  });

  it('the console starts a test ride, accepts an offer and cancels the ride, and the list of rides can be filtered', async () => {
    await visitor.post('/dashboard/keys', { name: 'Front desk', mode: 'test' });
    const [key] = await listKeys(owner());
    const base = '/dashboard/console';
    const started = await send((await visitor.get(base)).html, base, { key: key?._id ?? '', scenario: 'no_offers' });
    const rideId = /console\/(ride_\w+)/.exec(started.html)?.[1] ?? '';
    await offerOn(api.ctx, rideId);
    const offered = await visitor.get(`${base}/${rideId}`);
    expect(hrefsIn(offered.html)).to.include(`${base}/${rideId}`, 'the link that reloads the page');
    const accepted = await send(offered.html, `${base}/${rideId}/accept`);
    expect(accepted.html).to.include('Offer accepted');
    expect(accepted.html).to.include(`action="${base}/${rideId}/cancel"`);
    const asked = await visitor.get(`${base}/${rideId}/cancel`);
    await send(asked.html, `${base}/${rideId}/cancel`);
    expect((await storedRide(rideId)).status).to.equal('cancelled');
    const { html } = await visitor.get('/dashboard/rides');
    expect(formIn(html, '/dashboard/rides'), 'the form that filters').to.include.keys('from');
    expect(html).to.match(/<button[^>]*>Filter<\/button>/);
  });
});
