import { expect } from 'chai';
import { audit } from '../../../shared/accounts/audit.ts';
import { keysCommand } from '../../../shared/cli/keys-command.ts';
import { newAccountId } from '../../../shared/ids.ts';
import { createKey } from '../../../shared/keys/manage-keys.ts';
import { signedIn, type Visitor } from '../../support/dashboard.ts';
import { startTestApi, type TestApi, testContext, testSettings } from '../../support/service.ts';

/** The entries of the list: what, which key, who and from where. */
const entries = (html: string) =>
  [...html.matchAll(/<td data-label="(What|Key|Who|From)"[^>]*>(.*?)<\/td>/g)]
    .map(([, , cell = '']) => cell.replaceAll(/<[^>]+>/g, ''))
    .reduce<string[][]>((rows, cell, index) => {
      if (index % 4 === 0) rows.push([]);
      rows.at(-1)?.push(cell);
      return rows;
    }, []);

describe('the dashboard: account', () => {
  let api: TestApi;
  let visitor: Visitor;

  before(async () => {
    api = await startTestApi({ TRUSTED_PROXY_HOPS: '1' });
  });
  after(() => api.close());
  beforeEach(async () => {
    visitor = await signedIn(api);
  });

  const account = (query = '') => visitor.get(`/dashboard/account${query}`);

  it('shows its address and a way to sign out everywhere', async () => {
    const { html } = await account();
    expect(html).to.include(`<dd>${visitor.account.email}</dd>`);
    expect(html).to.match(/action="\/dashboard\/sign-out-everywhere".*Sign out everywhere/);
  });

  it('lists who did what to which key, from where, newest first and in plain words', async () => {
    const from = { 'x-forwarded-for': '203.0.113.7' };
    const { keyId } = await createKey(api.ctx.config, {
      accountId: visitor.account._id,
      name: 'Front desk',
      mode: 'test',
    });
    const at = `/dashboard/keys/${keyId}`;
    await visitor.post(`${at}/webhook-url`, { webhookUrl: 'https://partner.example/' }, from);
    await visitor.post(`${at}/signing-secret`, {}, from);
    await visitor.post(`${at}/roll-secret`, {}, from);
    await visitor.post(`${at}/name`, { name: 'Night desk' }, from);
    await visitor.post(`${at}/rotate`, {}, from);
    await visitor.post(`${at}/revoke`, {}, from);
    const who = visitor.account.email;
    expect(entries((await account()).html)).to.deep.equal(
      [
        'revoked a key',
        'rotated a key',
        'renamed a key',
        'rolled the signing secret',
        'looked at the signing secret',
        'changed the webhook URL',
      ].map((what) => [what, 'Night desk', who, '203.0.113.7']),
    );
  });

  it('leads through all entries, page by page, each once', async () => {
    const total = 120;
    for (let made = 0; made < total; made += 1) {
      // Several at the same millisecond.
      const at = api.ctx.now() + Math.floor(made / 7);
      await audit({ accountId: visitor.account._id, action: 'signed_in', from: `203.0.113.${made}` }, at);
    }
    const seen: string[] = [];
    let pages = 0;
    for (let query: string | undefined = ''; query !== undefined; pages += 1) {
      const { html } = await account(query);
      seen.push(...entries(html).map(([, , , from]) => from ?? ''));
      query = /href="\/dashboard\/account(\?before=[\w-]+)#audit"/.exec(html)?.[1];
    }
    expect(pages).to.equal(3);
    expect(seen).to.have.length(total);
    expect(new Set(seen).size).to.equal(total);
  });

  it('takes a place in the list that cannot be for its start', async () => {
    for (const before of ['x', '1', '99999999999999999999-audit_x', '1-x', '1-audit_$ne']) {
      expect((await account(`?before=${encodeURIComponent(before)}`)).status, before).to.equal(200);
    }
  });
});

describe('the dashboard: what the operator did on the command line', () => {
  const email = `${newAccountId()}@partner.example`.toLowerCase();
  let api: TestApi;

  before(async () => {
    // The command connects and disconnects this very process.
    await (await testContext()).close();
    const { log } = console;
    console.log = () => {};
    const create = ['create', '--name', 'By the operator', '--mode', 'live', '--account', email];
    const code = await keysCommand(create, testSettings()).finally(() => Object.assign(console, { log }));
    expect(code).to.equal(0);
    api = await startTestApi();
  });
  after(() => api.close());

  it('is listed, and its keys show up in the account', async () => {
    const visitor = await signedIn(api, email);
    expect((await visitor.get('/dashboard/keys')).html).to.include('By the operator');
    expect(entries((await visitor.get('/dashboard/account')).html)).to.deep.equal([
      ['created a key', 'By the operator', 'the operator', 'command line'],
    ]);
  });
});
