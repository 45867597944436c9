import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import mongoose from 'mongoose';
import { createApp } from '../../api/app.ts';
import { serve } from '../../api/http/serve.ts';
import { keys } from '../../cli/keys/key-commands.ts';
import { AuditModel } from '../../shared/accounts/audit.ts';
import { newAccountId, newKeyId } from '../../shared/base/ids.ts';
import { createKey, listKeys } from '../../shared/keys/manage-keys.ts';
import { rotateKey } from '../../shared/keys/replace-secret.ts';
import { chargeCreations } from '../../shared/rides/charge-creation.ts';
import { type NewRide, UnconfirmedRide } from '../../shared/rides/create-ride.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import { addCharges as charge, chargesOf, creationLog, forgetCharges } from '../support/charges.ts';
import { type Answer, clientOf } from '../support/client.ts';
import { runCommand } from '../support/command-line.ts';
import { signedIn } from '../support/dashboard.ts';
import { database, failOnce, onceInsteadOf } from '../support/failing-mongo.ts';
import { withLogLines } from '../support/log-lines.ts';
import { textOf } from '../support/pages.ts';
import { newRide } from '../support/rides.ts';
import { usePartner, useTestApi } from '../support/service.ts';
import { until } from '../support/until.ts';
import { useStarted } from '../support/use-started.ts';

const perMinute = 30;
const perHour = 300;

describe('rate limit of creations', () => {
  const api = useTestApi();
  const partner = usePartner(api);

  const charges = (keyId: string) => chargesOf(api.ctx, keyId);

  const addCharges = (keyId: string, count: number, agoSeconds: number) => charge(api.ctx, keyId, count, agoSeconds);

  function expectRefused({ status, headers }: Answer): number {
    expect(status).to.equal(429);
    const retryAfter = headers.get('retry-after') ?? '';
    expect(retryAfter).to.match(/^\d+$/);
    return Number(retryAfter);
  }

  const other = useStarted(() => serve(api.ctx, createApp(api.ctx)));
  /** Sends all creations at once, in turn to two servers. */
  const createAll = (headers: Record<string, string>[]) => {
    const elsewhere = clientOf(`http://127.0.0.1:${other.port}`, partner.key);
    return Promise.all(headers.map((each, index) => (index % 2 ? elsewhere : partner).createRide({}, each)));
  };

  it('of 50 creations whose two requests each come at once, exactly 30 succeed, each with the same answer twice', async () => {
    const headers = Array.from({ length: 50 }, (_, index) => ({ 'idempotency-key': `${index}` }));
    const answers = await createAll(headers.flatMap((each) => [each, each]));
    const results = answers.map(({ status, body }) => (status === 201 ? body.rideId : status));
    expect(results.filter((_, index) => index % 2)).to.deep.equal(results.filter((_, index) => index % 2 === 0));
    expect(new Set(results).size).to.equal(perMinute + 1);
    expect(await rides.countDocuments({ keyId: partner.keyId })).to.equal(perMinute);
    expect(await charges(partner.keyId)).to.equal(perMinute);
  });

  it('accounts have no limit on creations by default', async () => {
    const partners = [await api.partner(), await api.partner()];
    const answers = await Promise.all(
      partners.flatMap(({ createRide }) => Array.from({ length: perMinute }, () => createRide())),
    );
    expect(answers.filter(({ status }) => status === 201)).to.have.lengthOf(2 * perMinute);
  });

  it('a limit for accounts counts all keys of an account together and does not charge refused creations', async () => {
    const { ctx } = api;
    const limited = { ...ctx, config: { ...ctx.config, ridesPerAccountMinute: 5 } };
    const server = await serve(limited, createApp(limited));
    const accountId = newAccountId();
    const newPartner = async () => {
      const { keyId, key } = await createKey(ctx.config, { accountId, name: 'test', mode: 'test' });
      return { keyId, ...clientOf(`http://127.0.0.1:${server.port}`, key) };
    };
    try {
      const [one, other, full] = [await newPartner(), await newPartner(), await newPartner()];
      await addCharges(full.keyId, perMinute, 30);
      // If the limit of the key refuses the creation, the account is not charged.
      expect((await full.createRide()).body.error).to.include('for each key');
      const first = await one.createRide({}, { 'idempotency-key': 'a' });
      expect(first.headers.get('ratelimit-policy')).to.match(/, "account";q=5;w=60$/);
      expect(first.headers.get('ratelimit')).to.match(/, "account";r=4;t=\d+$/);
      await one.createRide({}, { 'idempotency-key': 'a' });
      const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => (n % 2 ? one : other).createRide()));
      expect(answers.filter(({ status }) => status === 201)).to.have.lengthOf(4);
      for (const answer of answers.filter(({ status }) => status !== 201)) {
        expect(expectRefused(answer)).to.be.within(1, 60);
        expect(answer.body.error).to.equal('Rate limit exceeded: at most 5 rides in 60 seconds for each account');
      }
      expect((await charges(one.keyId)) + (await charges(other.keyId))).to.equal(5);
      expect(await charges(accountId)).to.equal(5);
      const failing = await newPartner();
      await forgetCharges(ctx, accountId);
      failOnce(database(), 'command', new Error('disk full'));
      expect((await failing.createRide()).status).to.equal(500);
      expect([await charges(failing.keyId), await charges(accountId)]).to.deep.equal([0, 0]);
    } finally {
      await server.close();
    }
  });

  it('the RateLimit headers show the remaining quota of both windows', async () => {
    await addCharges(partner.keyId, 10, 3_000);
    await addCharges(partner.keyId, 4, 20);
    const { headers } = await partner.createRide();
    expect(headers.get('ratelimit-policy')).to.equal('"minute";q=30;w=60, "hour";q=300;w=3600');
    const [minute, hour] = limits(headers);
    expect(minute).to.include({ name: 'minute', left: perMinute - 5 });
    expect(hour).to.include({ name: 'hour', left: perHour - 15 });
    expect(minute?.frees).to.be.within(1, 40);
    expect(hour?.frees).to.be.within(1, 600);
  });

  it('the remaining quota decreases with every creation, and is 0 in a 429', async () => {
    await addCharges(partner.keyId, perMinute - 1, 30);
    // Both bases share the limit.
    const last = await clientOf(api.url, partner.key, '/api/v1').createRide();
    expect(last.status).to.equal(201);
    expect(limits(last.headers)[0]?.left).to.equal(0);
    const refused = await partner.createRide();
    expect(expectRefused(refused)).to.be.within(1, 30);
    expect(limits(refused.headers)[0]?.left).to.equal(0);
    expect(limits(refused.headers)[1]?.left).to.equal(perHour - perMinute);
    expect(refused.headers.get('ratelimit-policy')).to.be.a('string');
  });

  it('the 301st creation within an hour is refused until the oldest is an hour old', async () => {
    await addCharges(partner.keyId, perHour - 1, 3_000);
    expect((await partner.createRide()).status).to.equal(201);
    const refused = await partner.createRide();
    expect(expectRefused(refused)).to.be.within(61, 600);
    expect(limits(refused.headers).map(({ left }) => left)).to.deep.equal([perMinute - 1, 0]);
    expect(await charges(partner.keyId)).to.equal(perHour);
  });

  it('Retry-After is the longer wait if both windows are exhausted', async () => {
    await addCharges(partner.keyId, perHour - perMinute, 1_000);
    await addCharges(partner.keyId, perMinute, 10);
    expect(expectRefused(await partner.createRide())).to.be.within(61, 2_600);
  });

  it('creations more than a minute or an hour ago no longer count', async () => {
    await addCharges(partner.keyId, perMinute, 61);
    expect((await partner.createRide()).status).to.equal(201);
    const other = await api.partner();
    await addCharges(other.keyId, perHour, 3_601);
    expect((await other.createRide()).status).to.equal(201);
    expect(await charges(other.keyId)).to.equal(1);
  });

  it('an invalid creation answers 400, not 429, even if the key is over its limit', async () => {
    await addCharges(partner.keyId, perMinute, 30);
    expect((await partner.createRide({ fare: 0 })).status).to.equal(400);
  });

  it('a creation whose insert may have arrived answers 503 in time and keeps its charge', async () => {
    onceInsteadOf(database(), 'command', () => new Promise(() => {}));
    expect((await partner.createRide()).status).to.equal(503);
    expect(await charges(partner.keyId)).to.equal(1);
  });

  /** Loses the reply to every insert while `during` runs; with `arrives`, MongoDB still executes it. */
  async function losingAnswers<T>(arrives: boolean, during: () => Promise<T>): Promise<T> {
    const db = database();
    const { command } = db;
    db.command = (async (...args: Parameters<typeof command>) => {
      if (arrives) await Reflect.apply(command, db, args).catch(() => {});
      throw new mongoose.mongo.MongoNetworkError('connection closed');
    }) as typeof command;
    try {
      return await during();
    } finally {
      db.command = command;
    }
  }

  it('the charge of an unconfirmed creation is refunded once MongoDB shows that the ride does not exist', async () => {
    const { status } = await losingAnswers(false, () => partner.createRide());
    expect([status, await charges(partner.keyId)]).to.deep.equal([503, 1]);
    await until(async () => (await charges(partner.keyId)) === 0);
  });

  it('the charge of an unconfirmed creation stays if the ride exists', async () => {
    const error = await losingAnswers(true, () => newRide(api.ctx).catch((thrown) => thrown));
    expect(error).to.be.an.instanceOf(UnconfirmedRide);
    expect(await error.wasCreated()).to.equal(true);
  });

  it('the charge of an unconfirmed creation stays if MongoDB inserts the ride after the first check', async () => {
    const rideId = await newRide(api.ctx);
    const stored = await rides.findOneAndDelete({ _id: rideId });
    const wasCreated = new UnconfirmedRide(rideId).wasCreated();
    await setTimeout(1_500);
    await rides.insertOne(stored as Ride);
    expect(await wasCreated).to.equal(true);
  });

  it('a creation that gets no free connection to MongoDB is not charged', async () => {
    const partner = await api.partner();
    const db = database();
    const { command } = db;
    db.command = () => {
      throw Object.assign(new Error('no connection is free'), { name: 'MongoWaitQueueTimeoutError' });
    };
    try {
      expect((await partner.createRide()).status).to.equal(503);
    } finally {
      db.command = command;
    }
    expect(await charges(partner.keyId)).to.equal(0);
  });

  it('one log line per outage of Redis says that only this process counts creations', async () => {
    const { ctx, lines } = withLogLines(api.ctx);
    const chargeCreation = chargeCreations(ctx);
    const keyId = newKeyId();
    const input = { key: { keyId, accountId: 'acct_of_tests', mode: 'test' } } as NewRide;
    for (let outage = 1; outage <= 2; outage++) {
      // The Redis key now holds a value of another type, so the script of the limit fails.
      await ctx.redis.set(creationLog(keyId), 'damaged');
      for (let made = 0; made < 3; made++) await chargeCreation(input);
      expect(lines.filter(({ msg }) => msg === 'limit counted in this process only')).to.have.length(outage);
      await ctx.redis.del(creationLog(keyId));
      await chargeCreation(input);
    }
  });

  it('a rotation of the key does not reset its limit', async () => {
    await addCharges(partner.keyId, perMinute, 30);
    const { key } = await rotateKey(partner.keyId, 'anyone');
    expect((await clientOf(api.url, key).createRide()).status).to.equal(429);
  });

  it('a key that has used up its creation limit can still read, accept and cancel', async () => {
    const { rideId } = (await partner.createRide()).body;
    await addCharges(partner.keyId, perMinute, 30);
    expect((await partner.createRide()).status).to.equal(429);
    const reads = await Promise.all(
      Array.from({ length: 50 }, (_, i) => partner.get(i % 2 ? `/rides/${rideId}` : `/rides/${rideId}/offers`)),
    );
    expect(new Set(reads.map(({ status }) => status))).to.deep.equal(new Set([200]));
    expect((await partner.post(`/rides/${rideId}/accept`, { offerId: 'x' })).status).to.equal(404);
    expect((await partner.post(`/rides/${rideId}/cancel`)).status).to.equal(200);
  });

  it('the Redis log of creations expires if its key creates no more rides', async () => {
    await partner.createRide();
    expect(await api.ctx.redis.pttl(creationLog(partner.keyId))).to.be.within(1, 3_600_000);
  });
});

function limits(headers: Headers) {
  return (headers.get('ratelimit') ?? '').split(', ').map((item) => {
    const [, name, left, frees] = /^"(\w+)";r=(\d+);t=(\d+)$/.exec(item) ?? [];
    return { name, left: Number(left), frees: Number(frees) };
  });
}

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
