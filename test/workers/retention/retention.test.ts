import { expect } from 'chai';
import mongoose from 'mongoose';
import { accountOf } from '../../../shared/accounts/account.ts';
import { AuditModel, audit } from '../../../shared/accounts/audit.ts';
import { newCode, signInLifetimeMs } from '../../../shared/accounts/enter-code.ts';
import { charge } from '../../../shared/accounts/limit.ts';
import { accountOfSession, SessionModel, startSession } from '../../../shared/accounts/session.ts';
import { sessionLifetimeMs } from '../../../shared/accounts/session-store.ts';
import { SignInModel } from '../../../shared/accounts/sign-in-row.ts';
import { newDriverId, newMailId } from '../../../shared/base/ids.ts';
import { goOnline, noteRide } from '../../../shared/drivers/change-availability.ts';
import { driverSessions } from '../../../shared/drivers/driver.ts';
import { createDriver, revokeDriver } from '../../../shared/drivers/manage-drivers.ts';
import { positions } from '../../../shared/drivers/positions.ts';
import { keys } from '../../../shared/keys/api-key.ts';
import { type Endpoint, endpoints } from '../../../shared/keys/endpoints.ts';
import { createKey } from '../../../shared/keys/manage-keys.ts';
import { mails } from '../../../shared/mail/mail-row.ts';
import { eraseRides, RetentionProgressModel } from '../../../shared/retention/erase-rides.ts';
import { createRide, findReplay, type NewRide } from '../../../shared/rides/create-ride.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { Driver } from '../../../shared/rides/ride-types.ts';
import { dayMs, monthOf, startOfMonth, summableUntil } from '../../../shared/usage/days.ts';
import { type RideSums, rideSums } from '../../../shared/usage/ride-sums.ts';
import { isSumDue, noteSummed, requestSums, UsageProgressModel } from '../../../shared/usage/usage-progress.ts';
import { attempts, eraseAttemptsOfErased } from '../../../shared/webhooks/attempts.ts';
import { type RetentionResult, retention, runRetention } from '../../../workers/periodic/retention/retention.ts';
import { startPacedWork, TurnOverError, takePacedTurn } from '../../../workers/periodic/turns.ts';
import { storedAttempts } from '../../support/attempts.ts';
import { endedRide, personal, personalIn } from '../../support/ended-rides.ts';
import { withLogLines } from '../../support/log-lines.ts';
import { ownDatabase } from '../../support/own-database.ts';
import { plansOf } from '../../support/plans.ts';
import { newDriver, newRide, rideIn } from '../../support/rides.ts';
import { useTestContext } from '../../support/service.ts';
import { storedRide } from '../../support/stored-rides.ts';
import { until } from '../../support/until.ts';

const { BSON } = mongoose.mongo;

describe('retention', () => {
  const ctx = useTestContext(async () => ({ MONGO_URL: (await ownDatabase()).url }));
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
    it('personal data is erased 30 days after the end of a ride, not earlier', async () => {
      const { _id } = await endedRide(ctx, 30);
      expect(await personalIn(_id)).to.deep.equal(personal);
      expect(await retain(ctx.now() - minuteMs)).to.include({ ridesErased: 0, ridesDeleted: 0 });
      expect(await personalIn(_id)).to.deep.equal(personal);
      expect(await retain(ctx.now() + minuteMs)).to.include({ ridesErased: 1, ridesDeleted: 0, failed: 0 });
      expect(await personalIn(_id)).to.deep.equal([]);
    });

    it('an erased ride keeps prices, times, outcomes, the accepted offer, and locations to two decimals', async () => {
      const before = await endedRide(ctx, 31);
      await retain();
      const after = await storedRide(before._id);
      const { _id, keyId, accountId, status, statusAt, createdAt, fare, agreedPrice, seq, distanceKm, autoAccept } =
        before;
      expect(after).to.deep.include({ _id, keyId, accountId, status, statusAt, createdAt, fare, agreedPrice });
      expect(after).to.deep.include({ seq, distanceKm, autoAccept, rev: before.rev + 1, offersCount: 2 });
      expect(after.pickup).to.deep.equal({ lat: 40.71, lng: -74.01 });
      expect(after.destination).to.deep.equal({ lat: 40.76, lng: -73.99 });
      const { driverId, rating } = before.driver as Driver;
      const driver = { driverId, rating, name: '', phone: '', vehicle: '', plate: '' };
      expect(after.driver).to.deep.equal(driver);
      expect(after.offers).to.deep.equal([{ ...before.offers[0], driver }]);
      // Event 2 is the offer that was not accepted.
      const kept = before.events.filter(({ seq }) => seq !== 2);
      expect(after.events.map(({ seq, body }) => [seq, body])).to.deep.equal(kept.map(({ seq }) => [seq, '']));
      expect(after.events.map(({ delivery }) => delivery?.outcome)).to.deep.equal(kept.map(() => 'delivered'));
      expect(after.erasedAt).to.be.instanceOf(Date);
      const erased = await attempts.find({ rideId: _id }).toArray();
      expect(erased).to.have.length(before.events.length);
      for (const attempt of erased) {
        expect(attempt).to.include({ outcome: 'delivered', httpStatus: 200, durationMs: 12 });
        expect(attempt).not.to.have.any.keys('headers', 'body', 'answer', 'answerHeaders', 'url', 'address');
      }
    });

    it('the erasure also removes `leg`, `undeliveredAt`, the track token and the webhook URL', async () => {
      const { _id } = await endedRide(ctx, 31, { mode: 'test' });
      await rides.updateOne({ _id }, { $set: { undeliveredAt: daysAgo(31) } });
      expect(await storedRide(_id)).to.have.property('leg');
      await retain();
      expect(await storedRide(_id)).not.to.have.any.keys('leg', 'undeliveredAt', 'trackToken', 'webhookUrl');
    });

    it('an erased ride that had 50 offers takes less than 2 kB', async () => {
      const offers = Array.from({ length: 50 }, () => ({ driver: newDriver() }));
      const { _id, events } = await endedRide(ctx, 31, { offers });
      const delivery = { httpStatus: 200, outcome: 'delivered', durationMs: 123.4, at: daysAgo(31) };
      const asked = Array.from({ length: 200 }, () => ({ driverId: newDriverId(), pickupKm: 1.25 }));
      const requestId = 'desk-7f31c0a2-0b1c-4d5e-8f90-123456789abc';
      await rides.updateOne(
        { _id },
        { $set: { asked, rounds: 5, 'events.$[].delivery': { ...delivery, url: 'https://partner.example/events' } } },
      );
      await rides.updateOne({ _id }, { $set: { 'events.50.requestId': requestId, 'origin.requestId': requestId } });
      expect(events).to.have.length(54);
      const before = BSON.calculateObjectSize(await storedRide(_id));
      await retain();
      expect(before).to.be.above(30_000);
      expect(BSON.calculateObjectSize(await storedRide(_id))).to.be.below(2_000);
    });

    it('a cancelled ride whose offers were not accepted keeps their number, but none of them', async () => {
      const { rideId } = await rideIn(ctx, 'cancelled', { offers: [{}, {}] });
      await rides.updateOne({ _id: rideId }, { $set: { statusAt: daysAgo(31), settledSeq: 3, unsettled: 0 } });
      expect((await retain()).ridesErased).to.equal(1);
      expect(await storedRide(rideId)).to.deep.include({ offers: [], offersCount: 2, seq: 3 });
      expect((await storedRide(rideId)).events.map(({ seq }) => seq)).to.deep.equal([3]);
    });

    it('an active ride and a ride with an unsettled event are not erased', async () => {
      const { rideId: moving } = await rideIn(ctx, 'in_progress', { notes: 'Ring twice' });
      const { rideId: unsent } = await rideIn(ctx, 'completed', { notes: 'Ring twice' });
      await rides.updateMany({}, { $set: { statusAt: daysAgo(400), createdAt: daysAgo(400) } });
      expect(await retain()).to.include({ ridesErased: 0, ridesDeleted: 0 });
      expect(await eraseRides([moving, unsent])).to.equal(0);
      for (const rideId of [moving, unsent]) expect((await storedRide(rideId)).notes).to.equal('Ring twice');
    });

    it('an interrupted erasure of a ride is repeated, because the ride is marked only after its attempts', async () => {
      const { _id } = await endedRide(ctx, 31);
      rides.updateMany = () => Promise.reject(new TurnOverError());
      const died = await retain().catch((error: unknown) => error);
      expect(died).to.be.instanceOf(TurnOverError);
      rides.updateMany = updateMany;
      expect(await personalIn(_id)).to.include('Ada Lovelace');
      expect((await retain()).ridesErased).to.equal(1);
      expect(await personalIn(_id)).to.deep.equal([]);
    });

    it('a ride that cannot be erased does not block the others', async () => {
      const broken = await endedRide(ctx, 33);
      const others = [await endedRide(ctx, 32), await endedRide(ctx, 31)];
      // Erasing this ride fails, because a text cannot be rounded.
      await rides.updateOne({ _id: broken._id }, { $set: { pickup: { lat: 'x' as unknown as number, lng: 0 } } });
      expect(await retain()).to.include({ ridesErased: 2, failed: 2 });
      for (const { _id } of others) expect(await personalIn(_id)).to.deep.equal([]);
    });

    it('attempts from 30 days ago that were not erased with a ride are erased, and test events deleted', async () => {
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

  it('a redelivery that was pending when its ride was erased is erased after its attempt', async () => {
    const { _id: rideId } = await endedRide(ctx, 31);
    const [resend] = await storedAttempts([{ rideId, kind: 'redelivery', dueAt: new Date() }], ctx.now());
    const stored = () => attempts.findOne({ _id: resend?._id });
    await retain();
    expect(await stored())
      .to.include({ answer: 'ok' })
      .and.not.to.have.property('erasedAt');
    await attempts.updateOne({ _id: resend?._id }, { $unset: { dueAt: '' } });
    await eraseAttemptsOfErased([rideId]);
    expect(await stored()).not.to.have.any.keys('headers', 'body', 'answer', 'answerHeaders', 'url', 'address');
  });

  describe('deletes', () => {
    /** Records that all finished days are summed and all finished months closed. */
    const noteAllSummed = () => noteSummed(summableUntil(ctx.now()));

    it('a ride is deleted with its attempts after 13 months', async () => {
      await noteAllSummed();
      const old = await endedRide(ctx, 397);
      const young = await endedRide(ctx, 395);
      expect((await retain()).ridesDeleted).to.equal(1);
      expect(await rides.findOne({ _id: old._id })).to.equal(null);
      expect(await attempts.countDocuments({ rideId: old._id })).to.equal(0);
      expect(await attempts.countDocuments({ rideId: young._id })).to.equal(young.events.length);
      await storedRide(young._id);
    });

    it('a ride is not deleted before its day is summed and its month closed', async () => {
      const { _id, statusAt } = await endedRide(ctx, 400);
      const month = startOfMonth(monthOf(statusAt));
      for (const through of [undefined, statusAt, new Date(month.getTime() + 20 * dayMs)]) {
        if (through) await noteSummed(through);
        expect((await retain()).ridesDeleted, String(through)).to.equal(0);
      }
      await noteAllSummed();
      requestSums();
      await until(() => isSumDue(summableUntil(ctx.now())));
      expect((await retain()).ridesDeleted).to.equal(0);
      await noteAllSummed();
      expect((await retain()).ridesDeleted).to.equal(1);
      expect(await rides.findOne({ _id })).to.equal(null);
    });

    it('more rides than one batch holds are deleted, except those that must stay', async () => {
      await noteAllSummed();
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

    it('sign-in codes, sessions, limits and sent mails are deleted after they expire', async () => {
      const now = ctx.now();
      const browser = { token: 'of a test', device: null };
      await newCode(
        ctx.config,
        { email: 'ada@partner.example', browser, client: '192.0.2.1', formId: 'of a test' },
        now,
      );
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
      expect(await driverSessions.model.countDocuments({})).to.equal(0);
      expect(await SessionModel.countDocuments({}), 'used in the meantime').to.equal(1);
      await retain(now + sessionLifetimeMs + 3 * 3_600_000);
      expect(await SessionModel.countDocuments({})).to.equal(0);
    });

    it('the positions of drivers silent for 30 days and of revoked drivers without a ride are deleted', async () => {
      const hire = async (seenDaysAgo: number, rideId?: string) => {
        const { driverId } = await createDriver({
          ...{ name: 'Dana Okoye', phone: '+12025550100', vehicle: 'Toyota Prius, blue', plate: 'T-104' },
          ...{ carType: 'regular', seats: 4 },
        });
        await goOnline({ driverId, carType: 'regular', seats: 4 }, { lat: 40.7, lng: -74 }, new Date(ctx.now()));
        await positions.updateOne({ _id: driverId }, { $set: { seenAt: daysAgo(seenDaysAgo) } });
        if (rideId) await noteRide(driverId, rideId, {});
        return driverId;
      };
      const [old, recent, revoked, driving] = [await hire(31), await hire(29), await hire(0), await hire(0, 'ride_1')];
      for (const driverId of [revoked, driving]) await revokeDriver(driverId);
      const kept = async () => positions.distinct('_id', { _id: { $in: [old, recent, revoked, driving] } });
      expect((await retain()).positions).to.equal(2);
      expect(await kept()).to.have.members([recent, driving]);
    });

    it('keys that were revoked 30 days ago and never had a ride are deleted, with their endpoints', async () => {
      const revokedFor = async (days: number | null) => {
        const { keyId } = await createKey(ctx.config, { accountId: 'acct_of_tests', name: 'desk', mode: 'test' });
        if (days !== null) await keys.updateOne({ _id: keyId }, { $set: { revokedAt: daysAgo(days) } });
        return keyId;
      };
      const [unused, recent, active] = [await revokedFor(31), await revokedFor(29), await revokedFor(null)];
      const [withRide, withSums] = [await revokedFor(400), await revokedFor(400)];
      await newRide(ctx, { keyId: withRide });
      for (const keyId of [unused, recent])
        await endpoints.insertOne({ _id: `endpoint_of_${keyId}`, keyId } as Endpoint);
      await rideSums.insertOne({ _id: withSums } as RideSums);
      expect((await retain()).keys).to.equal(1);
      const all = [unused, recent, active, withRide, withSums];
      expect(await keys.distinct('_id', { _id: { $in: all } })).to.have.members(all.slice(1));
      expect(await endpoints.distinct('keyId', { keyId: { $in: all } })).to.deep.equal([recent]);
    });

    it('Idempotency-Keys are deleted after 24 hours, and their rides stay', async () => {
      const { pickup, destination, fare, carType, rideType, passengerCount, distanceKm } = await storedRide(
        await newRide(ctx),
      );
      const newRideWithKey: NewRide = {
        key: { keyId: 'key_of_tests', accountId: 'acct_of_tests', mode: 'live', limit: undefined },
        request: { pickup, destination, fare, carType, rideType, passengerCount, distanceKm },
        idempotencyKey: 'booking-4711',
      };
      const { _id } = await createRide(ctx, newRideWithKey);
      expect((await retain(ctx.now() + dayMs - minuteMs)).idempotencyKeys).to.equal(0);
      expect((await findReplay(ctx, newRideWithKey))?._id).to.equal(_id);
      expect((await retain(ctx.now() + dayMs + minuteMs)).idempotencyKeys).to.equal(1);
      expect(await storedRide(_id)).not.to.have.property('idempotency');
      expect(await findReplay(ctx, newRideWithKey)).to.equal(null);
    });

    it('audit entries are deleted after a year', async () => {
      const entry = {
        accountId: 'acct_of_tests',
        action: 'signed_in',
        member: 'a@b.example',
        from: '192.0.2.1',
      } as const;
      for (const days of [364, 366]) await audit(entry, daysAgo(days).getTime());
      expect((await retain()).auditEntries).to.equal(1);
      expect(await AuditModel.countDocuments({})).to.equal(1);
    });
  });

  describe('turns', () => {
    const turn = (signal = new AbortController().signal) => takePacedTurn(ctx, retention, signal);
    const erasedCount = () => rides.countDocuments({ erasedAt: { $exists: true } });

    it('the retention logs one line with the numbers of erased and deleted documents', async () => {
      await endedRide(ctx, 31);
      const logged = withLogLines(ctx);
      await takePacedTurn(logged.ctx, retention, new AbortController().signal);
      expect(logged.lines).to.have.lengthOf(1);
      expect(logged.lines[0]).to.include({ msg: 'retention', ridesErased: 1, ridesDeleted: 0, expired: 0, failed: 0 });
    });

    it('another process can run the retention at once after a process stops during its turn', async () => {
      await endedRide(ctx, 31);
      await turn(AbortSignal.abort());
      expect(await erasedCount()).to.equal(0);
      await until(async () => (await ctx.redis.get(retention.leaseKey)) === null);
      await turn();
      expect(await erasedCount()).to.equal(1);
    });

    it('a process that loses the lease ends its turn and leaves the lease to the other process', async () => {
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

    it('startPacedWork runs the retention, and can be stopped while nothing is due', async () => {
      await endedRide(ctx, 31);
      const running = startPacedWork(ctx, retention);
      await until(async () => (await erasedCount()) === 1);
      await running.stop();
    });
  });

  it('every query of the retention uses an index', async () => {
    await noteSummed(summableUntil(ctx.now()));
    await endedRide(ctx, 31);
    const plans = await plansOf(() => retain());
    expect(plans.length).to.be.at.least(12);
    for (const { stages } of plans) expect(stages).not.to.match(/COLLSCAN|"SORT"/);
  });
});
