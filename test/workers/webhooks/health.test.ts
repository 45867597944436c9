import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import mongoose from 'mongoose';
import { accountOf, operatorEmail, roles } from '../../../shared/accounts/account.ts';
import { newAccountId } from '../../../shared/base/ids.ts';
import { registry } from '../../../shared/base/metrics.ts';
import { keys } from '../../../shared/keys/api-key.ts';
import { deliverySettings } from '../../../shared/keys/delivery-settings.ts';
import { createKey } from '../../../shared/keys/manage-keys.ts';
import { type MailText, openMail } from '../../../shared/mail/mail.ts';
import { mails } from '../../../shared/mail/mail-row.ts';
import type { Delivery } from '../../../shared/rides/ride-types.ts';
import { countFailingKeys, deliveryHealth, listFailingKeys } from '../../../shared/webhooks/delivery-health.ts';
import { failureReasons } from '../../../shared/webhooks/failure-reasons.ts';
import { outageMails, owesMail } from '../../../workers/periodic/outage-mails.ts';
import { takePacedTurn } from '../../../workers/periodic/turns.ts';
import { measureOutcomes, noteOutcome } from '../../../workers/webhooks/report/account-outcomes.ts';
import { flushHealth, noteDelivery } from '../../../workers/webhooks/report/health-log.ts';
import { deliver, useDeliveries } from '../../support/deliveries.ts';
import { onceInsteadOf } from '../../support/failing-mongo.ts';
import { plansOf } from '../../support/plans.ts';
import { rideWithEvents } from '../../support/rides.ts';
import { newMember } from '../../support/team.ts';

const at = new Date(1_700_000_000_000);
const refused: Delivery = { outcome: 'failed', reason: 'ECONNREFUSED', durationMs: 1, at };
const delivered: Delivery = { outcome: 'delivered', httpStatus: 200, durationMs: 1, at };

describe('the metric of accounts by their latest delivery', () => {
  const minuteMs = 60_000;
  const live = (accountId: string) => ({ accountId, mode: 'live' }) as const;
  const counts = async (now: number) => {
    measureOutcomes(now);
    const { values } = (await registry.getSingleMetric('rides_delivery_accounts')?.get()) ?? { values: [] };
    return Object.fromEntries(values.map(({ labels, value }) => [labels.outcome, value]));
  };

  it('an account counts by its latest delivery of a live ride: a success for 2 minutes, a failure for 5 minutes', async () => {
    // So far in the future that deliveries of other tests no longer count.
    const now = Math.ceil(performance.now()) + 60 * minuteMs;
    noteOutcome(live('acct_1'), delivered, now);
    noteOutcome(live('acct_2'), delivered, now);
    noteOutcome(live('acct_1'), refused, now);
    noteOutcome(live('acct_3'), { outcome: 'no_url', durationMs: 0, at }, now);
    noteOutcome(live('acct_4'), { ...refused, reason: 'EMFILE' }, now);
    noteOutcome({ accountId: 'acct_5', mode: 'test' }, refused, now);
    expect(await counts(now)).to.deep.equal({ failed: 1, delivered: 1 });
    expect(await counts(now + 2 * minuteMs)).to.deep.equal({ failed: 1, delivered: 0 });
    expect(await counts(now + 5 * minuteMs)).to.deep.equal({ failed: 0, delivered: 0 });
  });
});

describe('delivery health', () => {
  const { receiver, ctx } = useDeliveries();
  before(async () => {
    await mails.deleteMany({});
  });

  const keyOf = async ({ name = 'Hotel desk', email = `${newAccountId()}@partner.example` } = {}) => {
    const { _id: accountId } = await accountOf(email);
    const { keyId } = await createKey(ctx.config, { accountId, name: 'test', mode: 'live' });
    await keys.updateOne({ _id: keyId }, { $set: { name } });
    return { keyId, email: email.toLowerCase(), owner: { accountId } };
  };
  /** Records deliveries one by one, like a process that reads the key before each delivery. */
  const note = async (keyId: string, ...deliveries: Delivery[]) => {
    for (const delivery of deliveries) {
      const { isFailing = false } = await deliverySettings(ctx.config, keyId);
      noteDelivery(ctx, keyId, delivery, isFailing);
      await flushHealth();
    }
  };
  /** Takes a turn at the mails, as if its interval had passed. */
  const mailTurn = async () => {
    await ctx.redis.del(outageMails.leaseKey);
    await takePacedTurn(ctx, outageMails, new AbortController().signal);
  };
  /** Records deliveries like `note`, and takes a turn at the mails after them. */
  const noteAndMail = async (keyId: string, ...deliveries: Delivery[]) => {
    await note(keyId, ...deliveries);
    await mailTurn();
  };
  const times = (count: number, delivery: Delivery): Delivery[] => Array<Delivery>(count).fill(delivery);
  /** The failures of an outage that starts a number of minutes later. */
  const outageAfter = (minutes: number, count = 5): Delivery[] =>
    times(count, { ...refused, at: new Date(at.getTime() + minutes * 60_000) });
  const healthOf = async ({ keyId, owner }: Awaited<ReturnType<typeof keyOf>>) =>
    (await deliveryHealth([keyId], owner)).get(keyId);
  const mailsTo = async (email: string): Promise<MailText[]> => {
    const all = await mails.find({}).sort({ createdAt: 1 }).toArray();
    return all.map((row) => openMail(ctx.config, row)).filter(({ to }) => to === email);
  };
  const subjectsTo = async (email: string) => (await mailsTo(email)).map(({ subject }) => subject);

  describe('failing keys', () => {
    it('after 5 failures in a row, a key is failing since the first one, with the reason of the last one', async () => {
      const key = await keyOf();
      const first = new Date(at.getTime() - 60_000);
      await note(key.keyId, { ...refused, at: first }, ...times(3, refused));
      expect(await healthOf(key)).to.equal(undefined);
      await note(key.keyId, { ...refused, outcome: 'timeout', reason: 'answer' });
      expect(await healthOf(key)).to.deep.equal({ failuresInRow: 5, since: first, reason: 'timeout_answer' });
    });

    it('a failing key is listed with its last failure and a mail that waits, and is counted for a day', async () => {
      const key = await keyOf();
      const before = await countFailingKeys();
      const now = new Date();
      await note(key.keyId, ...times(4, refused), { ...refused, at: now });
      expect((await listFailingKeys()).find(({ keyId }) => keyId === key.keyId)).to.include({ mail: 'none' });
      await mailTurn();
      const listed = (await listFailingKeys()).find(({ keyId }) => keyId === key.keyId);
      expect(listed).to.deep.include({ accountId: key.owner.accountId, since: at, at: now, mail: 'waiting' });
      expect(await countFailingKeys()).to.equal(before + 1);
      await keys.updateOne({ _id: key.keyId }, { $set: { 'failing.at': new Date(now.getTime() - 25 * 3_600_000) } });
      expect(await countFailingKeys()).to.equal(before);
    });

    it('a failing key of the operator is listed as one that gets no mail, and gets none', async () => {
      const key = await keyOf({ email: operatorEmail });
      await noteAndMail(key.keyId, ...times(5, refused));
      const listed = (await listFailingKeys()).find(({ keyId }) => keyId === key.keyId);
      expect(listed).to.include({ mail: 'operator', mailedAt: null });
      await noteAndMail(key.keyId, delivered);
      expect(await mailsTo(operatorEmail)).to.deep.equal([]);
    });

    it('a key is no longer failing after one delivered event', async () => {
      const key = await keyOf();
      await note(key.keyId, ...times(6, refused), delivered);
      expect(await healthOf(key)).to.equal(undefined);
      await note(key.keyId, ...times(4, refused));
      expect(await healthOf(key)).to.equal(undefined);
    });

    it('a key is failing since the first failure after a success, even if all of them are written together', async () => {
      const key = await keyOf();
      const time = (index: number) => new Date(at.getTime() + index);
      const noteAll = (...deliveries: Delivery[]) => {
        for (const [index, delivery] of deliveries.entries()) {
          noteDelivery(ctx, key.keyId, { ...delivery, at: time(index) }, true);
        }
        return flushHealth();
      };
      await noteAll(...times(5, refused));
      expect(await healthOf(key))
        .to.include({ failuresInRow: 5 })
        .and.deep.include({ since: time(0) });
      // The earlier failure streak must be ended first, even if ending it takes long.
      onceInsteadOf(keys, 'updateOne', async (...args) => {
        await setTimeout(50);
        return Reflect.apply(keys.updateOne, keys, args);
      });
      await noteAll(...times(3, refused), delivered, ...times(6, refused));
      expect(await healthOf(key))
        .to.include({ failuresInRow: 6 })
        .and.deep.include({ since: time(4) });
    });

    it('the failures that several processes count at the same time add up', async () => {
      const key = await keyOf();
      const of5 = {
        $inc: { 'failing.inRow': 5 },
        $min: { 'failing.since': at },
        $set: { 'failing.reason': 'refused' },
      };
      noteDelivery(ctx, key.keyId, refused, false);
      await Promise.all([keys.updateOne({ _id: key.keyId }, of5 as never), flushHealth()]);
      expect(await healthOf(key)).to.include({ failuresInRow: 6 });
    });

    it('events without a URL and local faults do not count as failures', async () => {
      const key = await keyOf();
      await note(key.keyId, ...times(9, { outcome: 'no_url', durationMs: 0, at }));
      await note(key.keyId, ...times(9, { ...refused, reason: 'EMFILE' }));
      expect(await healthOf(key)).to.equal(undefined);
      expect(await keys.findOne({ _id: key.keyId })).not.to.have.property('failing');
    });

    it('the health of a key is visible only to its account', async () => {
      const key = await keyOf();
      await note(key.keyId, ...times(5, refused));
      const other = await keyOf();
      expect(await deliveryHealth([key.keyId], other.owner)).to.deep.equal(new Map());
    });
  });

  it('successes of a healthy key write nothing', async () => {
    const key = await keyOf();
    const before = await keys.findOne({ _id: key.keyId });
    let writes = 0;
    const { updateOne } = keys;
    Object.assign(keys, { updateOne: () => void writes++ });
    try {
      for (const delivery of times(20, delivered)) noteDelivery(ctx, key.keyId, delivery, false);
      await flushHealth();
    } finally {
      Object.assign(keys, { updateOne });
    }
    expect(writes).to.equal(0);
    expect(await keys.findOne({ _id: key.keyId })).to.deep.equal(before);
  });

  it('settling does not wait for health writes, and a failing write does not affect it', async () => {
    receiver.answerWith((response) => response.writeHead(500).end());
    const { keyId } = await keyOf();
    await keys.updateOne({ _id: keyId }, { $set: { webhookUrl: receiver.url } });
    const rideId = await rideWithEvents(ctx, { keyId }, 2);
    let isAsked = false;
    onceInsteadOf(keys, 'updateOne', () => {
      isAsked = true;
      return Promise.reject(new Error('refused'));
    });
    expect(await deliver(ctx, rideId, 1)).to.include({ result: 'failed' });
    await flushHealth();
    expect(isAsked).to.equal(true);
    expect(await deliver(ctx, rideId, 2)).to.include({ result: 'failed' });
    await flushHealth();
    expect((await keys.findOne({ _id: keyId }))?.failing).to.include({ inRow: 1, reason: 'status_5xx' });
  });

  it('a delivered event ends the failure streak of its key', async () => {
    const key = await keyOf();
    await keys.updateOne({ _id: key.keyId }, { $set: { webhookUrl: receiver.url } });
    await note(key.keyId, ...times(5, refused));
    const rideId = await rideWithEvents(ctx, { keyId: key.keyId }, 1);
    expect(await deliver(ctx, rideId, 1)).to.include({ result: 'delivered' });
    await flushHealth();
    expect(await healthOf(key)).to.equal(undefined);
  });

  describe('mails', () => {
    // Other tests leave keys that owe a mail, some of them two.
    beforeEach(async () => {
      await mailTurn();
      await mailTurn();
    });

    it('the account gets a mail after 5 failures in a row, and one when an event is delivered again', async () => {
      const key = await keyOf();
      await noteAndMail(key.keyId, ...times(4, refused));
      expect(await mailsTo(key.email)).to.deep.equal([]);
      await noteAndMail(key.keyId, ...times(8, refused));
      await noteAndMail(key.keyId, refused);
      expect(await subjectsTo(key.email)).to.deep.equal(['Webhooks of your key "Hotel desk" fail']);
      await noteAndMail(key.keyId, delivered, delivered);
      await mailTurn();
      expect(await subjectsTo(key.email)).to.have.members([
        'Webhooks of your key "Hotel desk" fail',
        'Webhooks of your key "Hotel desk" work again',
      ]);
    });

    it('an outage that ends before a turn is mailed too', async () => {
      const key = await keyOf();
      await noteAndMail(key.keyId, ...times(5, refused), delivered);
      expect(await mailsTo(key.email)).to.have.length(2);
    });

    it('an outage that ends between its mail and the note on the key gets each mail once', async () => {
      const key = await keyOf();
      await note(key.keyId, ...times(5, refused));
      onceInsteadOf(mails, 'insertOne', async (...args) => {
        await note(key.keyId, delivered);
        return Reflect.apply(mails.insertOne, mails, args);
      });
      await mailTurn();
      await mailTurn();
      expect(await mailsTo(key.email)).to.have.length(2);
    });

    /** Calls `happens` before the next mail is stored. */
    const whileMailing = (happens: () => Promise<unknown>) =>
      onceInsteadOf(mails, 'insertOne', async (...args) => {
        await happens();
        return Reflect.apply(mails.insertOne, mails, args);
      });

    it('an outage that begins while the one before it is mailed gets a mail of its own', async () => {
      const key = await keyOf();
      await note(key.keyId, ...times(5, refused));
      whileMailing(() => note(key.keyId, delivered, ...outageAfter(1)));
      for (let turns = 0; turns < 3; turns++) await mailTurn();
      expect(await subjectsTo(key.email)).to.deep.equal([
        'Webhooks of your key "Hotel desk" fail',
        'Webhooks of your key "Hotel desk" work again',
        'Webhooks of your key "Hotel desk" fail',
      ]);
    });

    it('an outage counts for the limit even if another one ends while it is mailed', async () => {
      const key = await keyOf();
      for (let outages = 0; outages < 5; outages++) {
        await note(key.keyId, ...outageAfter(2 * outages), delivered);
        if (outages < 4) whileMailing(() => note(key.keyId, ...outageAfter(2 * outages + 1), delivered));
        await mailTurn();
      }
      expect(await mailsTo(key.email)).to.have.length(8);
    });

    it('the mail has the name of the key, the start, the reason, the remedy and a link to the deliveries', async () => {
      const key = await keyOf();
      await noteAndMail(key.keyId, ...times(5, refused));
      const [failing] = await mailsTo(key.email);
      await noteAndMail(key.keyId, delivered);
      const again = (await mailsTo(key.email)).find(({ subject }) => subject !== failing?.subject);
      const [name, remedy] = failureReasons.refused;
      const link = `https://rides.example/dashboard/deliveries?key=${key.keyId}`;
      for (const text of ['"Hotel desk"', '5 events', '2023-11-14 22:13 UTC', name, remedy, link]) {
        expect(failing?.text).to.include(text);
      }
      for (const text of ['"Hotel desk"', '2023-11-14 22:13 UTC', link]) expect(again?.text).to.include(text);
    });

    it('one mail is sent for each outage and each recovery, even if many processes find it', async () => {
      const key = await keyOf();
      const mailedByMany = () => Promise.all(Array.from({ length: 20 }, () => outageMails.work(ctx, async () => {})));
      await note(key.keyId, ...times(5, refused));
      await mailedByMany();
      expect(await mailsTo(key.email)).to.have.length(1);
      await note(key.keyId, delivered);
      noteDelivery(ctx, key.keyId, delivered, true);
      await flushHealth();
      await mailedByMany();
      expect(await mailsTo(key.email)).to.have.length(2);
      expect((await keys.findOne({ _id: key.keyId }))?.outageMailsAt).to.have.length(1);
    });

    it('at most 4 outages are mailed in 24 hours; a fifth one is mailed at its first failure after that', async () => {
      const key = await keyOf();
      for (let outages = 0; outages < 4; outages++) await noteAndMail(key.keyId, ...outageAfter(outages), delivered);
      await noteAndMail(key.keyId, ...outageAfter(4, 9));
      expect(await mailsTo(key.email)).to.have.length(8);
      const [first] = outageAfter(4);
      const dayBefore = new Date((first?.at.getTime() ?? 0) + 60_000 - 24 * 3_600_000);
      await keys.updateOne({ _id: key.keyId }, { $set: { 'outageMailsAt.0': dayBefore } });
      await mailTurn();
      expect(await mailsTo(key.email)).to.have.length(8);
      await noteAndMail(key.keyId, ...outageAfter(5, 2));
      expect(await mailsTo(key.email)).to.have.length(9);
    });

    it('a mail that was not stored is stored by the next turn, without another failure', async () => {
      const key = await keyOf();
      await note(key.keyId, ...times(5, refused));
      // Four mails fail, as many as the daily limit. They do not count, because they were not stored.
      for (let failed = 0; failed < 4; failed++) {
        onceInsteadOf(mails, 'insertOne', () => Promise.reject(new Error('refused')));
        await mailTurn();
      }
      expect(await mailsTo(key.email)).to.deep.equal([]);
      await mailTurn();
      expect(await mailsTo(key.email)).to.have.length(1);
    });

    it('the mail is sent once if it was stored and the process crashed before it noted that', async () => {
      const key = await keyOf();
      await note(key.keyId, ...times(5, refused));
      onceInsteadOf(mails, 'insertOne', async (...args) => {
        await Reflect.apply(mails.insertOne, mails, args);
        throw new mongoose.mongo.MongoNetworkError('connection lost');
      });
      await mailTurn().catch(() => {});
      expect((await keys.findOne({ _id: key.keyId }))?.failing).not.to.have.property('isTold');
      await mailTurn();
      expect(await mailsTo(key.email)).to.have.length(1);
    });

    it('each owner and developer gets one mail, even if a part of the mails is sent again, and nobody else does', async () => {
      const key = await keyOf();
      const members = [];
      for (const role of roles) members.push(await newMember(key.owner.accountId, role));
      await note(key.keyId, ...times(5, refused));
      // The first mail is stored and the second one is not.
      onceInsteadOf(mails, 'insertOne', (...args) => {
        const { insertOne } = mails;
        onceInsteadOf(mails, 'insertOne', () => Promise.reject(new Error('refused')));
        return Reflect.apply(insertOne, mails, args);
      });
      await mailTurn();
      await mailTurn();
      expect(await mailsTo(key.email)).to.have.length(1);
      for (const { email, role } of members) {
        const count = role === 'owner' || role === 'developer' ? 1 : 0;
        expect(await mailsTo(email), role).to.have.length(count);
      }
    });

    it('a turn reads only keys that owe a mail', async () => {
      const key = await keyOf();
      await noteAndMail(key.keyId, ...times(5, refused));
      const owing = await keys.countDocuments(owesMail);
      const [plan] = await plansOf(mailTurn);
      // Each of the two kinds of mail has its own index, so a key that owes both is found twice.
      expect(plan?.executionStats.totalDocsExamined).to.be.at.most(2 * owing);
    });

    it('line breaks in the name of a key do not reach the mail', async () => {
      const key = await keyOf({ name: 'Desk"\r\nBcc: all@partner.example\r\n\r\n<b>Pay\u2028here' });
      await noteAndMail(key.keyId, ...times(5, refused));
      const [mail] = await mailsTo(key.email);
      expect(mail?.subject).to.equal('Webhooks of your key "Desk" Bcc: all@partner.example <b>Pay here" fail');
      expect(mail?.text.split('\n').filter((line) => line.startsWith('Bcc'))).to.deep.equal([]);
    });
  });
});
