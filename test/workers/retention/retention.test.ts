import { expect } from 'chai';
import { accountOf } from '../../../shared/accounts/account.ts';
import { AuditModel, audit } from '../../../shared/accounts/audit.ts';
import { charge } from '../../../shared/accounts/limit.ts';
import { accountOfSession, SessionModel, startSession } from '../../../shared/accounts/session.ts';
import { sessionLifetimeMs } from '../../../shared/accounts/session-store.ts';
import { newCode, signInLifetimeMs } from '../../../shared/accounts/sign-in.ts';
import { SignInModel } from '../../../shared/accounts/sign-in-row.ts';
import { SubmissionModel } from '../../../shared/accounts/submission.ts';
import { newMailId } from '../../../shared/base/ids.ts';
import { driverSessions } from '../../../shared/drivers/driver.ts';
import { createDriver, revokeDriver } from '../../../shared/drivers/manage-drivers.ts';
import { goOnline, noteRide, positions } from '../../../shared/drivers/positions.ts';
import { keys } from '../../../shared/keys/api-key.ts';
import { createKey } from '../../../shared/keys/manage-keys.ts';
import { mails } from '../../../shared/mail/mail-row.ts';
import { eraseRides } from '../../../shared/retention/erase-rides.ts';
import { RetentionProgressModel } from '../../../shared/retention/progress.ts';
import { applyAction } from '../../../shared/rides/change-ride.ts';
import { createRide, findReplay, type NewRide } from '../../../shared/rides/create-ride.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { dayMs, monthOf, overUntil, startOfMonth } from '../../../shared/usage/days.ts';
import { askForSums, isSumDue, noteSummed, UsageProgressModel } from '../../../shared/usage/progress.ts';
import { type RideSums, rideSums } from '../../../shared/usage/ride-sums.ts';
import { attempts } from '../../../shared/webhooks/attempts.ts';
import { eraseAttemptsOfErased } from '../../../shared/webhooks/erase-attempts.ts';
import { type RetentionResult, retention, runRetention } from '../../../workers/periodic/retention/retention.ts';
import { startPacedWork, TurnOverError, takePacedTurn } from '../../../workers/periodic/turns.ts';
import { storedAttempts } from '../../support/attempts.ts';
import { endedRide, personal, personalIn } from '../../support/ended-rides.ts';
import { withLogLines } from '../../support/log-lines.ts';
import { ownDatabase } from '../../support/own-database.ts';
import { plansOf } from '../../support/plans.ts';
import { newRide, rideIn } from '../../support/rides.ts';
import { useTestContext } from '../../support/service.ts';
import { storedRide } from '../../support/stored-rides.ts';
import { until } from '../../support/until.ts';

describe('the retention', () => {
  const ctx = useTestContext(async () => ({ MONGO_URL: (await ownDatabase('retention')).url }));
  const { updateMany } = rides;
  beforeEach(async () => {
    await Promise.all([rides.deleteMany({}), attempts.deleteMany({})]);
    await Promise.all([UsageProgressModel.deleteMany({}), RetentionProgressModel.deleteMany({})]);
    await ctx.redis.del(retention.leaseKey);
  });
  afterEach(() => {
    rides.updateMany = updateMany;
  });

  const daysAgo = (days: number) => new Date(ctx.now() - days * dayMs);
  const retain = (nowMs = ctx.now(), pace = async () => {}): Promise<RetentionResult> => runRetention(ctx, nowMs, pace);
  const minuteMs = 60_000;

  describe('erases', () => {
    it('what is personal in a ride 30 days after its end, and nothing before that', async () => {
      const { _id } = await endedRide(ctx, 30);
      expect(await personalIn(_id)).to.deep.equal(personal);
      expect(await retain(ctx.now() - minuteMs)).to.include({ ridesErased: 0, ridesDeleted: 0 });
      expect(await personalIn(_id)).to.deep.equal(personal);
      expect(await retain(ctx.now() + minuteMs)).to.include({ ridesErased: 1, ridesDeleted: 0, failed: 0 });
      expect(await personalIn(_id)).to.deep.equal([]);
    });

    it('no price, time, outcome or name of a driver, and keeps places to two decimals', async () => {
      const before = await endedRide(ctx, 31);
      await retain();
      const after = await storedRide(before._id);
      const { _id, keyId, accountId, status, statusAt, createdAt, fare, agreedPrice, seq, distanceKm, autoAccept } =
        before;
      expect(after).to.deep.include({ _id, keyId, accountId, status, statusAt, createdAt, fare, agreedPrice });
      expect(after).to.deep.include({ seq, distanceKm, autoAccept, rev: before.rev + 1 });
      expect(after.pickup).to.deep.equal({ lat: 40.71, lng: -74.01 });
      expect(after.destination).to.deep.equal({ lat: 40.76, lng: -73.99 });
      expect(after.driver).to.deep.equal({ ...before.driver, phone: '' });
      expect(after.offers).to.deep.equal(
        before.offers.map((offer) => ({ ...offer, driver: { ...offer.driver, phone: '' } })),
      );
      expect(after.events.map(({ body }) => body)).to.deep.equal(before.events.map(() => ''));
      expect(after.events.map(({ delivery }) => delivery?.outcome)).to.deep.equal(before.events.map(() => 'delivered'));
      expect(after.erasedAt).to.be.instanceOf(Date);
      const erased = await attempts.find({ rideId: _id }).toArray();
      expect(erased).to.have.length(before.events.length);
      for (const attempt of erased) {
        expect(attempt).to.include({ outcome: 'delivered', httpStatus: 200, durationMs: 12 });
        expect(attempt).not.to.have.any.keys('headers', 'body', 'answer', 'url', 'address');
      }
    });

    it('what only some rides have: the drive of a simulated driver, and when an event was not delivered', async () => {
      const { _id } = await endedRide(ctx, 31, { mode: 'test' });
      await rides.updateOne({ _id }, { $set: { undeliveredAt: daysAgo(31) } });
      expect(await storedRide(_id)).to.have.property('leg');
      await retain();
      expect(await storedRide(_id)).not.to.have.any.keys('leg', 'undeliveredAt', 'trackToken', 'webhookUrl');
    });

    it('many rides, although a track token is unique, and each once', async () => {
      for (let count = 0; count < 3; count++) await endedRide(ctx, 40);
      expect((await retain()).ridesErased).to.equal(3);
      expect(await rides.countDocuments({ trackToken: { $exists: false } })).to.equal(3);
      expect((await retain()).ridesErased).to.equal(0);
    });

    it('a cancelled ride that had no driver', async () => {
      const rideId = await newRide(ctx, { notes: 'Ring twice' });
      await applyAction(ctx, rideId, { action: 'cancel', by: 'partner' }, 'anyone');
      await rides.updateOne({ _id: rideId }, { $set: { statusAt: daysAgo(31), settledSeq: 1, unsettled: 0 } });
      expect((await retain()).ridesErased).to.equal(1);
      const erased = await storedRide(rideId);
      expect(erased).not.to.have.any.keys('driver', 'notes');
      expect(erased.offers).to.deep.equal([]);
    });

    it('neither a ride that goes on, nor one with an event that is still to be sent', async () => {
      const { rideId: moving } = await rideIn(ctx, 'in_progress', { notes: 'Ring twice' });
      const { rideId: unsent } = await rideIn(ctx, 'completed', { notes: 'Ring twice' });
      await rides.updateMany({}, { $set: { statusAt: daysAgo(400), createdAt: daysAgo(400) } });
      expect(await retain()).to.include({ ridesErased: 0, ridesDeleted: 0 });
      expect(await eraseRides([moving, unsent])).to.equal(0);
      for (const rideId of [moving, unsent]) expect((await storedRide(rideId)).notes).to.equal('Ring twice');
    });

    it('a ride again that it died at, since a ride counts as erased after its attempts', async () => {
      const { _id } = await endedRide(ctx, 31);
      rides.updateMany = () => Promise.reject(new TurnOverError());
      const died = await retain().catch((error: unknown) => error);
      expect(died).to.be.instanceOf(TurnOverError);
      rides.updateMany = updateMany;
      expect(await personalIn(_id)).to.include('Ada Lovelace');
      expect((await retain()).ridesErased).to.equal(1);
      expect(await personalIn(_id)).to.deep.equal([]);
    });

    it('the others where one ride cannot be', async () => {
      const broken = await endedRide(ctx, 33);
      const others = [await endedRide(ctx, 32), await endedRide(ctx, 31)];
      // No number can be rounded out of a text.
      await rides.updateOne({ _id: broken._id }, { $set: { pickup: { lat: 'x' as unknown as number, lng: 0 } } });
      expect(await retain()).to.include({ ridesErased: 2, failed: 2 });
      for (const { _id } of others) expect(await personalIn(_id)).to.deep.equal([]);
    });

    it('attempts of 30 days ago that no ride took with it, and deletes test events', async () => {
      const [late, test, fresh] = await storedAttempts([
        { kind: 'redelivery' },
        { kind: 'test', rideId: undefined },
        {},
      ]);
      await attempts.updateOne({ _id: fresh?._id }, { $set: { kind: 'event' } });
      await retain((fresh?.at.getTime() ?? 0) + 30 * dayMs);
      expect(await attempts.findOne({ _id: late?._id })).not.to.have.any.keys('headers', 'body', 'answer');
      expect(await attempts.findOne({ _id: test?._id })).to.equal(null);
      expect(await attempts.findOne({ _id: fresh?._id })).to.include({ answer: 'ok' });
    });
  });

  it('erases a resend that was pending with its ride only once it is made', async () => {
    const { _id: rideId } = await endedRide(ctx, 31);
    const [resend] = await storedAttempts([{ rideId, kind: 'redelivery', dueAt: new Date() }], ctx.now());
    const stored = () => attempts.findOne({ _id: resend?._id });
    await retain();
    expect(await stored())
      .to.include({ answer: 'ok' })
      .and.not.to.have.property('erasedAt');
    await attempts.updateOne({ _id: resend?._id }, { $unset: { dueAt: '' } });
    await eraseAttemptsOfErased([rideId]);
    expect(await stored()).not.to.have.any.keys('headers', 'body', 'answer', 'url', 'address');
  });

  describe('deletes', () => {
    /** The days before now are summed and its months closed. */
    const allIsSummed = () => noteSummed(overUntil(ctx.now()));

    it('a ride with its attempts after 13 months', async () => {
      await allIsSummed();
      const old = await endedRide(ctx, 397);
      const young = await endedRide(ctx, 395);
      expect((await retain()).ridesDeleted).to.equal(1);
      expect(await rides.findOne({ _id: old._id })).to.equal(null);
      expect(await attempts.countDocuments({ rideId: old._id })).to.equal(0);
      expect(await attempts.countDocuments({ rideId: young._id })).to.equal(young.events.length);
      await storedRide(young._id);
    });

    it('no ride before its day is summed and its month closed', async () => {
      const { _id, statusAt } = await endedRide(ctx, 400);
      const month = startOfMonth(monthOf(statusAt));
      for (const through of [undefined, statusAt, new Date(month.getTime() + 20 * dayMs)]) {
        if (through) await noteSummed(through);
        expect((await retain()).ridesDeleted, String(through)).to.equal(0);
      }
      await allIsSummed();
      askForSums();
      await until(() => isSumDue(overUntil(ctx.now())));
      expect((await retain()).ridesDeleted).to.equal(0);
      await allIsSummed();
      expect((await retain()).ridesDeleted).to.equal(1);
      expect(await rides.findOne({ _id })).to.equal(null);
    });

    it('more rides than fit into one batch, past those that must stay', async () => {
      await allIsSummed();
      const { _id: unsent, ...old } = await endedRide(ctx, 500);
      const copies = Array.from({ length: 450 }, (_, index) => ({
        ...old,
        _id: `${unsent}${index}`,
        trackToken: unsent + index,
      }));
      await rides.insertMany(copies);
      await rides.updateOne({ _id: unsent }, { $set: { unsettled: 1 } });
      expect((await retain()).ridesDeleted).to.equal(450);
      await storedRide(unsent);
    });

    it('sign-in codes, sessions, submissions, limits and sent mails once they have expired', async () => {
      const now = ctx.now();
      const browser = { token: 'of a test', device: null };
      await newCode(
        ctx.config,
        { email: 'ada@partner.example', browser, client: '192.0.2.1', formId: 'of a test' },
        now,
      );
      const _id = { accountId: 'acct_of_tests', formId: 'form' };
      await SubmissionModel.create({ _id, about: 'key', expiresAt: new Date(now + 1) });
      await charge({ name: 'test', most: 1, perMs: minuteMs }, 'somebody', now);
      const token = await startSession((await accountOf('ada@partner.example'))._id, now);
      await driverSessions.start({ driverId: 'drv_of_tests', keyHash: 'of a key' }, now);
      const sent = { _id: newMailId(now), state: 'sent' as const, createdAt: new Date(now), expiresAt: new Date(now) };
      const waiting = {
        _id: newMailId(now),
        state: 'waiting' as const,
        createdAt: new Date(now),
        dueAt: new Date(now),
      };
      await mails.insertMany([sent, waiting]);

      expect((await retain(now)).expired).to.equal(0);
      await retain(now + signInLifetimeMs + 1);
      expect(await SignInModel.countDocuments({})).to.equal(0);
      expect(await mails.distinct('_id')).to.deep.equal([waiting._id]);
      expect(await SessionModel.countDocuments({})).to.equal(1);
      expect(await driverSessions.model.countDocuments({})).to.equal(1);
      await accountOfSession(token, now + 2 * 3_600_000);
      await retain(now + sessionLifetimeMs + 1);
      expect(await SubmissionModel.countDocuments({})).to.equal(0);
      expect(await driverSessions.model.countDocuments({})).to.equal(0);
      expect(await SessionModel.countDocuments({}), 'used meanwhile').to.equal(1);
      await retain(now + sessionLifetimeMs + 3 * 3_600_000);
      expect(await SessionModel.countDocuments({})).to.equal(0);
    });

    it('positions of drivers who were last heard 30 days ago, and of revoked drivers who are on no ride', async () => {
      const hired = async (heardDaysAgo: number, rideId?: string) => {
        const { driverId } = await createDriver({
          ...{ name: 'Dana Okoye', phone: '+12025550100', vehicle: 'Toyota Prius, blue', plate: 'T-104' },
          ...{ carType: 'regular', seats: 4 },
        });
        await goOnline({ driverId, carType: 'regular', seats: 4 }, { lat: 40.7, lng: -74 }, new Date(ctx.now()));
        await positions.updateOne({ _id: driverId }, { $set: { seenAt: daysAgo(heardDaysAgo) } });
        if (rideId) await noteRide(driverId, rideId, {});
        return driverId;
      };
      const [old, recent, revoked, driving] = [
        await hired(31),
        await hired(29),
        await hired(0),
        await hired(0, 'ride_1'),
      ];
      for (const driverId of [revoked, driving]) await revokeDriver(driverId);
      const kept = async () => positions.distinct('_id', { _id: { $in: [old, recent, revoked, driving] } });
      expect((await retain()).positions).to.equal(2);
      expect(await kept()).to.have.members([recent, driving]);
    });

    it('keys that were revoked 30 days ago and never had a ride', async () => {
      const revokedFor = async (days: number | null) => {
        const { keyId } = await createKey(ctx.config, { accountId: 'acct_of_tests', name: 'desk', mode: 'test' });
        if (days !== null) await keys.updateOne({ _id: keyId }, { $set: { revokedAt: daysAgo(days) } });
        return keyId;
      };
      const [unused, recent, active] = [await revokedFor(31), await revokedFor(29), await revokedFor(null)];
      const [withRide, withSums] = [await revokedFor(400), await revokedFor(400)];
      await newRide(ctx, { keyId: withRide });
      await rideSums.insertOne({ _id: withSums } as RideSums);
      expect((await retain()).keys).to.equal(1);
      const all = [unused, recent, active, withRide, withSums];
      expect(await keys.distinct('_id', { _id: { $in: all } })).to.have.members(all.slice(1));
    });

    it('Idempotency-Keys after 24 hours, and keeps the ride', async () => {
      const { pickup, destination, fare, carType, rideType, passengerCount, distanceKm } = await storedRide(
        await newRide(ctx),
      );
      const wish: NewRide = {
        key: { keyId: 'key_of_tests', accountId: 'acct_of_tests', mode: 'live' },
        request: { pickup, destination, fare, carType, rideType, passengerCount, distanceKm },
        idempotencyKey: 'booking-4711',
      };
      const { _id } = await createRide(ctx, wish);
      expect((await retain(ctx.now() + dayMs - minuteMs)).idempotencyKeys).to.equal(0);
      expect((await findReplay(ctx, wish))?._id).to.equal(_id);
      expect((await retain(ctx.now() + dayMs + minuteMs)).idempotencyKeys).to.equal(1);
      expect(await storedRide(_id)).not.to.have.property('idempotency');
      expect(await findReplay(ctx, wish)).to.equal(null);
    });

    it('audit entries after a year', async () => {
      const entry = { accountId: 'acct_of_tests', action: 'signed_in', from: '192.0.2.1' } as const;
      for (const days of [364, 366]) await audit(entry, daysAgo(days).getTime());
      expect((await retain()).auditEntries).to.equal(1);
      expect(await AuditModel.countDocuments({})).to.equal(1);
    });
  });

  describe('in its turn', () => {
    const turn = (signal = new AbortController().signal) => takePacedTurn(ctx, retention, signal);
    const erasedCount = () => rides.countDocuments({ erasedAt: { $exists: true } });

    it('is done by one process in each interval', async () => {
      await Promise.all([turn(), turn(), turn()]);
      await endedRide(ctx, 31);
      await turn();
      expect(await erasedCount()).to.equal(0);
      await ctx.redis.del(retention.leaseKey);
      await turn();
      expect(await erasedCount()).to.equal(1);
    });

    it('says in one log line how much has gone', async () => {
      await endedRide(ctx, 31);
      const logged = withLogLines(ctx);
      await takePacedTurn(logged.ctx, retention, new AbortController().signal);
      expect(logged.lines).to.have.lengthOf(1);
      expect(logged.lines[0]).to.include({ msg: 'retention', ridesErased: 1, ridesDeleted: 0, expired: 0, failed: 0 });
    });

    it('is left to another process at once when this one stops', async () => {
      await endedRide(ctx, 31);
      await turn(AbortSignal.abort());
      expect(await erasedCount()).to.equal(0);
      await until(async () => (await ctx.redis.get(retention.leaseKey)) === null);
      await turn();
      expect(await erasedCount()).to.equal(1);
    });

    it('ends where another process has taken its place', async () => {
      await endedRide(ctx, 31);
      const { now } = performance;
      let skippedMs = 0;
      performance.now = () => {
        skippedMs += 501;
        return now.call(performance) + skippedMs;
      };
      try {
        const running = turn();
        await until(async () => (await ctx.redis.get(retention.leaseKey)) !== null);
        await ctx.redis.set(retention.leaseKey, 'another process');
        await running;
      } finally {
        performance.now = now;
      }
      expect(await erasedCount()).to.equal(0);
      expect(await ctx.redis.get(retention.leaseKey)).to.equal('another process');
    });

    it('starts with the process, and stops while nothing is to do', async () => {
      await endedRide(ctx, 31);
      const running = startPacedWork(ctx, retention);
      await until(async () => (await erasedCount()) === 1);
      await running.stop();
    });
  });

  it('reads every query from an index', async () => {
    await noteSummed(overUntil(ctx.now()));
    await endedRide(ctx, 31);
    const plans = await plansOf(() => retain());
    expect(plans.length).to.be.at.least(12);
    for (const { stages } of plans) expect(stages).not.to.match(/COLLSCAN|"SORT"/);
  });
});
