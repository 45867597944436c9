import { expect } from 'chai';
import mongoose from 'mongoose';
import { freePort } from '../../../dev/servers/ports.ts';
import { keys } from '../../../shared/keys/api-key.ts';
import { newTrace } from '../../../shared/outbound/trace.ts';
import { eraseRide } from '../../../shared/retention/erase-rides.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { Delivery } from '../../../shared/rides/ride-types.ts';
import { type AttemptRecord, attempts, attemptsOfRide } from '../../../shared/webhooks/attempts.ts';
import { type ClaimedEvent, claimEvent } from '../../../workers/webhooks/claim-event.ts';
import { flushAttempts, recordAttempt } from '../../../workers/webhooks/report/attempt-log.ts';
import { deliver, newKey, useDeliveries, withShortDeadline, withTargets } from '../../support/deliveries.ts';
import { database } from '../../support/failing-mongo.ts';
import { withLogLines } from '../../support/log-lines.ts';
import { type HttpOptions, startReceiver } from '../../support/receiver.ts';
import { rideWithEvents } from '../../support/rides.ts';
import { storedRide } from '../../support/stored-rides.ts';
import { until } from '../../support/until.ts';

const owner = { accountId: 'acct_of_tests' };

describe('recorded attempts of events', () => {
  const { receiver, ctx, rideWith } = useDeliveries();

  const recorded = async (rideId: string): Promise<AttemptRecord[]> => {
    await flushAttempts();
    return attemptsOfRide(rideId, owner);
  };
  const theOnly = async (rideId: string): Promise<AttemptRecord> => {
    const [only, ...others] = await recorded(rideId);
    expect(others).to.deep.equal([]);
    return only as AttemptRecord;
  };
  const answered = async (answer: HttpOptions['answer']): Promise<AttemptRecord> => {
    receiver.answerWith(answer);
    const rideId = await rideWith(1);
    await deliver(ctx, rideId, 1);
    await until(async () => (await attemptsOfRide(rideId, owner)).length > 0);
    return theOnly(rideId);
  };

  it('an attempt that is recorded after the erasure of its ride is erased too', async () => {
    const rideId = await rideWith(5);
    for (let seq = 1; seq <= 5; seq++) await deliver(ctx, rideId, seq);
    await flushAttempts();
    await attempts.deleteMany({ rideId });
    // Simulates an operator who erases the ride when the last event's attempt is made but not inserted yet.
    await rides.updateOne(
      { _id: rideId },
      { $set: { settledSeq: 4, unsettled: 1 }, $unset: { 'events.4.delivery': '' } },
    );
    await deliver(ctx, rideId, 5);
    await eraseRide(rideId);
    const { seq, outcome, headers, body, url, erasedAt } = await theOnly(rideId);
    expect({ seq, outcome, headers, body, url }).to.deep.equal({
      ...{ seq: 5, outcome: 'delivered', headers: undefined, body: undefined, url: undefined },
    });
    expect(erasedAt).to.be.a('date');
  });

  it('an attempt is recorded with its request, destination and answer, and on the ride with its outcome', async () => {
    receiver.answerWith((response) => response.writeHead(202).end('thank you'));
    const key = await newKey(ctx, `${receiver.url}?token=secret#part`);
    const rideId = await rideWithEvents(ctx, key, 2);
    const done = await deliver(ctx, rideId, 1);
    expect(done).to.include({ result: 'delivered', event: 'offer.received', httpStatus: 202 });
    const attempt = await theOnly(rideId);
    const [event] = (await storedRide(rideId)).events;
    const { delivery } = event ?? {};
    expect(delivery).to.have.all.keys('outcome', 'url', 'httpStatus', 'durationMs', 'at');
    expect(delivery).to.include({ outcome: 'delivered', url: receiver.url, httpStatus: 202 });
    expect(delivery?.at).to.be.instanceOf(Date);
    const [receipt] = receiver.receipts;
    const { _id, headers = {}, phases = {}, durationMs = 0, answerHeaders = {}, ...rest } = attempt;
    expect(Object.keys(answerHeaders)).to.deep.equal(['date']);
    expect(_id).to.match(/^att_/);
    expect(rest).to.deep.equal({
      ...owner,
      keyId: key.keyId,
      mode: 'live',
      kind: 'event',
      event: 'offer.received',
      rideId,
      seq: 1,
      at: delivery?.at,
      outcome: 'delivered',
      httpStatus: 202,
      url: receiver.url,
      address: '127.0.0.1',
      body: receipt?.raw,
      answer: 'thank you',
    });
    const lowerCase = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    expect(lowerCase).to.deep.equal(receipt?.headers);
    expect(Object.keys(lowerCase)).to.deep.equal(Object.keys(receipt?.headers ?? {}));
    expect(Object.keys(phases)).to.deep.equal(['dns', 'connect', 'write', 'answer']);
    for (const ms of [durationMs, ...Object.values(phases)]) expect(ms).to.be.at.least(0);
    expect(JSON.stringify(attempt)).not.to.include('token=secret');
  });

  it('an attempt is recorded once, even if its job runs twice', async () => {
    const rideId = await rideWith(2);
    await deliver(ctx, rideId, 1);
    await deliver(ctx, rideId, 1);
    await deliver(ctx, rideId, 2);
    expect((await recorded(rideId)).map(({ seq }) => seq)).to.deep.equal([1, 2]);
  });

  describe('answer', () => {
    it('an attempt keeps the first 1,024 bytes of the answer, without a last character that is cut off', async () => {
      const attempt = await answered((response) => response.writeHead(500).end(`${'x'.repeat(1_023)}é and more`));
      expect(attempt).to.include({ outcome: 'failed', httpStatus: 500, answer: 'x'.repeat(1_023) });
    });

    it('an attempt keeps an answer that arrives in pieces', async () => {
      const attempt = await answered((response) => {
        response.writeHead(200);
        response.write('first');
        setTimeout(() => response.end(', second'), 20);
      });
      expect(attempt.answer).to.equal('first, second');
    });

    it('an attempt keeps an answer that is not HTTP', async () => {
      const raw = await startReceiver({ raw: true, answer: (socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n') });
      const rawCtx = withTargets(ctx, raw.origin);
      const rideId = await rideWithEvents(rawCtx, await newKey(rawCtx, raw.origin), 1);
      await deliver(rawCtx, rideId, 1);
      await raw.close();
      expect(await theOnly(rideId)).to.include({ outcome: 'failed', answer: 'SSH-2.0-OpenSSH_9.9\r\n' });
    });

    it('an attempt keeps only headers of the answer that help to find a fault, cut to 200 characters', async () => {
      const { answerHeaders = {} } = await answered((response) =>
        response
          .writeHead(401, {
            'Content-Type': 'text/html',
            Server: 'x'.repeat(300),
            'WWW-Authenticate': 'Basic realm="hooks"',
            'Retry-After': '120',
            Location: '/sign-in?token=secret-of-receiver',
            'Set-Cookie': 'session=secret-of-receiver',
            'X-Internal-Route': 'secret-of-receiver',
          })
          .end(),
      );
      const { date, ...others } = answerHeaders;
      expect(date).to.be.a('string');
      expect(others).to.deep.equal({
        'content-type': 'text/html',
        server: 'x'.repeat(200),
        'retry-after': '120',
        location: receiver.origin,
        'www-authenticate': 'Basic realm="hooks"',
      });
    });

    it('an attempt keeps only the origin of a redirect, and nothing of one that leads to no host', async () => {
      for (const [location, kept] of [
        ['https://other.example:8443/hook?key=secret#part', 'https://other.example:8443'],
        ['https://user:secret@other.example/', 'https://other.example'],
        ['mailto:secret@other.example', undefined],
        ['http://[', undefined],
      ] as const) {
        const { answerHeaders } = await answered((response) => response.writeHead(302, { Location: location }).end());
        expect(answerHeaders?.location, location).to.equal(kept);
      }
    });

    it('the attempt of a `ride.status` event has the status that the event reports', async () => {
      const rideId = await rideWith(3);
      for (let seq = 1; seq <= 3; seq++) await deliver(ctx, rideId, seq);
      const statuses = (await recorded(rideId)).map(({ rideStatus }) => rideStatus);
      expect(statuses).to.deep.equal([undefined, 'driver_arriving', 'arrived']);
    });

    it('an attempt with an empty answer has no field `answer`', async () => {
      expect(await answered((response) => response.end())).not.to.have.property('answer');
    });
  });

  describe('failures', () => {
    it('an attempt at a closed port has its address and no headers', async () => {
      const nowhere = `http://127.0.0.1:${await freePort()}`;
      const nowhereCtx = withTargets(ctx, nowhere);
      const rideId = await rideWithEvents(ctx, await newKey(nowhereCtx, nowhere), 1);
      await deliver(nowhereCtx, rideId, 1);
      const attempt = await theOnly(rideId);
      expect(attempt).to.include({ outcome: 'failed', reason: 'ECONNREFUSED', address: '127.0.0.1' });
      expect(attempt).not.to.have.any.keys('headers', 'answer', 'httpStatus');
      const { delivery } = (await storedRide(rideId)).events[0] ?? {};
      expect(delivery).to.include({ outcome: 'failed', reason: 'ECONNREFUSED', url: `${nowhere}/` });
      expect(delivery).not.to.have.property('httpStatus');
    });

    it('a blocked attempt has no address and no query of its URL, on the ride too', async () => {
      const key = await newKey(ctx);
      await keys.updateOne({ _id: key.keyId }, { $set: { webhookUrl: 'https://127.0.0.1/hook?token=secret' } });
      const rideId = await rideWithEvents(ctx, key, 1);
      expect(await deliver(ctx, rideId, 1)).to.include({ result: 'blocked' });
      const attempt = await theOnly(rideId);
      const blocked = { outcome: 'blocked', url: 'https://127.0.0.1/hook' };
      expect(attempt).to.include(blocked);
      expect(attempt).not.to.have.any.keys('address', 'headers', 'answer');
      expect((await storedRide(rideId)).events[0]?.delivery).to.include(blocked);
    });

    it('an attempt without a URL has no URL, address, headers or phases', async () => {
      const rideId = await rideWithEvents(ctx, await newKey(ctx), 1);
      await deliver(ctx, rideId, 1);
      const attempt = await theOnly(rideId);
      expect(attempt).to.include({ outcome: 'no_url', durationMs: 0 });
      expect(attempt).not.to.have.any.keys('url', 'address', 'headers', 'phases');
      expect((await storedRide(rideId)).events[0]?.delivery).to.have.all.keys('outcome', 'durationMs', 'at');
    });

    it('an attempt that timed out has the phase as its reason, on the ride too', async () => {
      receiver.answerWith(() => {});
      const rideId = await rideWith(1);
      await withShortDeadline(() => deliver(ctx, rideId, 1));
      expect(await theOnly(rideId)).to.include({ outcome: 'timeout', reason: 'answer' });
      const { delivery } = (await storedRide(rideId)).events[0] ?? {};
      expect(delivery).to.include({ outcome: 'timeout', reason: 'answer', url: receiver.url });
      expect(delivery?.durationMs).to.be.greaterThan(0);
    });
  });

  describe('inserts', () => {
    type Command = (command: { insert?: string }, ...rest: unknown[]) => Promise<unknown>;

    /** Replaces the inserts of attempts. */
    const insertingAttempts = (instead: (insert: () => Promise<unknown>) => Promise<unknown>): { restore(): void } => {
      const db = database() as unknown as { command: Command };
      const { command } = db;
      db.command = (asked, ...rest) => {
        const send = () => Reflect.apply(command, db, [asked, ...rest]);
        return asked.insert === attempts.collectionName ? instead(send) : send();
      };
      return { restore: () => Reflect.deleteProperty(db, 'command') };
    };

    it('deliveries do not wait for attempt inserts while MongoDB accepts none', async () => {
      const rideId = await rideWith(3);
      let hanging = 0;
      let release = () => {};
      const hang = new Promise<void>((resolve) => {
        release = resolve;
      });
      const inserts = insertingAttempts(async () => {
        hanging += 1;
        await hang;
        return {};
      });
      try {
        await deliver(ctx, rideId, 1);
        await until(async () => hanging === 1);
        for (const seq of [2, 3]) expect(await deliver(ctx, rideId, seq)).to.include({ result: 'delivered' });
        expect(await storedRide(rideId)).to.include({ settledSeq: 3, unsettled: 0 });
        expect(hanging).to.equal(1);
        // Takes one second, the longest time that a stop waits for it.
        await flushAttempts();
      } finally {
        inserts.restore();
        release();
      }
      expect((await recorded(rideId)).map(({ seq }) => seq)).to.deep.equal([2, 3]);
    });

    it('an attempt that MongoDB refuses is dropped, and counted only in the debug log', async () => {
      const logged = withLogLines(ctx);
      const rideId = await rideWith(1);
      await flushAttempts();
      const inserts = insertingAttempts(async () => {
        throw new Error('refused');
      });
      try {
        expect(await deliver(logged.ctx, rideId, 1)).to.include({ result: 'delivered' });
        await flushAttempts();
      } finally {
        inserts.restore();
      }
      expect(await recorded(rideId)).to.deep.equal([]);
      expect((await storedRide(rideId)).events[0]?.delivery).to.include({ outcome: 'delivered' });
      const debug = logged.lines.filter(({ level }) => level <= 20);
      expect(debug.find(({ dropped }) => dropped === 1)).not.to.equal(undefined);
      expect(logged.lines.filter(({ level }) => level > 30)).to.deep.equal([]);
    });

    it('an attempt whose insert fails with the connection is inserted once, when MongoDB answers again', async () => {
      const logged = withLogLines(ctx);
      const rideId = await rideWith(1);
      await flushAttempts();
      let tries = 0;
      const inserts = insertingAttempts(async (insert) => {
        tries += 1;
        // The second try is lost only on its way back.
        if (tries >= 2) await insert();
        if (tries >= 3) return insert();
        throw new mongoose.mongo.MongoNetworkError('connection lost');
      });
      try {
        await deliver(logged.ctx, rideId, 1);
        await until(async () => tries >= 3);
        await flushAttempts();
      } finally {
        inserts.restore();
      }
      expect(await recorded(rideId)).to.have.length(1);
      expect(logged.lines.filter(({ dropped }) => dropped)).to.deep.equal([]);
    });

    it('at most 2,000 attempts wait while MongoDB accepts none, and further ones are dropped', async () => {
      const rideId = await rideWith(1);
      const claimed = (await claimEvent(rideId, 1, 'a')) as ClaimedEvent;
      const logged = withLogLines(ctx);
      const delivery: Delivery = { outcome: 'delivered', durationMs: 1, at: new Date() };
      const record = () => recordAttempt(logged.ctx, claimed, delivery, newTrace());
      const stored = () => attempts.countDocuments({ rideId });
      await flushAttempts();
      let fail = () => {};
      const hang = new Promise<never>((_, reject) => {
        fail = () => reject(new Error('refused'));
      });
      let isHanging = false;
      const inserts = insertingAttempts(() => {
        isHanging = true;
        return hang;
      });
      try {
        record();
        await until(async () => isHanging);
        for (let waiting = 0; waiting < 2_001; waiting++) record();
      } finally {
        inserts.restore();
        fail();
      }
      await until(async () => (await stored()) >= 2_000);
      await flushAttempts();
      expect(await stored()).to.equal(2_000);
      expect(logged.lines.find(({ dropped }) => dropped === 2)).not.to.equal(undefined);
    });

    it('a clean stop inserts an attempt even if its answer is still being read', async () => {
      receiver.answerWith((response) => void response.writeHead(200).write('the first part'));
      const rideId = await rideWith(1);
      await deliver(ctx, rideId, 1);
      expect(await theOnly(rideId)).to.include({ outcome: 'delivered' });
    });
  });
});
