import { expect } from 'chai';
import { keys } from '../../cli/keys/key-commands.ts';
import { tableOf } from '../../cli/keys/keys-table.ts';
import { accountOf } from '../../shared/accounts/account.ts';
import { auditOf, commandLine } from '../../shared/accounts/audit.ts';
import { settingsMaxAgeMs } from '../../shared/keys/delivery-settings.ts';
import { isWellFormedKey } from '../../shared/keys/key-format.ts';
import { rollSigningSecret, rotateKey } from '../../shared/keys/replace-secret.ts';
import { runToEnd } from '../support/command-line.ts';
import { mailsTo, someone } from '../support/mails.ts';
import { testConfig, testContext, testSettings } from '../support/service.ts';
import { newMember } from '../support/team.ts';

describe('the command line of keys', () => {
  before(async () => {
    const ctx = await testContext();
    await ctx.close();
  });

  const run = (...argv: string[]) => runToEnd(keys, argv, testSettings());
  const create = async (...more: string[]) =>
    (await run('create', '--name', 'desk', '--mode', 'test', '--json', ...more)).json();

  it('create prints the new key in one line of JSON', async () => {
    const { code, out, err, json } = await run('create', '--name', 'Front desk', '--mode', 'live', '--json');
    expect({ code, err, lines: out.length }).to.deep.equal({ code: 0, err: [], lines: 1 });
    const made = json();
    expect(Object.keys(made)).to.deep.equal(['keyId', 'key', 'mode', 'name', 'webhookUrl', 'signingSecret']);
    expect(made).to.include({ mode: 'live', name: 'Front desk', webhookUrl: null });
    expect(isWellFormedKey(made.key)).to.equal(true);
    expect(made.signingSecret).to.match(/^whsec_/);
  });

  it('an account can be given by the address of a person who is a member of only one', async () => {
    const ctx = await testContext();
    const [one, two] = [await accountOf(someone()), await accountOf(someone())];
    const { email } = await newMember(one._id, 'developer');
    const both = (await newMember(one._id, 'developer', two.email)).email;
    const third = (await newMember(one._id, 'developer')).email;
    await newMember(two._id, 'developer', third);
    await ctx.close();
    const { keyId } = await create('--account', email);
    const listed = (await run('list', '--account', one.email, '--json')).json();
    expect(listed.map((key: { keyId: string }) => key.keyId)).to.deep.equal([keyId]);
    expect((await run('list', '--account', both, '--json')).json()).to.deep.equal([]);
    expect((await run('create', '--name', 'desk', '--mode', 'test', '--account', third)).code).to.equal(2);
  });

  it('create accepts a webhook URL and an account', async () => {
    const account = `a${Date.now()}@rides.example`;
    const made = await create('--webhook-url', 'https://partner.example/hook', '--account', account.toUpperCase());
    expect(made.webhookUrl).to.equal('https://partner.example/hook');
    const listed = (await run('list', '--account', account, '--json')).json();
    expect(listed.map(({ keyId }: { keyId: string }) => keyId)).to.deep.equal([made.keyId]);
  });

  it('create and rotate send a mail without the key to the address of the account', async () => {
    const email = `reported${Date.now()}@rides.example`;
    const { keyId, key } = await create('--account', email);
    await run('rotate', keyId);
    await run('roll-secret', keyId);
    const ctx = await testContext();
    const mails = await mailsTo(ctx, email);
    await ctx.close();
    expect(mails.map(({ subject }) => subject)).to.have.members([
      'A new test key "desk"',
      'Your test key "desk" was rotated',
    ]);
    for (const { text } of mails) {
      expect(text).to.include("from the operator's command line").and.include(`/dashboard/keys/${keyId}`);
      expect(text).not.to.include(key.slice(9, -6));
    }
  });

  for (const command of ['rotate', 'roll-secret'] as const) {
    it(`of two concurrent ${command} commands, one succeeds and the other reports that it changed nothing`, async () => {
      const replace = command === 'rotate' ? rotateKey : rollSigningSecret.bind(null, testConfig());
      const keyIds: string[] = [];
      while (keyIds.length < 5) keyIds.push((await create()).keyId);
      const ctx = await testContext();
      // On a busy machine, the first command can end before the second one begins. Then both succeed, and the test repeats.
      let refusals: Error[] = [];
      for (const keyId of keyIds) {
        if (refusals.length > 0) break;
        const outcomes = await Promise.allSettled([1, 2].map(() => replace(keyId, 'anyone')));
        refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
      }
      await ctx.close();
      expect(refusals).to.have.length(1);
      expect(refusals[0]?.message).to.match(
        /^Somebody (rotated|rolled) this .+ a moment ago\. Nothing was changed now\.$/,
      );
    });
  }

  it("successful commands change a key and add entries to the account's audit list, failed ones do neither", async () => {
    const email = `noted${Date.now()}@rides.example`;
    const { keyId, key, signingSecret } = await create('--account', email);
    await run('set-webhook', keyId, 'https://partner.example/');
    await run('set-webhook', keyId, 'https://localhost/');
    const rotated = (await run('rotate', keyId, '--json')).json();
    expect(rotated).to.have.all.keys('keyId', 'key').and.not.include({ key });
    const rolled = (await run('roll-secret', keyId, '--json')).json();
    expect(rolled).to.have.all.keys('keyId', 'signingSecret').and.not.include({ signingSecret });
    expect((await run('revoke', keyId)).code).to.equal(0);
    expect((await run('rotate', keyId)).code).to.equal(1);
    // A command disconnects when it ends.
    const ctx = await testContext();
    const entries = await auditOf((await accountOf(email))._id, 100);
    await ctx.close();
    expect(entries.map(({ action }) => action).reverse()).to.deep.equal([
      'key_created',
      'webhook_url_set',
      'key_rotated',
      'signing_secret_rolled',
      'key_revoked',
    ]);
    for (const entry of entries) expect(entry).to.include({ keyId, from: commandLine });
  });

  it('create, roll-secret and revoke end with a line about the next step or effect', async () => {
    const { out } = await run('create', '--name', 'Front desk', '--mode', 'test');
    const lines = out.join('\n').split('\n');
    expect(lines.at(-1)).to.equal('Keep the secret key and the signing secret: neither is shown again.');
    const keyId = lines[0]?.match(/^Key id {10}(key_\w+)$/)?.[1] ?? '';
    expect(lines).to.include('Name            Front desk');
    expect((await run('roll-secret', keyId)).out.join('\n')).to.match(/not shown again[^\n]*$/);
    expect((await run('revoke', keyId)).out.join('\n')).to.match(/Its rides continue\.$/);
  });

  it('roll-secret and set-webhook end only when no further request uses the old settings', async () => {
    const { keyId } = await create();
    for (const command of [
      ['roll-secret', keyId],
      ['set-webhook', keyId, 'https://partner.example/'],
      ['set-webhook', keyId, '--none'],
    ]) {
      const startedAt = performance.now();
      expect((await run(...command)).code).to.equal(0);
      expect(performance.now() - startedAt, command.join(' ')).to.be.at.least(settingsMaxAgeMs);
    }
  });

  it('set-webhook --none removes the webhook URL', async () => {
    const { keyId } = await create('--webhook-url', 'https://partner.example/hook');
    const { code, json } = await run('set-webhook', keyId, '--none', '--json');
    expect({ code, answer: json() }).to.deep.equal({ code: 0, answer: { keyId, webhookUrl: null } });
    const listed = (await run('list', '--json')).json();
    expect(listed.find((key: { keyId: string }) => key.keyId === keyId).webhookUrl).to.equal(null);
  });

  describe('the list', () => {
    const now = Date.parse('2026-03-04T05:06:07Z');
    const ago = (minutes: number) => new Date(now - minutes * 60_000).toISOString();
    const key = {
      keyId: 'key_1a2B3c4D5e6F7g',
      name: 'Front desk',
      mode: 'test' as const,
      key: 'svc_test_...a1B2',
      webhookUrl: null,
      limit: null,
      createdAt: ago(9_000),
      lastUsedAt: null,
      revokedAt: null,
    };

    it('the list has labelled, aligned columns, and lines with the webhook URL and the limit of each key', () => {
      const webhookUrl = 'https://partner.example/events';
      const limit = { perMinute: 300, perHour: 3_000 };
      const used = { ...key, mode: 'live' as const, name: 'Night', lastUsedAt: ago(47 * 60), webhookUrl, limit };
      expect(tableOf([key, used, { ...key, revokedAt: ago(0) }], now)).to.deep.equal([
        'KEY ID              MODE  ENDS IN  LAST USED  NAME',
        'key_1a2B3c4D5e6F7g  test  a1B2     never      Front desk',
        '  no webhook URL',
        'key_1a2B3c4D5e6F7g  live  a1B2     47 h ago   Night',
        '  events to https://partner.example/events',
        '  at most 300 rides in 60 seconds, 3000 in an hour',
        'key_1a2B3c4D5e6F7g  test  a1B2     never      Front desk',
        '  revoked on 2026-03-04',
      ]);
    });

    it('the list fits the terminal, between 60 and 80 columns, and shows complete ids', () => {
      for (const [columns, width] of [
        [40, 60],
        [60, 60],
        [200, 80],
        [undefined, 80],
      ] as const) {
        const lines = tableOf([{ ...key, name: 'n'.repeat(100), lastUsedAt: ago(1_440 * 999) }], now, columns);
        expect(Math.max(...lines.map(({ length }) => length))).to.equal(width);
        expect(lines[1])
          .to.include(`${key.keyId}  `)
          .and.match(/\.\.\.$/);
      }
    });

    it('an empty list explains how to create a key', () => {
      expect(tableOf([], now)).to.deep.equal(['No keys. Make one: npm run -s keys -- create --name NAME --mode test']);
    });

    it('the list replaces control characters in names', () => {
      expect(tableOf([{ ...key, name: 'a\u001b[31m\nb' }], now)[1]).to.match(/ a \[31m b$/);
    });
  });
});
