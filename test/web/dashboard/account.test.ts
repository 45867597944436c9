import { expect } from 'chai';
import { audit, auditOf, commandLine } from '../../../shared/accounts/audit.ts';
import { SessionModel } from '../../../shared/accounts/session.ts';
import { sha256 } from '../../../shared/base/ids.ts';
import { browserName } from '../../../web/dashboard/start-session.ts';
import { signedIn, useVisitor, type Visitor } from '../../support/dashboard.ts';
import { plainBrowser } from '../../support/plain-browser.ts';
import { useSigningIn } from '../../support/signing-in.ts';

/** The rows of the audit list: action, key, actor and client address. */
const entries = (html: string) =>
  [...html.matchAll(/<td data-label="(What|Key|Who|From)"[^>]*>(.*?)<\/td>/g)]
    .map(([, , cell = '']) => cell.replaceAll(/<[^>]+>/g, ''))
    .reduce<string[][]>((rows, cell, index) => {
      if (index % 4 === 0) rows.push([]);
      rows.at(-1)?.push(cell);
      return rows;
    }, []);

describe('the dashboard: account', () => {
  const { api, signedIn: enter } = useSigningIn();
  const visitor = useVisitor(api);

  const account = (query = '') => visitor.get(`/dashboard/account${query}`);

  it('the page shows the e-mail address and a button to sign out everywhere', async () => {
    const { html } = await account();
    expect(html).to.include(`<dd>${visitor.account.email}</dd>`);
    expect(html).to.match(/action="\/dashboard\/sign-out-everywhere".*Sign out everywhere/);
  });

  const agents = {
    'Firefox on Windows': 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:135.0) Gecko/20100101 Firefox/135.0',
    'Chrome on Android':
      'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/133.0.0.0 Mobile Safari/537.36',
    'Safari on iPhone':
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_3 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.3 Mobile/15E148 Safari/604.1',
    'Edge on Windows':
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/133.0.0.0 Safari/537.36 Edg/133.0.0.0',
    'Safari on macOS':
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.3 Safari/605.1.15',
    'An unknown browser': '<script>alert(1)</script>',
  };
  const rows = (html: string) =>
    [...html.matchAll(/<td data-label="Browser"[^>]*>(.*?)<\/td>.*?<td data-label="Network"[^>]*>(.*?)<\/td>/gs)].map(
      (cells) => cells.slice(1).map((cell) => cell.replaceAll(/<[^>]+>/g, '').trim()),
    );

  it('the page names a browser only with words from fixed lists', () => {
    for (const [name, agent] of Object.entries(agents)) expect(browserName(agent)).to.equal(name);
  });

  it('the page lists each browser with its network, and marks the current one', async () => {
    const { email } = visitor.account;
    const browser = plainBrowser(api, {
      address: '2001:db8:1:2::7',
      headers: { 'user-agent': agents['Firefox on Windows'] },
    });
    await enter(email, browser);
    const { html } = await browser.get('/dashboard/account');
    expect(rows(html)).to.have.deep.members([
      ['Firefox on Windows this browser', '2001:db8:1:2::/64'],
      // The session of the visitor, which a test has started without them.
      ['An unknown browser', 'not known'],
    ]);
    expect(html).to.match(/data-label="Signed in".*data-label="Last used"/s);
  });

  it('a browser whose session has ended is not listed', async () => {
    const ago = (days: number) => new Date(api.ctx.now() - days * 24 * 3_600_000);
    const used = { accountId: visitor.account._id, memberId: visitor.account.member.id, lastUsedAt: ago(1) };
    const unused = { ...used, _id: `unused ${used.accountId}`, createdAt: ago(31), expiresAt: ago(0) };
    await SessionModel.collection.insertOne(unused as never);
    expect(rows((await account()).html)).to.have.length(1);
  });

  it('the sessions of listed browsers can be ended at once, but not those of another account', async () => {
    const [other, foreign] = [await signedIn(api, visitor.account.email), await signedIn(api)];
    const idOf = async (one: Visitor) =>
      /this browser.*?name="session" value="([^"]+)"/s.exec((await one.get('/dashboard/account')).html)?.[1] ?? '';
    for (const session of [await idOf(other), await idOf(foreign), sha256('no session'), sha256('another')]) {
      await visitor.post('/dashboard/account/end-session', { session });
    }
    const ended = (await auditOf(visitor.account._id, 10)).filter(({ action }) => action === 'session_ended');
    expect(ended, 'only the session that was ended is recorded').to.have.length(1);
    expect((await other.get('/dashboard/account')).status).to.equal(303);
    expect((await foreign.get('/dashboard/account')).status).to.equal(200);
    expect(rows((await account()).html)).to.have.length(1);
    await visitor.post('/dashboard/account/end-session', { session: await idOf(visitor) });
    expect((await account()).status).to.equal(303);
  });

  it('the audit list shows each action with key, actor and client address, newest first', async () => {
    const from = { 'x-forwarded-for': '203.0.113.7' };
    const { keyId } = await visitor.newKey();
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
        'viewed the signing secret',
        'changed the webhook URL',
      ].map((what) => [what, 'Night desk', who, '203.0.113.7']),
    );
  });

  it("the audit list names the operator's command line", async () => {
    const { keyId } = await visitor.newKey();
    const created = { accountId: visitor.account._id, action: 'key_created', keyId, from: commandLine } as const;
    await audit(created, api.ctx.now());
    expect(entries((await account()).html)).to.deep.equal([
      ['created a key', 'Front desk', 'the operator', 'command line'],
    ]);
  });

  it('the pages of the audit list show each entry once', async () => {
    const total = 120;
    const now = api.ctx.now();
    for (let made = 0; made < total; made += 1) {
      // Seven entries have the same time.
      const at = now + Math.floor(made / 7);
      const entry = { accountId: visitor.account._id, action: 'signed_in', member: visitor.account.email } as const;
      await audit({ ...entry, from: `203.0.113.${made}` }, at);
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

  it('an invalid `before` cursor shows the first page of the audit list', async () => {
    for (const before of ['x', '1', '99999999999999999999-audit_x', '1-x', '1-audit_$ne']) {
      expect((await account(`?before=${encodeURIComponent(before)}`)).status, before).to.equal(200);
    }
  });
});
