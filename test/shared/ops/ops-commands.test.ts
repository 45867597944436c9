import { expect } from 'chai';
import { ops as program } from '../../../cli/ops/ops-commands.ts';
import { failingLines } from '../../../cli/ops/print.ts';
import { AccountModel, operatorEmail } from '../../../shared/accounts/account.ts';
import { AuditModel } from '../../../shared/accounts/audit.ts';
import { newMailId } from '../../../shared/base/ids.ts';
import { type PoolName, poolNames } from '../../../shared/base/queues.ts';
import { connectWorkerRedis } from '../../../shared/base/redis/redis.ts';
import { createDriver } from '../../../shared/drivers/manage-drivers.ts';
import { keys } from '../../../shared/keys/api-key.ts';
import { createKey, type NewKey } from '../../../shared/keys/manage-keys.ts';
import { mails } from '../../../shared/mail/mail-row.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { attempts } from '../../../shared/webhooks/attempts.ts';
import { countFailingKeys } from '../../../shared/webhooks/delivery-health.ts';
import { startSweeper } from '../../../workers/periodic/sweeper/sweeper.ts';
import { startPool } from '../../../workers/pools.ts';
import { storedAttempts } from '../../support/attempts.ts';
import { clientOf, validRide } from '../../support/client.ts';
import { runCommand } from '../../support/command-line.ts';
import { signedIn } from '../../support/dashboard.ts';
import { endedRide, personalIn } from '../../support/ended-rides.ts';
import { textOf } from '../../support/pages.ts';
import { rideIn } from '../../support/rides.ts';
import { useTestApi } from '../../support/service.ts';
import { jobFor, makeDue, storedRide } from '../../support/stored-rides.ts';
import { until } from '../../support/until.ts';

describe('ops commands', () => {
  const api = useTestApi();
  before(async () => {
    await api.ctx.redis.flushall();
  });

  /** Runs a command line without printing the answer. */
  // biome-ignore lint/suspicious/noExplicitAny: each command has a different answer.
  async function ops(line: string): Promise<any> {
    const { answer, text } = await runCommand(program, [...line.split(' '), '--by', 'Grace'], api.ctx);
    if (answer === null) throw new Error(text);
    return answer;
  }
  const refusal = (line: string) =>
    ops(line).then(
      () => 'done',
      ({ message }) => message,
    );
  const lastEntry = (accountId: string) => AuditModel.findOne({ accountId }).sort({ at: -1 }).lean();

  async function newAccount() {
    const visitor = await signedIn(api);
    const key = (mode: 'live' | 'test' = 'test'): Promise<NewKey> =>
      createKey(api.ctx.config, { accountId: visitor.account._id, name: 'Front desk', mode });
    return { visitor, accountId: visitor.account._id, key };
  }
  const statusOf = async ({ key }: NewKey) => {
    const client = clientOf(api.url, key);
    const { status } = await client.createRide();
    return [status, (await client.get('/rides/ride_unknown')).status];
  };
  const accepted = [201, 404];
  const refused = [401, 401];

  describe('suspension', () => {
    it('suspending a key refuses only requests with this key, until the key is resumed', async () => {
      const { accountId, key } = await newAccount();
      const [suspended, other] = [await key(), await key('live')];
      expect(await statusOf(suspended)).to.deep.equal(accepted);
      expect(await ops(`suspend key ${suspended.keyId}`)).to.deep.equal({ keyId: suspended.keyId, suspended: true });
      expect(await statusOf(suspended)).to.deep.equal(refused);
      expect(await statusOf(other)).to.deep.equal(accepted);
      expect(await lastEntry(accountId)).to.include({
        action: 'key_suspended',
        keyId: suspended.keyId,
        by: 'Grace',
        from: 'command line',
      });
      expect(await ops(`resume key ${suspended.keyId}`)).to.deep.equal({ keyId: suspended.keyId, suspended: false });
      expect(await statusOf(suspended)).to.deep.equal(accepted);
      expect(await lastEntry(accountId)).to.include({ action: 'key_resumed', by: 'Grace' });
    });

    it('suspending an account refuses all of its keys, even new ones, until the account is resumed', async () => {
      const { accountId, key } = await newAccount();
      const [first, second, alone] = [await key(), await key('live'), await key()];
      await ops(`suspend key ${alone.keyId}`);
      expect(await ops(`suspend account ${accountId}`)).to.deep.equal({ accountId, activeKeys: 3, suspended: true });
      for (const one of [first, second, await key()]) expect(await statusOf(one)).to.deep.equal(refused);
      expect(await lastEntry(accountId)).to.include({ action: 'account_suspended', by: 'Grace' });
      expect(await ops(`resume account ${accountId}`)).to.deep.equal({ accountId, activeKeys: 4, suspended: false });
      for (const one of [first, second]) expect(await statusOf(one)).to.deep.equal(accepted);
      expect(await statusOf(alone), 'suspended separately').to.deep.equal(refused);
    });

    it('the users of a suspended account can only view the dashboard and sign out', async () => {
      const { visitor, accountId, key } = await newAccount();
      const { keyId } = await key();
      await ops(`suspend account ${accountId}`);
      const page = await visitor.get(`/dashboard/keys/${keyId}`);
      expect(page.status).to.equal(200);
      expect(textOf(page.html)).to.include('Suspended by the operator').and.include('with the whole account');
      for (const path of ['/dashboard/keys', `/dashboard/keys/${keyId}/rotate`, '/dashboard/console']) {
        const { status, html } = await visitor.post(path, { name: 'x', mode: 'test' });
        expect(status, path).to.equal(403);
        expect(textOf(html)).to.include('This account is suspended');
      }
      const account = textOf((await visitor.get('/dashboard/account')).html);
      expect(account).to.include('suspended the account').and.include('the operator').and.not.include('Grace');
      expect((await visitor.post('/dashboard/sign-out')).status).to.equal(303);
    });

    it("suspending a driver refuses the driver's key on the next request", async () => {
      const { driverId, key } = await createDriver({
        ...{ name: 'Dana', phone: '+12025550100', vehicle: 'Prius', plate: 'T 1', carType: 'regular', seats: 4 },
      });
      const status = async () =>
        (await fetch(`${api.url}/drivers/v1/me`, { headers: { authorization: `Bearer ${key}` } })).status;
      expect(await status()).to.equal(200);
      expect(await ops(`suspend driver ${driverId}`)).to.deep.equal({ driverId, suspended: true });
      expect(await status()).to.equal(401);
      const operator = await AccountModel.findOne({ email: operatorEmail }).lean();
      expect(await lastEntry(operator?._id ?? '')).to.include({
        action: 'driver_suspended',
        about: driverId,
        by: 'Grace',
      });
      const resumed = await runCommand(program, ['resume', 'driver', driverId, '--by', 'Grace'], api.ctx);
      expect(resumed.answer).to.deep.equal({ driverId, suspended: false });
      expect(resumed.text).to.match(/The key is accepted again\. The driver is offline\.$/);
      expect(await status()).to.equal(200);
    });
  });

  describe('queue commands', () => {
    const stateOf = async (pool: PoolName) =>
      (await ops('queues')).queues.find((one: { pool: string }) => one.pool === pool);

    it('queues shows the jobs of each queue, and from MongoDB how late the oldest event and timer are', async () => {
      const { queues, backlog } = await ops('queues');
      expect(queues.map(({ pool }: { pool: string }) => pool)).to.deep.equal(poolNames);
      const before = (await stateOf('webhooks')).waiting;
      const { rideId } = await rideIn(api.ctx, 'bidding');
      expect(await stateOf('webhooks')).to.include({ paused: false, waiting: before + 1, active: 0 });
      expect((await stateOf('webhooks')).processes).to.deep.equal([]);
      await makeDue(rideId, 'expire', new Date(api.ctx.now() - 3_600_000));
      expect((await ops('queues')).backlog.oldestOverdueSeconds).to.be.at.least(3_600);
      expect(backlog).to.have.all.keys(
        ...[
          'oldestUnsettledSeconds',
          'oldestOverdueSeconds',
          'oldestAttemptSeconds',
          'oldestMailSeconds',
          'oldestMessageSeconds',
        ],
        ...['overdue', 'waitingByKey'],
      );
    });

    it('keys --failing lists the keys whose deliveries all fail, and when the account was notified, without an address', async () => {
      const { accountId, key, visitor } = await newAccount();
      const [told, untold, well, revoked] = [await key(), await key(), await key(), await key()];
      const failing = { inRow: 7, since: new Date(0), at: new Date(), reason: 'answer', isTold: true };
      const finishedAt = new Date(1_000);
      const mailId = newMailId(Date.now());
      const mailed = { mailIds: [mailId] };
      const expiresAt = new Date(Date.now() + 60_000);
      await mails.insertOne({ _id: mailId, state: 'sent', createdAt: new Date(0), finishedAt, expiresAt });
      const before = await countFailingKeys();
      for (const [{ keyId }, streak] of [
        [told, { ...failing, ...mailed }],
        [untold, { ...failing, inRow: 6, isTold: undefined }],
        [well, { ...failing, inRow: 4 }],
        [revoked, failing],
      ] as const) {
        await keys.updateOne({ _id: keyId }, { $set: { failing: streak } });
      }
      await keys.updateOne({ _id: revoked.keyId }, { $set: { revokedAt: new Date() } });
      const listed: { keyId: string; accountId: string }[] = await ops('keys --failing');
      const own = listed.filter((each) => each.accountId === accountId);
      expect(own.map(({ keyId }) => keyId)).to.deep.equal([told.keyId, untold.keyId]);
      expect(own[0]).to.deep.include({ failuresInRow: 7, reason: 'answer', mail: 'sent', mailedAt: finishedAt });
      expect(own[1]).to.deep.include({ failuresInRow: 6, mail: 'none', mailedAt: null });
      expect(JSON.stringify(own)).not.to.include(visitor.account.email);
      expect(await countFailingKeys()).to.equal(before + 2);
      const lines = failingLines(own as never).join('\n');
      expect(lines).to.match(/^KEY +FAILED +SINCE \(UTC\) +ACCOUNT +MAIL \(UTC\) +NAME\n/);
      expect(lines).to.include('7 in a row: answer').and.include('sent 1970-01-01 00:00:01').and.include('not yet');
      await keys.updateMany({ accountId }, { $unset: { failing: '' } });
    });

    it('queues lists the keys with waiting events, the one with the most rides first', async () => {
      await rides.deleteMany({});
      const { accountId, key } = await newAccount();
      const [slow, other] = [await key('live'), await key('live')];
      const failing = { inRow: 7, since: new Date(), at: new Date(), reason: 'answer' };
      await keys.updateOne({ _id: slow.keyId }, { $set: { failing } });
      for (const { keyId } of [slow, other, slow]) await rideIn(api.ctx, 'bidding', { keyId, accountId });
      const { waitingByKey } = (await ops('queues')).backlog;
      const own = waitingByKey.filter(({ keyId }: { keyId: string }) => [slow.keyId, other.keyId].includes(keyId));
      expect(own[0]).to.deep.equal({
        ...{ keyId: slow.keyId, name: 'Front desk', rides: 2, failuresInRow: 7, reason: 'answer' },
      });
      expect(own[1]).to.deep.equal({ keyId: other.keyId, name: 'Front desk', rides: 1 });
    });

    it('pause stops a pool until resume, and no job is lost or repeated', async () => {
      await api.ctx.redis.flushall();
      const connection = connectWorkerRedis(api.ctx.config.secrets.redisUrl, api.ctx.log);
      const worker = startPool(api.ctx, connection, 'bidding');
      const sweeper = startSweeper(api.ctx, { intervalMs: 100 });
      try {
        expect(await ops('pause bidding')).to.deep.equal({ pool: 'bidding', paused: true });
        const partner = await api.partner('live');
        const { rideId } = (await partner.createRide(validRide)).body;
        await makeDue(rideId, 'expire');
        await ops('sweep');
        expect(await stateOf('bidding')).to.include({ paused: true, active: 0 });
        expect((await storedRide(rideId)).status).to.equal('bidding');
        expect(await ops('resume bidding')).to.deep.equal({ pool: 'bidding', paused: false });
        await until(async () => (await storedRide(rideId)).status === 'cancelled');
        expect((await storedRide(rideId)).events).to.have.lengthOf(1);
      } finally {
        await ops('resume bidding');
        await sweeper.stop();
        await worker.close();
        connection.disconnect();
      }
    });

    it('sweep finds and adds missing jobs at once', async () => {
      const { rideId } = await rideIn(api.ctx, 'bidding');
      const sweeper = startSweeper(api.ctx, { intervalMs: 100 });
      try {
        await ops('sweep');
        await api.ctx.queues.webhooks.obliterate({ force: true });
        const answer = await ops('sweep');
        expect(answer).to.include({ swept: true, failed: 0 });
        expect(answer.deliveries).to.be.at.least(1);
        expect(await jobFor(api.ctx, 'webhooks', { rideId, seq: 1 })).not.to.equal(undefined);
      } finally {
        await sweeper.stop();
      }
    });
  });

  describe('ride commands', () => {
    it('ride shows the history of a ride and the deliveries of its events, without personal data', async () => {
      const ride = await endedRide(api.ctx, 1);
      await storedAttempts([
        { rideId: ride._id, accountId: ride.accountId, kind: 'redelivery', seq: 2, outcome: 'timeout' },
        { rideId: ride._id, accountId: ride.accountId, endpointId: 'endpoint_1', seq: 3, outcome: 'failed' },
      ]);
      const seen = await ops(`ride ${ride._id}`);
      expect(seen).to.include({ rideId: ride._id, keyId: ride.keyId, status: 'completed', agreedPrice: 20 });
      expect(
        seen.events.map(({ status, outcome }: { status?: string; outcome: string }) => [status, outcome]),
      ).to.deep.equal([
        ...[undefined, undefined].map((status) => [status, 'delivered']),
        ...['driver_arriving', 'arrived', 'in_progress', 'completed'].map((status) => [status, 'delivered']),
      ]);
      expect(seen.redeliveries).to.have.lengthOf(2);
      expect(seen.redeliveries[0]).to.include({ kind: 'redelivery', seq: 2, outcome: 'timeout' });
      expect(seen.redeliveries[1]).to.include({ kind: 'event', endpointId: 'endpoint_1', seq: 3, outcome: 'failed' });
      const text = JSON.stringify(seen);
      for (const secret of [...(await personalIn(ride._id)), ride.driver?.name, ride.trackToken]) {
        expect(text).not.to.include(secret);
      }
      await ops(`erase ${ride._id}`);
      expect((await ops(`ride ${ride._id}`)).erasedAt).to.be.instanceOf(Date);
    });

    it('ride --cancel cancels a ride once, and its timeline and the audit log name the operator', async () => {
      const { accountId, key } = await newAccount();
      const { keyId } = await key('live');
      const { rideId } = await rideIn(api.ctx, 'driver_arriving', { keyId, accountId });
      expect(await ops(`ride ${rideId} --cancel`)).to.include({
        cancelled: true,
        status: 'cancelled',
        cancelledBy: 'partner',
      });
      const ride = await storedRide(rideId);
      expect(ride.events.at(-1)).to.include({ event: 'ride.status', by: 'operator' });
      expect(await lastEntry(accountId)).to.include({ action: 'ride_cancelled', about: rideId, by: 'Grace' });
      expect(await refusal(`ride ${rideId} --cancel`)).to.equal('The ride is already completed or cancelled');
      expect((await storedRide(rideId)).rev).to.equal(ride.rev);
    });

    it('erase erases a ride that has ended and has no pending event, and refuses any other ride', async () => {
      const ride = await endedRide(api.ctx, 0);
      expect(await ops(`erase ${ride._id}`)).to.deep.equal({ rideId: ride._id, erased: true });
      expect(await personalIn(ride._id)).to.deep.equal([]);
      expect(await lastEntry(ride.accountId)).to.include({ action: 'ride_erased', about: ride._id, by: 'Grace' });
      expect(await attempts.countDocuments({ rideId: ride._id })).to.equal(ride.events.length);
      expect(await refusal(`erase ${ride._id}`)).to.match(/^The ride was erased on 20/);
      const { rideId } = await rideIn(api.ctx, 'arrived');
      expect(await refusal(`erase ${rideId}`)).to.equal('The ride has not ended: it is arrived');
      const { rideId: unsent } = await rideIn(api.ctx, 'completed');
      expect(await refusal(`erase ${unsent}`)).to.equal('An event of the ride has not been sent yet');
      expect(await refusal('erase ride_unknown')).to.equal('Ride not found');
      expect(await refusal('ride ride_unknown')).to.equal('Ride not found');
    });

    it('resend lists the events that failed in a period, and with --send resends them in order, only once', async () => {
      const { accountId, key } = await newAccount();
      const { keyId } = await key('live');
      const { rideId } = await rideIn(api.ctx, 'in_progress', { keyId, accountId });
      const failedAt = Date.now() - 3_600_000;
      const deliveryAt = (minutes: number, outcome: string) => ({
        ...{ outcome, durationMs: 2, at: new Date(failedAt + minutes * 60_000) },
        ...(outcome === 'failed' && { reason: 'ENETUNREACH' }),
      });
      await rides.updateOne({ _id: rideId }, {
        $set: {
          ...{ settledSeq: 4, unsettled: 0, undeliveredAt: new Date(failedAt + 60 * 60_000) },
          'events.0.delivery': deliveryAt(0, 'failed'),
          'events.1.delivery': deliveryAt(1, 'failed'),
          'events.2.delivery': deliveryAt(2, 'no_url'),
          'events.3.delivery': deliveryAt(60, 'timeout'),
        },
      } as object);
      const stretch = `--since ${new Date(failedAt).toISOString()} --until ${new Date(failedAt + 600_000).toISOString()}`;
      const listed = await ops(`resend ${stretch}`);
      const ours = { keyId, accountId, events: 2, reasons: { 'failed ENETUNREACH': 2 } };
      expect(listed.keys.find((each: { keyId: string }) => each.keyId === keyId)).to.deep.equal(ours);
      expect(await attempts.countDocuments({ rideId })).to.equal(0);

      expect(await ops(`resend ${stretch} --key ${keyId} --send`)).to.deep.include({ keys: [ours], sent: 2 });
      const resends = await attempts.find({ rideId, kind: 'redelivery' }).sort({ dueAt: 1 }).toArray();
      expect(resends.map(({ seq }) => seq)).to.deep.equal([1, 2]);
      expect(await lastEntry(accountId)).to.include({ action: 'events_resent', keyId, by: 'Grace' });
      expect(await ops(`resend ${stretch} --key ${keyId} --send`)).to.deep.include({ keys: [], sent: 0 });
      expect(await refusal(`resend ${stretch} --key key_unknown`)).to.equal('Not found');
    });
  });
});
