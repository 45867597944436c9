import { expect } from 'chai';
import { dashboardRoutes, type PageParts } from '../../../api/dashboard/web-pages.ts';
import { newKeyId } from '../../../shared/base/ids.ts';
import { type ApiKey, keys } from '../../../shared/keys/api-key.ts';
import { listActiveKeys, listRevokedKeys } from '../../../shared/keys/list-keys.ts';
import { revokeKey } from '../../../shared/keys/manage-keys.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { clientOf } from '../../support/client.ts';
import { signedIn, type Visitor } from '../../support/dashboard.ts';
import { plansOf } from '../../support/plans.ts';
import { useTestApi } from '../../support/service.ts';

describe('revoked keys', () => {
  const many = 130;
  const api = useTestApi();
  let visitor: Visitor;
  let used: { keyId: string; key: string };

  before(async () => {
    visitor = await signedIn(api);
    const accountId = visitor.account._id;
    used = await visitor.newKey('test', 'Used before');
    for (let made = 0; made < 3; made++) await clientOf(api.url, used.key).createRide();
    await revokeKey(used.keyId, { accountId });
    await visitor.newKey('test', 'In use');
    const record = (await keys.findOne({ _id: used.keyId })) as ApiKey;
    const now = Date.now();
    await keys.insertMany(
      Array.from({ length: many }, (_, number) => ({
        ...record,
        _id: newKeyId(),
        hash: `${accountId} ${number}`,
        name: `gone-${number}.`,
        // Some keys share a time, as if a script had revoked them.
        revokedAt: new Date(now + 1_000 + Math.floor(number / 7)),
      })),
    );
  });

  /** Not a page: it ends only when the browser leaves. */
  const boardStream = '/desk/events';
  const namesIn = (html: string) => [...html.matchAll(/gone-\d+\./g)].map(([name]) => name);

  it('the pages of revoked keys list each key once, the most recently revoked first', async () => {
    const seen: string[] = [];
    let path: string | undefined = '/dashboard/keys';
    for (let pages = 0; path && pages < 10; pages++) {
      const { html, status } = await visitor.get(path);
      expect(status).to.equal(200);
      expect(html)
        .to.include(`Revoked keys (${many + 1})`)
        .and.include('In use');
      seen.push(...namesIn(html));
      path = /href="([^"]+)" rel="next"/.exec(html)?.[1]?.replaceAll('&amp;', '&');
      if (!path)
        expect(html)
          .to.include('Used before')
          .and.match(/>3<\/a>/);
    }
    expect(new Set(seen).size).to.equal(many);
    expect(seen).to.have.length(many);
    const times = seen.map((name) => Math.floor(Number(name.slice(5, -1)) / 7));
    expect(times).to.deep.equal(times.toSorted((one, other) => other - one));
  });

  it('a page shows at most 50 revoked keys', async () => {
    const paths = dashboardRoutes(api.ctx, {} as PageParts).filter(
      ({ method, path }) => method === 'GET' && !path.includes(':') && path !== boardStream,
    );
    for (const { path } of paths) {
      const { html, status } = await visitor.get(`/dashboard${path}`);
      expect(status, path).to.be.below(400);
      expect(namesIn(html).length, path).to.be.at.most(50);
    }
  });

  it('the list reads only one page of revoked keys, by an index', async () => {
    const owner = { accountId: visitor.account._id };
    const plans = await plansOf(async () => {
      await listRevokedKeys(owner, 51);
      await listActiveKeys(owner);
    });
    expect(plans.map(({ executionStats }) => executionStats.totalDocsExamined)).to.deep.equal([51, 1]);
  });

  it('the list of rides offers a revoked key as a filter, and shows its name at its rides', async () => {
    const { html } = await visitor.get(`/dashboard/rides?key=${used.keyId}`);
    expect(html).to.match(
      new RegExp(`<option[^>]*value="${used.keyId}"[^>]*selected|selected[^>]*value="${used.keyId}"`),
    );
    expect(html.match(/Used before/g)?.length).to.be.at.least(4);
    expect((await visitor.get('/dashboard/usage')).html).to.include('Used before');
    expect(await rides.countDocuments({ keyId: used.keyId })).to.equal(3);
  });
});
