import { expect } from 'chai';
import { dashboardBase } from '../../../api/dashboard/dashboard-part.ts';
import { dashboardRoutes, type PageParts } from '../../../api/dashboard/web-pages.ts';
import { AuditModel } from '../../../shared/accounts/audit.ts';
import { readDesk } from '../../../shared/accounts/desk.ts';
import { KeyModel } from '../../../shared/keys/api-key.ts';
import { RideModel } from '../../../shared/rides/ride.ts';
import { attempts } from '../../../shared/webhooks/attempts.ts';
import { pages } from '../../../web/dashboard/pages.ts';
import { firstValues } from '../../../web/kit/ride-request.ts';
import { storedAttempts } from '../../support/attempts.ts';
import { newFormId, type PageAnswer, signedIn, type Visitor } from '../../support/dashboard.ts';
import { expectNothingAlive, type HostileAccount, hostileAccount, markup } from '../../support/hostile-account.ts';
import { textOf } from '../../support/pages.ts';
import { newDriver, rideIn } from '../../support/rides.ts';
import { useTestApi } from '../../support/service.ts';
import { storedAccount } from '../../support/team.ts';

type Route = { method: string; path: string };

/** The test takes its pages and actions from the list of routes, so that new routes are tested automatically. */
describe('every page of the dashboard', () => {
  const api = useTestApi({ TRUSTED_PROXY_HOPS: '1' });
  let owner: HostileAccount;
  let stranger: Visitor;
  let routes: Route[];

  before(async () => {
    owner = await hostileAccount(api);
    stranger = await signedIn(api);
    routes = dashboardRoutes(api.ctx, {} as PageParts).map(({ method, path }) => ({ method, path }));
  });

  // The link of a mail belongs to a browser, not to an account (sign-in-link.test.ts).
  const withParams = () => routes.filter(({ path }) => path.includes(':') && !path.startsWith('/sign-in/'));
  const parameter = /:(\w+)/g;

  /** The path of a route, with the account's ids or with well-formed unknown ids. */
  function address(path: string, ids: 'own' | 'unknown'): string {
    const filled = path.replaceAll(parameter, (_, name: string) => {
      const id = owner.params[name];
      if (!id) throw new Error(`${path}: add "${name}" to the params of test/support/hostile-account.ts`);
      return ids === 'own' ? id : unknownOf(id);
    });
    return dashboardBase + filled;
  }
  const unknownOf = (id: string) => `${id.slice(0, -5)}zzzzz`;
  const send = (visitor: Pick<Visitor, 'get' | 'post'>, { method }: Route, to: string) =>
    method === 'GET' ? visitor.get(to) : visitor.post(to);
  const withoutRequestId = ({ html, headers }: PageAnswer) => html.replaceAll(headers.get('x-request-id') ?? '-', '');
  const stored = () => {
    const { accountId } = { accountId: owner.account._id };
    return Promise.all([
      storedAccount(accountId),
      KeyModel.find({ accountId }).lean(),
      RideModel.find({ accountId }).lean(),
      AuditModel.find({ accountId }).lean(),
      attempts.find({ accountId }).toArray(),
    ]);
  };

  it('ids of another account get the same 404 as unknown ids, and nothing is changed', async () => {
    const before = await stored();
    // Months are left out: each account has its own statement of a month.
    for (const route of withParams().filter(({ path }) => !path.includes(':month'))) {
      const [foreign, unknown] = [
        await send(stranger, route, address(route.path, 'own')),
        await send(stranger, route, address(route.path, 'unknown')),
      ];
      const where = `${route.method} ${route.path}`;
      expect([foreign.status, unknown.status], where).to.deep.equal([404, 404]);
      expect(withoutRequestId(foreign), where).to.equal(withoutRequestId(unknown));
    }
    expect(await stored()).to.deep.equal(before);
  });

  it('ids of another account in a query or a form get the same 404 as unknown ids, and nothing is changed', async () => {
    const before = await stored();
    const { keyId = '', rideId = '', attemptId = '', memberId = '' } = owner.params;
    const [place] = (await readDesk(owner.account._id)).places;
    const placeId = place?.id ?? '';
    const asked: [path: string, name: string, id: string, form?: Record<string, string>][] = [
      ['/desk', 'repeat', rideId],
      ['/desk', 'return', rideId],
      ['/desk', 'tomorrow', rideId],
      ['/desk/places', 'edit', placeId],
      ['/deliveries', 'key', keyId],
      ['/rides', 'key', keyId],
      ['/signature', 'attempt', attemptId],
      ['/console', 'key', keyId, { ...firstValues, scenario: 'no_offers' }],
      ['/deliveries/send-again', 'keyId', keyId, { since: '2026-01-01T00:00' }],
      ['/desk/places', 'id', placeId, { name: 'Pier 83', at: '40.7631, -74.0014' }],
      ['/desk/places/default', 'id', placeId, {}],
      ['/team/hand-over', 'member', memberId, {}],
    ];
    for (const [path, name, id, form] of asked) {
      const to = dashboardBase + path;
      const ask = (given: string) =>
        form ? stranger.post(to, { ...form, [name]: given }) : stranger.get(`${to}?${name}=${given}`);
      const [foreign, unknown] = [await ask(id), await ask(unknownOf(id))];
      expect([foreign.status, unknown.status], `${path} ${name}`).to.deep.equal([404, 404]);
      expect(withoutRequestId(foreign), `${path} ${name}`).to.equal(withoutRequestId(unknown));
    }
    await stranger.post(`${dashboardBase}/desk/places/remove`, { id: placeId });
    expect(await stored()).to.deep.equal(before);
  });

  it('no page shows anything of another account', async () => {
    const { keyId, rideId, attemptId, memberId, invitationId } = owner.params;
    for (const { path } of routes.filter(({ method, path }) => method === 'GET' && !path.includes(':'))) {
      const html = (await pageAt(dashboardBase + path, stranger)) ?? '';
      for (const id of [keyId, rideId, attemptId, memberId, invitationId, owner.account._id]) {
        expect(html, path).not.to.include(id);
      }
    }
  });

  it('ids that cannot exist get a 404', async () => {
    for (const route of withParams()) {
      for (const id of ['x', '__proto__', 'constructor', '%00', '%22%3E', '$ne', '.*', '%20']) {
        const { status } = await send(stranger, route, dashboardBase + route.path.replaceAll(parameter, id));
        expect(status, `${route.method} ${route.path} ${id}`).to.equal(404);
      }
    }
  });

  it('without a session, a page redirects to the sign-in page, and back afterwards, and a script gets an empty 401', async () => {
    const ofPages = pages.flatMap(({ routes: all }) => all).filter(({ path }) => path !== '/');
    for (const { method, path } of ofPages) {
      const to = `${address(path, 'own')}${method === 'GET' ? '?status=bidding' : ''}`;
      const answer = await fetch(api.url + to, {
        method,
        redirect: 'manual',
        headers: { 'sec-fetch-site': 'same-origin', cookie: `session=${'x'.repeat(43)}` },
        ...(method === 'POST' && { body: new URLSearchParams({ formId: newFormId() }) }),
      });
      const signIn = method === 'GET' ? `/dashboard?next=${encodeURIComponent(to)}` : '/dashboard';
      const found = [answer.status, answer.headers.get('location'), await answer.text()];
      const expected = /\/(state|events|hint|search)$/.test(path) ? [401, null, ''] : [303, signIn, found[2]];
      expect(found, `${method} ${path}`).to.deep.equal(expected);
    }
  });

  /** The headers of a change from another site, another host of the site, an older browser, and without an origin. */
  const foreign: Record<string, string>[] = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': '', origin: 'https://elsewhere.example' },
    { 'sec-fetch-site': '', origin: 'null' },
    { 'sec-fetch-site': '' },
  ];

  it('every page refuses a change that does not come from a page of this host', async () => {
    const before = await stored();
    for (const [index, route] of routes.filter(({ method }) => method === 'POST').entries()) {
      const headers = foreign[index % foreign.length];
      const { status } = await owner.visitor.post(address(route.path, 'own'), {}, headers);
      expect(status, `${route.path} ${JSON.stringify(headers)}`).to.equal(403);
    }
    expect(await stored()).to.deep.equal(before);
  });

  /** The pages of an account in which every text from people, drivers and receivers is markup. */
  async function hostilePages(): Promise<Map<string, string>> {
    const { keyId = '', rideId = '' } = owner.params;
    const accountId = owner.account._id;
    await owner.visitor.post(`/dashboard/keys/${keyId}/signing-secret`, {}, { 'x-forwarded-for': markup });
    const [attempt] = await storedAttempts([
      {
        ...{ accountId, keyId, rideId, outcome: 'failed', reason: markup, answer: `${markup}</code></pre><script>` },
        ...{ url: markup, address: markup, headers: { [markup]: markup }, answerHeaders: { [markup]: markup } },
        body: JSON.stringify({ markup }),
      },
    ]);
    const [driver, place] = [
      newDriver({ name: markup, vehicle: markup, plate: markup }),
      { lat: 1, lng: 2, address: markup },
    ];
    const { rideId: bidding } = await rideIn(api.ctx, 'bidding', {
      ...{ accountId, keyId, mode: 'test', scenario: 'no_offers', offers: [{ driver }], pickup: place },
    });
    const entries = ['created', 'event-1', 'event-2', 'delivery-2', `attempt-${attempt?._id}`];
    const paths = [
      ...routes.flatMap(({ method, path }) => (method === 'GET' ? address(path, 'own') : [])),
      ...entries.map((entry) => `/dashboard/rides/${rideId}?entry=${entry}`),
      ...[`/dashboard/deliveries/${attempt?._id}`, `/dashboard/rides/${bidding}`, `/dashboard/console/${bidding}`],
    ];
    const found = new Map<string, string>();
    for (const path of paths) {
      const html = await pageAt(path);
      if (html !== null) found.set(path, html);
    }
    return found;
  }

  it('every page escapes all text that people type, drivers send and receivers answer', async () => {
    const found = await hostilePages();
    for (const [path, html] of found) expectNothingAlive(html, path);
    const shown = [...found].filter(([, html]) => html.includes('&lt;xss-alive'));
    expect(shown.length, 'pages that show the markup as text').to.be.above(20);
  });

  it('every form of every page has a form id, and names the account for which it was rendered', async () => {
    const sent = new Set<string>();
    for (const [path, html] of await hostilePages()) {
      for (const [form, action = ''] of html.matchAll(/<form [^>]*action="([^"]+)"[^>]*>.*?<\/form>/gs)) {
        if (!form.includes('method="post"') || action === '/dashboard/sign-out') continue;
        expect(form, `${path}: ${action}`)
          .to.match(/name="formId" value="[\w-]{22}"/)
          .and.include(`name="account" value="${owner.account._id}"`);
        sent.add(action.replace(/#.*/, '').replaceAll(/(key|ride|endpoint|offer|place|acct)_\w+/g, '$1'));
      }
    }
    expect(sent.size, [...sent].join(' ')).to.be.at.least(30);
  });

  it('a form that is shown again with faults escapes the typed text', async () => {
    const long = markup.repeat(20);
    const forms: [path: string, fields: Record<string, string>][] = [
      ['/dashboard/keys', { name: long, mode: markup }],
      [`/dashboard/keys/${owner.params.keyId}/name`, { name: long }],
      [`/dashboard/keys/${owner.params.keyId}/webhook-url`, { webhookUrl: markup }],
    ];
    for (const [path, fields] of forms) {
      const { status, html } = await owner.visitor.post(path, fields);
      expect(status, path).to.equal(422);
      expectNothingAlive(html, path);
      expect(html).to.include('&lt;xss-alive');
    }
  });

  it('a page without data suggests the next action, before and after the first key', async () => {
    const visitor = await signedIn(api);
    const pages: [path: string, withoutKey: string[], withKey: string[]][] = [
      ['/keys', ['No keys yet', 'Create key'], []],
      ['/deliveries', ['Create key'], ['Set webhook URL']],
      ['/rides', ['Create key'], ['Start a test ride']],
      ['/usage', ['No keys yet.', 'none yet'], ['No rides yet.']],
      ['/console', ['Create test key'], ['Create test key']],
    ];
    const texts = () =>
      Promise.all(pages.map(async ([path]) => textOf((await visitor.get(dashboardBase + path)).html)));
    const first = await texts();
    await visitor.newKey('live');
    const second = await texts();
    for (const [index, [path, withoutKey, withKey]] of pages.entries()) {
      for (const words of withoutKey) expect(first[index], path).to.include(words);
      for (const words of withKey) expect(second[index], path).to.include(words);
    }
  });

  /** Fetches a page's HTML; null for an answer that is not HTML, for example a stream. */
  async function pageAt(path: string, { cookie } = owner.visitor): Promise<string | null> {
    const ending = new AbortController();
    const answer = await fetch(api.url + path, {
      headers: { cookie },
      redirect: 'manual',
      signal: ending.signal,
    });
    expect(answer.status, path).to.be.below(400);
    if (answer.headers.get('content-type')?.startsWith('text/html')) return answer.text();
    ending.abort();
    return null;
  }
});
