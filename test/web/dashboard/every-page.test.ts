import { expect } from 'chai';
import { dashboardBase } from '../../../api/dashboard/dashboard-part.ts';
import { dashboardRoutes, type PageParts } from '../../../api/dashboard/web-pages.ts';
import { AuditModel } from '../../../shared/accounts/audit.ts';
import { KeyModel } from '../../../shared/keys/api-key.ts';
import { RideModel } from '../../../shared/rides/ride.ts';
import { newFormId, type PageAnswer, signedIn, type Visitor } from '../../support/dashboard.ts';
import { expectNothingAlive, type HostileAccount, hostileAccount, markup } from '../../support/hostile-account.ts';
import { useTestApi } from '../../support/service.ts';

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
      return ids === 'own' ? id : `${id.slice(0, -5)}zzzzz`;
    });
    return dashboardBase + filled;
  }
  const send = (visitor: Pick<Visitor, 'get' | 'post'>, { method }: Route, to: string) =>
    method === 'GET' ? visitor.get(to) : visitor.post(to);
  const withoutRequestId = ({ html, headers }: PageAnswer) => html.replaceAll(headers.get('x-request-id') ?? '-', '');
  const stored = () => {
    const { accountId } = { accountId: owner.account._id };
    return Promise.all([
      KeyModel.find({ accountId }).lean(),
      RideModel.find({ accountId }).lean(),
      AuditModel.find({ accountId }).lean(),
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

  it('ids that cannot exist get a 404', async () => {
    for (const route of withParams()) {
      for (const id of ['x', '__proto__', 'constructor', '%00', '%22%3E', '$ne', '.*', '%20']) {
        const { status } = await send(stranger, route, dashboardBase + route.path.replaceAll(parameter, id));
        expect(status, `${route.method} ${route.path} ${id}`).to.equal(404);
      }
    }
  });

  it('without a session, every page redirects to the sign-in page, or answers 401 to scripts', async () => {
    for (const route of withParams()) {
      const answer = await fetch(api.url + address(route.path, 'own'), {
        method: route.method,
        redirect: 'manual',
        headers: { 'sec-fetch-site': 'same-origin', cookie: `session=${'x'.repeat(43)}` },
        ...(route.method === 'POST' && { body: new URLSearchParams({ formId: newFormId() }) }),
      });
      const where = `${route.method} ${route.path}`;
      // Requests of scripts get a 401, because a script cannot sign in.
      expect(answer.status, where).to.be.oneOf([303, 401]);
      if (answer.status === 401) expect(await answer.text(), where).to.equal('');
      else expect(answer.headers.get('location'), where).to.match(/^\/dashboard(\?next=|$)/);
    }
  });

  const foreignChanges: [title: string, headers: Record<string, string>][] = [
    ['from another site', { 'sec-fetch-site': 'cross-site' }],
    ['from another host of the same site', { 'sec-fetch-site': 'same-site' }],
    ['from another origin in an older browser', { 'sec-fetch-site': '', origin: 'https://elsewhere.example' }],
    ['from a page without an origin', { 'sec-fetch-site': '', origin: 'null' }],
    ['without headers that name its origin', { 'sec-fetch-site': '' }],
  ];
  for (const [title, headers] of foreignChanges) {
    it(`every page refuses a change ${title}`, async () => {
      const before = await stored();
      for (const route of routes.filter(({ method }) => method === 'POST')) {
        const { status } = await owner.visitor.post(address(route.path, 'own'), {}, headers);
        expect(status, route.path).to.equal(403);
      }
      expect(await stored()).to.deep.equal(before);
    });
  }

  it('every page escapes all typed text', async () => {
    const { keyId } = owner.params;
    await owner.visitor.post(`/dashboard/keys/${keyId}/signing-secret`, {}, { 'x-forwarded-for': markup });
    let shown = 0;
    for (const { path } of routes.filter(({ method }) => method === 'GET')) {
      const html = await pageAt(address(path, 'own'));
      if (html === null) continue;
      expectNothingAlive(html, path);
      if (html.includes('&lt;xss-alive')) shown += 1;
    }
    expect(shown, 'pages that show the markup as text').to.be.above(3);
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

  /** Fetches a page's HTML; null for an answer that is not HTML, for example a stream. */
  async function pageAt(path: string): Promise<string | null> {
    const ending = new AbortController();
    const answer = await fetch(api.url + path, {
      headers: { cookie: owner.visitor.cookie },
      redirect: 'manual',
      signal: ending.signal,
    });
    expect(answer.status, path).to.be.below(400);
    if (answer.headers.get('content-type')?.startsWith('text/html')) return answer.text();
    ending.abort();
    return null;
  }
});
