import { expect } from 'chai';
import { mayUse, routesWithRights } from '../../../web/dashboard/pages.ts';
import { firstPages, roleTexts } from '../../../web/kit/roles.ts';

const roles = ['owner', 'developer', 'desk', 'finance'] as const;
const [everyone, builders, bookers] = ['owner developer desk finance', 'owner developer', 'owner developer desk'];

/** The roles of each section of the dashboard; the longest prefix of a path counts. */
const sections: [prefix: string, roles: string][] = [
  ...(['/', '/sign-in', '/sign-out', '/account', '/sign-out-everywhere', '/switch'] as const).map(
    (path): [string, string] => [path, everyone],
  ),
  ...([
    ['/team/', 'owner'],
    ['/team', everyone],
    ['/team/leave', everyone],
  ] as [string, string][]),
  ...(
    [
      '/confirm',
      '/keys',
      '/deliveries',
      '/console',
      '/signature',
      '/desk/settings',
      '/rides/:rideId/events/:seq',
    ] as const
  ).map((path): [string, string] => [path, builders]),
  ...([
    ['/desk', bookers],
    ['/rides', bookers],
    ['/usage', 'owner developer finance'],
  ] as [string, string][]),
];

describe('the roles of the dashboard', () => {
  it('each section admits its roles, and only these', () => {
    for (const route of routesWithRights) {
      const path = route.split(' ')[1] ?? '';
      const [section] = sections
        .filter(([prefix]) => path.startsWith(prefix))
        .sort((a, b) => b[0].length - a[0].length);
      expect(roles.filter((role) => mayUse(role, route)).join(' '), route).to.equal(section?.[1]);
    }
  });

  it('a route that the table does not name is refused', () => {
    for (const route of ['GET /new', 'toString', '__proto__', '']) {
      expect(
        roles.filter((role) => mayUse(role, route)),
        route,
      ).to.deep.equal([]);
    }
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
