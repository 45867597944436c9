import { expect } from 'chai';
import { dashboardBase } from '../../../api/dashboard/dashboard-part.ts';
import { dashboardRoutes, type PageParts } from '../../../api/dashboard/web-pages.ts';
import { type Account, accounts, type Role, roles } from '../../../shared/accounts/account.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { mayUse, routesWithRights } from '../../../web/dashboard/pages.ts';
import { firstPages } from '../../../web/kit/roles.ts';
import { newFormId, signedIn } from '../../support/dashboard.ts';
import { type HostileAccount, hostileAccount } from '../../support/hostile-account.ts';
import { useTestApi } from '../../support/service.ts';
import { memberOf, storedAccount } from '../../support/team.ts';

describe('the table of rights', () => {
  const api = useTestApi();
  let owner: HostileAccount;
  let team: Account;
  before(async () => {
    owner = await hostileAccount(api);
    team = await storedAccount(owner.account._id);
  });

  const routes = () => dashboardRoutes(api.ctx, {} as PageParts);

  it('names every route of the dashboard, and nothing else', () => {
    const all = new Set(routes().map(({ method, path }) => `${method} ${path}`));
    expect([...all].sort()).to.deep.equal([...routesWithRights].sort());
  });

  for (const role of roles) {
    it(`lets the role ${role} use exactly the routes that the table gives it`, async () => {
      let cookie = '';
      // A form may end the session, or change the team.
      const renew = async () => {
        await revived();
        cookie = (await memberOf(api, owner.account._id, role)).cookie;
      };
      await renew();
      for (const route of routesWithRights) {
        const [method, path = ''] = route.split(' ');
        const to = dashboardBase + path.replaceAll(/:(\w+)/g, (_, name: string) => owner.params[name] ?? '');
        const ending = new AbortController();
        const answer = await fetch(api.url + to, {
          method,
          redirect: 'manual',
          signal: ending.signal,
          headers: { cookie, 'sec-fetch-site': 'same-origin' },
          ...(method === 'POST' && {
            body: new URLSearchParams({ formId: newFormId(), account: owner.account._id }),
          }),
        });
        ending.abort();
        const where = `${role}: ${route}`;
        expect(answer.status === 403, where).to.equal(!mayUse(role, route));
        expect(answer.status, where).to.be.below(500).and.not.equal(401);
        if (method === 'POST') await renew();
      }
    });
  }

  /** The account as it was before a route changed its team. */
  async function revived(): Promise<void> {
    const { _id, email, members = [], invitations = [] } = team;
    await accounts.updateOne({ _id }, { $set: { email, members, invitations }, $inc: { teamRev: 1 } });
  }

  const linksOf = (html: string) =>
    [...html.matchAll(/(?:href|action)="(\/dashboard[^"#?]*)/g)].map(([, path = '']) => path);

  for (const role of roles) {
    it(`shows the role ${role} no link and no form that it may not use`, async () => {
      const founder = await signedIn(api);
      const { path: ridePath } = await founder.rideIn('bidding', { mode: 'test', scenario: 'no_offers' });
      const visitor = await memberOf(api, founder.account._id, role);
      const seen = new Set<string>();
      const open = [firstPages[role], '/dashboard/account', '/dashboard/team'];
      if (role !== 'finance') open.push(ridePath);
      for (const path of open) {
        if (seen.has(path) || /\.csv$/.test(path)) continue;
        seen.add(path);
        const { status, html } = await visitor.get(path);
        expect(status, `${role}: ${path}`).to.be.oneOf([200, 303]);
        open.push(...linksOf(html).filter((link) => isPage(link)));
        for (const form of html.matchAll(/<form [^>]*method="post"[^>]*action="(\/dashboard[^"#?]*)/g)) {
          expect(mayUse(role, routeOf('POST', form[1] ?? '')), `${role}: ${path} has the form ${form[1]}`).to.equal(
            true,
          );
        }
      }
      expect(seen.size).to.be.above(3);
    });
  }

  const isPage = (path: string): boolean => routeOf('GET', path) !== '';

  /** The route of the table that matches a path; empty if there is none. */
  function routeOf(method: string, path: string): string {
    const below = path.slice(dashboardBase.length) || '/';
    const matches = routesWithRights.filter((route) => {
      const [of, pattern = ''] = route.split(' ');
      return of === method && new RegExp(`^${pattern.replaceAll(/:\w+/g, '[^/]+')}$`).test(below);
    });
    return matches.find((route) => !route.includes(':')) ?? matches[0] ?? '';
  }

  it('only roles that may see deliveries see the webhook URL and the Idempotency-Key of a ride', async () => {
    const { account, rideIn } = await signedIn(api);
    const webhookUrl = 'https://partner.example/hooks/secret-path';
    const { rideId, path } = await rideIn('bidding', { webhookUrl });
    const idempotency = { key: 'booking-70133', requestHash: '', expiresAt: new Date(Date.now() + 60_000) };
    await rides.updateOne({ _id: rideId }, { $set: { idempotency } });
    for (const role of ['owner', 'developer', 'desk'] as const) {
      const { html } = await (await memberOf(api, account._id, role)).get(`${path}?entry=created`);
      expect(html, role).to.include('<title>');
      for (const text of ['secret-path', 'booking-70133']) expect(html.includes(text), role).to.equal(role !== 'desk');
    }
  });

  it('a page that a role may not open says who can help, and its scripts get a 403', async () => {
    const { account } = await signedIn(api);
    const visitor = await memberOf(api, account._id, 'finance');
    const { status, html, headers } = await visitor.get('/dashboard/keys');
    expect(status).to.equal(403);
    expect(headers.get('x-service-error')).to.equal('forbidden');
    expect(html).to.include(`mailto:${account.email}`);
    const stream = await visitor.get(`/dashboard/rides/${owner.params.rideId}/events`);
    expect([stream.status, stream.html]).to.deep.equal([403, '']);
  });

  it('each role starts on its own first page', async () => {
    const { account } = await signedIn(api);
    for (const role of Object.keys(firstPages) as Role[]) {
      const { status, headers } = await (await memberOf(api, account._id, role)).get('/dashboard');
      const page = firstPages[role];
      expect([status, headers.get('location')], role).to.deep.equal(page === '/dashboard' ? [200, null] : [303, page]);
    }
  });
});
