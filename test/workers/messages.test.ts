import { expect } from 'chai';
import { freePort } from '../../dev/servers/ports.ts';
import { accounts } from '../../shared/accounts/account.ts';
import type { Context } from '../../shared/base/context.ts';
import { newAccountId, randomBase62 } from '../../shared/base/ids.ts';
import { type MessageRow, messages } from '../../shared/messages/message-row.ts';
import { clearOptOut, optOuts } from '../../shared/messages/numbers.ts';
import { messagesOfRide } from '../../shared/messages/stored-messages.ts';
import { eraseRide } from '../../shared/retention/erase-rides.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import type { Command } from '../../shared/rides/decide.ts';
import { bringSuccessor } from '../../shared/rides/rebid.ts';
import { rides } from '../../shared/rides/ride.ts';
import { storeOwedMessages } from '../../shared/rides/store-owed-messages.ts';
import { runMessageJob } from '../../workers/message-jobs.ts';
import { sweep } from '../../workers/periodic/sweeper/sweep.ts';
import { onceInsteadOf } from '../support/failing-mongo.ts';
import { withLogLines } from '../support/log-lines.ts';
import { providerToken, refusedWith, startMessageProvider } from '../support/message-provider.ts';
import { newDriver, newRide, offerOn, type RideWish } from '../support/rides.ts';
import { useTestContext } from '../support/service.ts';
import { jobFor, storedRide } from '../support/stored-rides.ts';
import { useStarted } from '../support/use-started.ts';

const minuteMs = 60_000;
const guest = '+12025550143';
const relative = '+12025550144';

describe('messages to passengers and contacts', () => {
  const ctx = useTestContext();
  const started = useStarted(() => startMessageProvider());
  beforeEach(async () => {
    started.received.length = 0;
    started.answerWith();
    await Promise.all([messages.deleteMany({}), optOuts.deleteMany({})]);
  });

  /** A context with a provider, whose clock is `aheadMs` ahead. */
  const sending = ({ url = started.url, aheadMs = 0, perAccountDay = 1_000 } = {}): Context => ({
    ...ctx,
    now: () => ctx.now() + aheadMs,
    config: {
      ...ctx.config,
      environment: 'production',
      sms: { from: '+12025550100', perAccountDay },
      secrets: { ...ctx.config.secrets, smsUrl: url },
    },
  });
  const run = (token = randomBase62(8)) =>
    ({ pool: 'messages', token, stopping: new AbortController().signal }) as const;
  const send = (row: Pick<MessageRow, '_id'>, of = sending(), token?: string) =>
    runMessageJob(of, { messageId: row._id }, run(token));
  const act = (rideId: string, command: Command) => applyAction(ctx, rideId, command, 'anyone');
  const told = async (rideId: string) => (await messagesOfRide(rideId)).map(({ kind, person }) => `${kind} ${person}`);
  const rowOf = async (id: string) => (await messages.findOne({ _id: id })) as MessageRow;

  /** A ride that texts the passenger and one contact. */
  const notified = (wish: Omit<RideWish, 'by' | 'offers'> = {}) =>
    newRide(ctx, {
      passenger: { name: 'Sam Lee', phone: guest },
      notify: { passenger: true, contacts: [{ name: 'Kim', phone: relative }] },
      ...wish,
    });
  /** Stores the messages that a ride owes, and sends them. */
  async function storeAndSend(rideId: string) {
    await storeOwedMessages(ctx, rideId);
    for (const row of await messagesOfRide(rideId)) await send(row);
  }
  async function accepted(rideId: string, name = 'Dana Okoye') {
    const { offerId } = await offerOn(ctx, rideId, { driver: newDriver({ name, plate: 'T-1' }) });
    await act(rideId, { action: 'accept', offerId });
  }
  /** A ride with a stored message that a driver was found. */
  async function found(wish?: Omit<RideWish, 'by' | 'offers'>): Promise<MessageRow> {
    const rideId = await notified(wish);
    await accepted(rideId);
    await storeOwedMessages(ctx, rideId);
    return rowOf(`${rideId}:found:passenger`);
  }

  describe('a ride owes', () => {
    it('the passenger each kind once, and contacts the driver and the end', async () => {
      const accountId = newAccountId();
      await accounts.insertOne({
        _id: accountId,
        email: accountId,
        createdAt: new Date(),
        name: 'Hotel Astoria',
        members: [],
      });
      const rideId = await notified({ accountId });
      await accepted(rideId);
      await storeAndSend(rideId);
      await act(rideId, { action: 'arrive' });
      await act(rideId, { action: 'start' });
      await act(rideId, { action: 'complete' });
      await storeAndSend(rideId);
      expect(await told(rideId)).to.have.members([
        ...['found passenger', 'found contact1', 'arrived passenger', 'completed contact1'],
      ]);
      const { trackToken } = await storedRide(rideId);
      const link = `${ctx.config.trackBaseUrl}/${trackToken}`;
      const textsTo = (number: string) =>
        started
          .texts()
          .filter(({ to }) => to === number)
          .map(({ text }) => text);
      expect(textsTo(guest)).to.have.members([
        `Hotel Astoria: Dana picks you up in about 5 min: Toyota Prius, blue, plate T-1. Live map: ${link}`,
        `Hotel Astoria: Your car is here: Toyota Prius, blue, plate T-1. ${link}`,
      ]);
      expect(textsTo(relative)).to.have.members([
        `Hotel Astoria: Dana picks Sam Lee up in about 5 min: Toyota Prius, blue, plate T-1. Follow the ride: ${link}`,
        'Hotel Astoria: The ride of Sam Lee has ended at its destination.',
      ]);
      const ride = await storedRide(rideId);
      expect(ride.timers.map(({ name }) => name)).not.to.include('message');
      expect(ride.messagesOwed).to.deep.equal([]);
    });

    it("a booking's time on the clocks of the pickup, and a cancellation only to those who were told something", async () => {
      const pickupAt = new Date('2027-01-15T12:30:00Z');
      const rideId = await notified({ pickupAt });
      await storeAndSend(rideId);
      await act(rideId, { action: 'cancel', by: 'partner' });
      await storeAndSend(rideId);
      expect(await told(rideId)).to.deep.equal(['booked passenger', 'cancelled passenger']);
      expect(started.texts()[0]?.text).to.match(/^Your ride is booked for Fri, Jan 15,? (at )?7:30\sAM\./);
    });

    it('a replacement, and the successor texts again but is no booking', async () => {
      const rideId = await notified({ onDriverCancel: 'rebid', pickupAt: new Date(ctx.now() + 60 * minuteMs) });
      await act(rideId, { action: 'open' });
      await accepted(rideId);
      await act(rideId, { action: 'cancel', by: 'driver' });
      await bringSuccessor(ctx, rideId);
      await storeOwedMessages(ctx, rideId);
      expect(await told(rideId)).to.include.members(['replaced passenger', 'replaced contact1']);
      const { replacedBy = '' } = await storedRide(rideId);
      expect((await storedRide(replacedBy)).notify).to.deep.equal((await storedRide(rideId)).notify);
      expect((await storedRide(replacedBy)).messagesOwed).to.equal(undefined);
      // Those who wait for another car hear that none comes.
      await act(replacedBy, { action: 'cancel', by: 'timeout' });
      await storeOwedMessages(ctx, replacedBy);
      expect(await told(replacedBy)).to.have.members(['cancelled passenger', 'cancelled contact1']);
    });

    it("the driver's first name, whatever marks it has", async () => {
      for (const [name, first] of [
        ['J.R. Smith', 'J.R.'],
        ['D`Angelo Brown', 'D`Angelo'],
      ] as const) {
        const rideId = await newRide(ctx, { passenger: { phone: guest }, notify: { passenger: true } });
        await accepted(rideId, name);
        await storeAndSend(rideId);
        expect(started.texts().at(-1)?.text)
          .to.match(/^\S+ picks you up in about 5 min: Toyota/)
          .and.include(first);
      }
    });

    it('nothing if nobody is to be told', async () => {
      const rideId = await newRide(ctx, { passenger: { phone: guest } });
      await accepted(rideId);
      const ride = await storedRide(rideId);
      expect(ride).not.to.have.property('messagesOwed');
      expect(ride.timers.map(({ name }) => name)).not.to.include('message');
    });

    it('a message that becomes due while others are stored', async () => {
      const rideId = await notified();
      await accepted(rideId);
      onceInsteadOf(messages, 'insertOne', async (row) => {
        await act(rideId, { action: 'arrive' });
        return messages.insertOne(row as never);
      });
      await storeOwedMessages(ctx, rideId);
      expect((await storedRide(rideId)).messagesOwed?.map(({ kind }) => kind)).to.deep.equal(['arrived']);
      expect(await jobFor(ctx, 'messages', { rideId, timer: 'message' })).to.not.equal(undefined);
      await storeOwedMessages(ctx, rideId);
      expect(await told(rideId)).to.have.length(3);
    });
  });

  it('number and text are encrypted at rest, in no job and in no log line, and erased with the ride', async () => {
    const logged = withLogLines(ctx);
    const row = await found();
    const job = await jobFor(ctx, 'messages', { messageId: row._id });
    for (const { _id } of await messagesOfRide(row.rideId)) await send({ _id }, { ...sending(), log: logged.ctx.log });
    const seen = JSON.stringify([row, job?.toJSON(), logged.lines]);
    for (const secret of [guest, guest.slice(1), 'Okoye', 'Dana', 'Sam', 'picks']) expect(seen).not.to.include(secret);
    await act(row.rideId, { action: 'cancel', by: 'partner' });
    await rides.updateOne({ _id: row.rideId }, { $set: { unsettled: 0 } });
    const refusal = await eraseRide(row.rideId).catch((error: Error) => error);
    expect(refusal).to.have.property('message', 'A message about the ride has not been sent yet');
    await storeOwedMessages(ctx, row.rideId);
    for (const each of await messagesOfRide(row.rideId)) await send(each);
    await eraseRide(row.rideId);
    for (const each of await messagesOfRide(row.rideId)) {
      expect(each).not.to.have.any.keys('sealed', 'number', 'providerId');
      expect(each.state).to.equal('sent');
    }
  });

  it('the provider gets sender, number, text, callback and the token of the account', async () => {
    const row = await found();
    expect(await send(row)).to.include({ result: 'sent' });
    const basic = Buffer.from(`AC123:${providerToken}`).toString('base64');
    const callback = `${ctx.config.publicBaseUrl}/texts/${row._id}`;
    expect(started.received[0]).to.include({
      ...{ to: guest, from: '+12025550100', callback, authorization: `Basic ${basic}` },
    });
    expect(await rowOf(row._id)).to.include({ state: 'sent' });
    expect((await rowOf(row._id)).providerId).to.match(/^SM/);
  });

  describe('one attempt', () => {
    it('if two workers have its job, and if the job runs again', async () => {
      const row = await found();
      const results = await Promise.all([send(row), send(row)]);
      expect(results.filter((result) => 'result' in result)).to.have.length(1);
      expect(await send(row)).to.include({ result: 'sent' });
      expect(started.received).to.have.length(1);
    });

    it('if MongoDB fails while the outcome is recorded', async () => {
      const row = await found();
      onceInsteadOf(messages, 'updateOne', () =>
        Promise.reject(Object.assign(new Error('gone'), { code: 'ECONNRESET' })),
      );
      expect(await send(row)).to.include({ result: 'sent' });
      expect(started.received).to.have.length(1);
    });

    it('again with the same token, and so one text, if a worker died before it recorded the outcome', async () => {
      const row = await found();
      await send(row);
      await messages.updateOne(
        { _id: row._id },
        {
          $set: { state: 'waiting', dueAt: new Date(), claim: { token: 'dead', until: new Date(ctx.now() + 30_000) } },
        },
      );
      const held = await send(row);
      expect('againInMs' in held && held.againInMs).to.be.within(1, 30_000);
      expect(await send(row, sending({ aheadMs: 31_000 }))).to.include({ result: 'sent' });
      expect(started.received.map(({ isRepeat }) => isRepeat)).to.deep.equal([false, true]);
      expect(new Set(started.received.map(({ token }) => token)).size).to.equal(1);
      expect(started.texts()).to.have.length(1);
    });

    for (const [what, answer, reason] of [
      ['a refusal', refusedWith(21_211), 'error_21211'],
      ['a failure', { status: 503, body: 'busy' }, 'status_503'],
    ] as const) {
      it(`after ${what} of the provider, which is recorded`, async () => {
        started.answerWith(() => answer);
        const row = await found();
        expect(await send(row)).to.deep.equal({ result: 'failed', reason });
        expect(await send(row)).to.include({ result: 'failed' });
        expect(started.received).to.have.length(1);
        expect(await rowOf(row._id)).to.include({ state: 'failed', reason });
      });
    }
  });

  it('a message waits while no connection to the provider can be opened, for 10 minutes', async () => {
    const row = await found();
    const away = { url: started.url.replace(/:\d+\//, `:${await freePort()}/`) };
    expect(await send(row, sending(away))).to.include({ againInMs: 10_000 });
    expect(await rowOf(row._id)).to.include({ state: 'waiting' });
    expect(await send(row, sending({ ...away, aheadMs: 11 * minuteMs }))).to.include({ result: 'expired' });
    expect(started.received).to.have.length(0);
    const late = await found();
    expect(await send(late, sending(away))).to.include({ againInMs: 10_000 });
    expect(await send(late, sending({ aheadMs: 9 * minuteMs }))).to.include({ result: 'sent' });
  });

  it('a waiting message is not sent once a later one to the same person is stored', async () => {
    const row = await found();
    const away = { url: started.url.replace(/:\d+\//, `:${await freePort()}/`) };
    expect(await send(row, sending(away))).to.include({ againInMs: 10_000 });
    await act(row.rideId, { action: 'cancel', by: 'partner' });
    await storeOwedMessages(ctx, row.rideId);
    expect(await send(row)).to.deep.equal({ result: 'expired', reason: 'outdated' });
    expect(await rowOf(row._id))
      .to.include({ state: 'expired', reason: 'outdated' })
      .and.not.have.property('dueAt');
    expect(await send({ _id: `${row.rideId}:cancelled:passenger` })).to.include({ result: 'sent' });
    expect(started.texts().map(({ text }) => text)).to.deep.equal(['Your ride was cancelled.']);
  });

  it('a message that a dead worker may have sent is repeated with its token, even if a later one is stored', async () => {
    const row = await found();
    await send(row);
    await messages.updateOne(
      { _id: row._id },
      { $set: { state: 'waiting', dueAt: new Date(), claim: { token: 'dead', until: new Date(ctx.now()) } } },
    );
    await act(row.rideId, { action: 'cancel', by: 'partner' });
    await storeOwedMessages(ctx, row.rideId);
    expect(await send(row, sending({ aheadMs: 1_000 }))).to.include({ result: 'sent' });
    expect(started.received.map(({ isRepeat }) => isRepeat)).to.deep.equal([false, true]);
  });

  it('a message that is owed for more than 10 minutes is stored as expired, without number and text', async () => {
    const rideId = await notified();
    await accepted(rideId);
    await storeOwedMessages(sending({ aheadMs: 11 * minuteMs }), rideId);
    const row = await rowOf(`${rideId}:found:passenger`);
    expect(row).to.include({ state: 'expired' });
    expect(row).not.to.have.any.keys('sealed', 'number', 'dueAt');
  });

  it('an opted-out number is not texted again until the operator clears it', async () => {
    started.answerWith(() => refusedWith(21_610));
    const first = await found();
    expect(await send(first)).to.include({ result: 'opted_out' });
    started.answerWith();
    const second = await found();
    expect(await send(second)).to.include({ result: 'opted_out' });
    expect(started.received).to.have.length(1);
    const [optOut] = await optOuts.find({}).toArray();
    expect(optOut).to.include({ messageId: first._id });
    expect(JSON.stringify(optOut)).not.to.include('2025550143');
    expect(await clearOptOut(optOut?._id ?? '')).to.equal(true);
    expect(await send(await found())).to.include({ result: 'sent' });
  });

  it('a number gets at most 60 messages in an hour, and an account sends at most its number a day', async () => {
    const rows: MessageRow[] = [];
    const crowded = `+1202555${String(Math.floor(Math.random() * 90) + 100).padStart(4, '0')}`;
    const accountId = newAccountId();
    for (let index = 0; index < 61; index += 1) rows.push(await found({ accountId, passenger: { phone: crowded } }));
    const states = await Promise.all(rows.map((row) => send(row)));
    expect(states.filter((state) => 'result' in state && state.result === 'sent')).to.have.length(60);
    expect(states.filter((state) => 'reason' in state && state.reason === 'number')).to.have.length(1);
    const limited = await found({ accountId });
    expect(await send(limited, sending({ perAccountDay: 60 }))).to.deep.equal({ result: 'limited', reason: 'account' });
  });

  it('a message that is not sent because the process was paused does not count for its account', async () => {
    const row = await found({ accountId: newAccountId() });
    const of = sending({ perAccountDay: 1 });
    const now = performance.now.bind(performance);
    onceInsteadOf(optOuts, 'findOne', (...args) => {
      performance.now = () => now() + 11_000;
      return optOuts.findOne(...(args as Parameters<typeof optOuts.findOne>));
    });
    const paused = await send(row, of);
    performance.now = now;
    expect(paused).to.deep.equal({ againInMs: 10_000, why: 'provider: claim_too_old' });
    expect(await send(row, of)).to.deep.equal({ result: 'sent' });
  });

  it('messages of test rides are kept and not sent, with the same text', async () => {
    const row = await found({ mode: 'test', scenario: 'no_auto_accept' });
    expect(await send(row)).to.include({ result: 'kept' });
    expect(started.received).to.have.length(0);
    expect((await rowOf(row._id)).sealed).to.be.a('string');
  });

  it('without a provider, a message is kept in development and has failed in production', async () => {
    expect(await send(await found(), ctx)).to.include({ result: 'kept' });
    expect(await send(await found(), sending({ url: '' }))).to.deep.equal({ result: 'failed', reason: 'no_sms_url' });
  });

  it('the sweeper adds the jobs of a ride that owes messages and of waiting messages, if Redis loses them', async () => {
    const rideId = await notified();
    await accepted(rideId);
    const row = await found();
    await ctx.redis.flushall();
    const swept = await sweep(ctx, { everything: true });
    expect(swept.messages).to.be.at.least(1);
    expect(swept.timers).to.be.at.least(1);
    expect(await jobFor(ctx, 'messages', { rideId, timer: 'message' })).to.not.equal(undefined);
    expect(await jobFor(ctx, 'messages', { messageId: row._id })).to.not.equal(undefined);
  });
});
