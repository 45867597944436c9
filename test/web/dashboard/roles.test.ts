import { expect } from 'chai';
import { roles } from '../../../shared/accounts/account.ts';
import { mayUse, routesWithRights } from '../../../web/dashboard/pages.ts';
import { firstPages, roleTexts } from '../../../web/kit/roles.ts';

/** The sections of the dashboard that each of these groups of roles may use; the longest prefix of a path counts. */
const sections: Record<string, string[]> = {
  'owner developer desk finance': [
    ...['/', '/sign-in', '/sign-out', '/sign-out-everywhere', '/account', '/switch', '/team', '/team/leave'],
  ],
  'owner developer desk': ['/desk', '/rides'],
  'owner developer finance': ['/usage'],
  'owner developer': [
    ...['/confirm', '/keys', '/deliveries', '/console', '/signature', '/desk/settings', '/rides/:rideId/events/:seq'],
  ],
  owner: ['/team/'],
};

/** These tests need no server, so `npm run mutants` can run them. */
describe('the roles of the dashboard', () => {
  it('a route that the table does not name is refused', () => {
    for (const route of ['GET /new', 'DELETE /keys', 'toString', '__proto__', 'constructor', '']) {
      expect(
        roles.filter((role) => mayUse(role, route)),
        route,
      ).to.deep.equal([]);
    }
  });

  it('each section admits its roles, and only these', () => {
    const all = Object.entries(sections).flatMap(([group, prefixes]) => prefixes.map((prefix) => ({ prefix, group })));
    all.sort((one, other) => other.prefix.length - one.prefix.length);
    const found = new Set<string | undefined>();
    for (const route of routesWithRights) {
      const path = route.split(' ')[1] ?? '';
      const section = all.find(({ prefix }) => path.startsWith(prefix));
      expect(roles.filter((role) => mayUse(role, route)).join(' '), route).to.equal(section?.group);
      found.add(section?.prefix);
    }
    expect([...found]).to.have.members(all.map(({ prefix }) => prefix));
  });

  it('each role has a first page that it may open, and a text', () => {
    expect(firstPages).to.deep.equal({
      ...{ owner: '/dashboard', developer: '/dashboard', desk: '/dashboard/desk', finance: '/dashboard/usage' },
    });
    expect(roleTexts).to.deep.equal({
      owner: { name: 'Owner', text: 'everything, including the team' },
      developer: { name: 'Developer', text: 'keys, webhooks, secrets, console, rides and usage' },
      desk: { name: 'Desk', text: 'books, follows, accepts and cancels rides' },
      finance: { name: 'Finance', text: 'usage and statements, without passengers' },
    });
  });
});
