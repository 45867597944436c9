import { expect } from 'chai';
import { keys } from '../../cli/keys/key-commands.ts';
import { AuditModel } from '../../shared/accounts/audit.ts';
import { createKey, listKeys } from '../../shared/keys/manage-keys.ts';
import { chargesOf, creationLog } from '../support/charges.ts';
import { runCommand } from '../support/command-line.ts';
import { signedIn } from '../support/dashboard.ts';
import { textOf } from '../support/pages.ts';
import { usePartner, useTestApi } from '../support/service.ts';

describe("a key's own limit on creations", () => {
  const api = useTestApi();
  const partner = usePartner(api);
  const run = (...argv: string[]) => runCommand(keys, argv, { config: api.ctx.config, nowMs: api.ctx.now() });
  const limitTo = (perMinute: number, perHour: number) =>
    run('limit', partner.keyId, '--per-minute', String(perMinute), '--per-hour', String(perHour));
  const headersOf = ({ headers }: { headers: Headers }) => [
    headers.get('ratelimit-policy'),
    headers.get('ratelimit')?.replaceAll(/;t=\d+/g, ''),
  ];

  it('a limit above the contract applies from the next request, and the headers show it', async () => {
    const before = await partner.createRide();
    expect(headersOf(before)).to.deep.equal(['"minute";q=30;w=60, "hour";q=300;w=3600', '"minute";r=29, "hour";r=299']);
    expect((await limitTo(32, 40)).code).to.equal(0);
    const answers = await Promise.all(Array.from({ length: 40 }, () => partner.createRide()));
    expect(answers.filter(({ status }) => status === 201)).to.have.length(31);
    expect(await chargesOf(api.ctx, partner.keyId)).to.equal(32);
    const refused = await partner.createRide();
    expect(headersOf(refused)).to.deep.equal(['"minute";q=32;w=60, "hour";q=40;w=3600', '"minute";r=0, "hour";r=8']);
    expect(refused.body.error).to.equal('Rate limit exceeded: at most 32 rides in 60 seconds for this key');
  });

  it('a limit below the contract counts the rides that were created before it', async () => {
    await partner.createRide();
    await partner.createRide();
    await limitTo(2, 2);
    const refused = await partner.createRide();
    expect(refused.status).to.equal(429);
    expect(refused.body.error).to.match(/at most 2 rides in an hour for this key$/);
    expect((await run('limit', partner.keyId, '--default')).text).to.match(/In 60 seconds +30\nIn an hour +300\n/);
    expect(headersOf(await partner.createRide())[1]).to.equal('"minute";r=27, "hour";r=297');
  });

  it('after a limit was lowered, Retry-After is the time until enough rides have left the window', async () => {
    const [seconds] = await api.ctx.redis.time();
    const ago = (minutes: number) => (Number(seconds) - minutes * 60) * 1_000;
    await api.ctx.redis.zadd(creationLog(partner.keyId), ago(50), 'a', ago(30), 'b', ago(10), 'c');
    await limitTo(2, 2);
    const refused = await partner.createRide();
    expect(refused.status).to.equal(429);
    expect(Number(refused.headers.get('retry-after'))).to.be.within(1_200, 1_800);
  });

  it("the command records a change once, and the list and the key's page show the limit", async () => {
    const visitor = await signedIn(api);
    const accountId = visitor.account._id;
    const { keyId } = await createKey(api.ctx.config, { accountId, name: 'Desk', mode: 'live' });
    const page = async () => textOf((await visitor.get(`/dashboard/keys/${keyId}`)).html);
    expect(await page())
      .to.include('30 rides in 60 seconds, 300 in an hour')
      .and.not.include('set by the operator');
    for (let times = 0; times < 2; times++) {
      expect((await run('limit', keyId, '--per-minute', '300', '--per-hour', '3000')).code).to.equal(0);
    }
    expect(await AuditModel.countDocuments({ accountId, keyId, action: 'limit_changed' })).to.equal(1);
    expect(await page()).to.include('300 rides in 60 seconds, 3,000 in an hour, set by the operator');
    expect((await run('list', '--account', visitor.account.email)).text).to.include(
      'at most 300 rides in 60 seconds, 3000 in an hour',
    );
    expect((await listKeys({ accountId })).map(({ limit }) => limit)).to.deep.equal([
      { perMinute: 300, perHour: 3_000 },
    ]);
    expect(textOf((await visitor.get('/dashboard/account')).html)).to.include('changed the limit of a key');
  });

  for (const [options, code] of [
    [[], 2],
    [['--per-minute', '5'], 2],
    [['--per-minute', '5', '--per-hour', '50', '--default'], 2],
    [['--per-minute', '0', '--per-hour', '50'], 1],
    [['--per-minute', '60', '--per-hour', '50'], 1],
    [['--per-minute', '1.5', '--per-hour', '50'], 1],
    [['--per-minute', '5', '--per-hour', '100001'], 1],
    [['--per-minute', 'many', '--per-hour', '50'], 1],
  ] as const) {
    it(`"limit KEYID ${options.join(' ')}" exits with ${code} and changes nothing`, async () => {
      expect((await run('limit', partner.keyId, ...options)).code).to.equal(code);
      expect(headersOf(await partner.createRide())[0]).to.equal('"minute";q=30;w=60, "hour";q=300;w=3600');
    });
  }
});
