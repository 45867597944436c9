import { once } from 'node:events';
import http, { type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { freePort } from '../../dev/servers/ports.ts';
import { rides } from '../../shared/rides/ride.ts';
import { signatureHeader } from '../../shared/webhooks/sign.ts';
import { scaled } from '../support/machine-speed.ts';
import { rawRequest, requestText } from '../support/raw-http.ts';
import { rideIn } from '../support/rides.ts';
import { usePartner, useTestApi } from '../support/service.ts';
import { type StartedProgram, startProgram } from '../support/started-program.ts';
import { until } from '../support/until.ts';
import { eventsOf, sendWebhook, startFeed } from './feed-service.ts';
import { clients, type Program } from './packages.ts';

const secret = 'whsec_clients';
const sources = { TypeScript: 'program.ts', Python: 'program.py' };

for (const language of ['TypeScript', 'Python'] as const) {
  describe(`the packed client for ${language}`, function () {
    this.timeout(60_000);
    const api = useTestApi();
    const partner = usePartner(api);
    const started: StartedProgram[] = [];
    let program: Program;

    before(async function () {
      this.timeout(scaled(300_000));
      program = await clients[language](path.join(import.meta.dirname, sources[language]));
    });
    afterEach(() => Promise.all(started.splice(0).map((each) => each.end())));

    function start(args: readonly string[], env: Record<string, string> = {}, input = '') {
      const given = { BASE: `${api.url}/v1`, KEY: partner.key, SECRET: secret, ...program.env, ...env };
      const running = startProgram([...program.command, ...args], { env: { PATH: process.env.PATH, ...given }, input });
      started.push(running);
      return running;
    }
    /** Runs the program, which prints one line of JSON. */
    async function run(args: readonly string[], env?: Record<string, string>, input?: string) {
      const { input: line } = await start(args, env, input).printed(/\n/);
      return JSON.parse(line);
    }

    for (const scenario of ['rate_limited', 'unavailable'] as const) {
      it(`a creation that is refused with Retry-After, as in ${scenario}, is repeated and creates one ride`, async () => {
        const { rideId } = await run(['create', 'booking-1', scenario]);
        expect(await rides.countDocuments({ keyId: partner.keyId })).to.equal(1);
        expect((await partner.get(`/rides/${rideId}`)).body.reference).to.equal('booking-1');
      });
    }

    it('every try of a creation has the same Idempotency-Key, after lost answers too', async () => {
      const service = await scripted(['cut', { status: 500 }, { status: 201, body: '{"rideId":"ride_1"}' }]);
      expect(await run(['create', 'booking-1'], { BASE: service.url })).to.deep.equal({ rideId: 'ride_1' });
      const keys = service.requests.map(({ headers }) => headers['idempotency-key']);
      expect(keys).to.have.length(3);
      expect(new Set(keys)).to.have.property('size', 1);
      expect(keys[0]).to.match(/^[\w-]{36}$/);
    });

    it('adding a webhook endpoint is not repeated after a lost answer', async () => {
      const service = await scripted(['cut', { status: 201, body: '{}' }]);
      expect(await run(['endpoint'], { BASE: service.url })).to.deep.equal({ name: 'NoAnswerError' });
      expect(service.requests).to.have.length(1);
    });

    it('a repeat waits at least for the time that Retry-After names', async () => {
      const busy = { status: 429, headers: { 'Retry-After': '2' } };
      const service = await scripted([busy, { status: 201, body: '{}' }]);
      await run(['create', 'booking-1'], { BASE: service.url });
      const [first, second] = service.requests.map(({ at }) => at) as [number, number];
      expect(second - first).to.be.at.least(1_990);
    });

    it('a call ends with the error when Retry-After exceeds its time', async () => {
      const service = await scripted([
        { status: 429, headers: { 'Retry-After': '3600', 'X-Service-Error': 'rate_limited' } },
      ]);
      const answer = await run(['create', 'booking-1'], { BASE: service.url });
      expect(answer).to.deep.include({ name: 'ServiceError', status: 429, code: 'rate_limited', isTemporary: true });
      expect(service.requests).to.have.length(1);
    });

    it('a call ends without an answer when its time is over', async () => {
      const service = await scripted([]);
      const answer = await run(['create', 'booking-1'], { BASE: service.url, TRY_SECONDS: '1' });
      expect(answer).to.deep.equal({ name: 'NoAnswerError' });
    });

    it('an error has its code, its fields and the id of the request, and is not repeated', async () => {
      const refused = { name: 'ServiceError', status: 400, code: 'invalid_request', fields: ['fare'] };
      expect(await run(['refuse'])).to.deep.equal({ ...refused, isTemporary: false, hasRequestId: true });
      const wrongKey = await run(['refuse'], { KEY: 'svc_test_wrong' });
      expect(wrongKey).to.deep.include({ status: 401, code: 'unauthorized', fields: [] });
      expect(await run(['refuse'], { KEY: 'svc_test_…' })).to.have.property('error');
    });

    it('no address gets the key unencrypted, and no redirect does', async () => {
      const service = await scripted([{ status: 302, headers: { Location: `${api.url}/v1/rides` } }]);
      expect(await run(['list', '1'], { BASE: service.url })).to.include({ status: 302 });
      expect((await run(['list', '1'], { BASE: 'http://rides.example' })).error).to.match(/must begin with https$/);
    });

    it('the iteration over rides goes through all pages', async () => {
      const references = ['a', 'b', 'c', 'd', 'e'];
      for (const reference of references) await partner.createRide({ reference });
      expect((await run(['list', '2'])).sort()).to.deep.equal(references);
    });

    it('a cancel that is repeated finds its own cancellation, and none by the driver', async () => {
      const { body } = await partner.createRide();
      const cancelled = { success: true, rideId: body.rideId, status: 'cancelled' };
      expect(await run(['cancel', body.rideId])).to.deep.equal(cancelled);
      expect(await run(['cancel', body.rideId])).to.deep.equal(cancelled);
      const { rideId } = await rideIn(api.ctx, 'completed', { by: partner });
      expect(await run(['cancel', rideId])).to.deep.include({ status: 409, code: 'ride_ended' });
    });

    const now = () => Math.floor(Date.now() / 1_000);
    const body = '{"event":"ride.status","rideId":"ride_é"}';
    for (const [what, signature, secrets, isGenuine] of [
      ['a genuine event', () => signatureHeader(secret, body, now()), [secret], true],
      ['an event that the old secret signs', () => signatureHeader(secret, body, now()), ['whsec_new', secret], true],
      ['an event of another secret', () => signatureHeader('whsec_other', body, now()), [secret], false],
      ['an event with another body', () => signatureHeader(secret, `${body} `, now()), [secret], false],
      ['an event of five minutes ago', () => signatureHeader(secret, body, now() - 301), [secret], false],
      ['an event without a signature', () => '', [secret], false],
    ] as const) {
      it(`constructing an event ${isGenuine ? 'accepts' : 'refuses'} ${what}`, async () => {
        const answer = await run(['verify', signature(), ...secrets], {}, body);
        expect(answer).to.deep.equal(isGenuine ? JSON.parse(body) : { name: 'SignatureError' });
      });
    }

    describe('follow', () => {
      const events = eventsOf(20);
      const ids = events.map(({ eventId }) => eventId);
      let port: number;
      let feed: Awaited<ReturnType<typeof startFeed>>;
      beforeEach(async () => {
        port = await freePort();
        feed = await startFeed(events);
      });
      afterEach(() => feed.close());

      /** Starts the program, and resolves once its receiver listens. */
      async function follow(from?: string) {
        const running = start(['follow', ...(from ? [from] : [])], { BASE: feed.url, PORT: String(port) });
        await running.printed(/\n/);
        const printed = (): { eventId: string; position: string }[] =>
          running
            .lines()
            .slice(1)
            .map((line) => JSON.parse(line));
        return {
          running,
          printed,
          printedIds: () => printed().map(({ eventId }) => eventId),
          has: (count: number) => until(async () => printed().length >= count),
        };
      }
      const send = (index: number) => sendWebhook(events[index] as (typeof events)[number], { port, secret });
      const rideOf = (id: string) => id.replace(/_\d+$/, '');
      /** The events of each ride, in the order in which they were printed. */
      const byRide = (found: readonly string[]) =>
        [...new Set(ids.map(rideOf))].map((rideId) => found.filter((id) => rideOf(id) === rideId));

      it('a webhook is yielded before the feed shows its event', async () => {
        const following = await follow();
        for (const index of [0, 1, 2]) expect(await send(index)).to.equal(204);
        await following.has(3);
        expect(following.printedIds()).to.deep.equal(ids.slice(0, 3));
      });

      it('each event comes once, and those of a ride in order, from webhooks that are lost, late and sent twice', async () => {
        const following = await follow();
        for (const index of events.keys()) {
          if (index % 5 !== 0) await send(index % 3 === 0 ? Math.min(index + 2, events.length - 1) : index);
          if (index % 4 === 0) await send(index);
          // The feed shows an event later than its webhook comes.
          if (index % 6 === 0) feed.show(index - 5);
        }
        feed.show(events.length);
        await following.has(events.length);
        expect(byRide(following.printedIds())).to.deep.equal(byRide(ids));
        // Late duplicates change nothing, also those of rides that have ended.
        for (const index of events.keys()) await send(index);
        expect(following.printed()).to.have.length(events.length);
      });

      it('after a crash, the iteration continues from its stored position, without a missing or repeated event', async () => {
        const first = await follow();
        feed.show(17);
        for (const index of [17, 19, 18, 20]) await send(index);
        await first.has(19);
        await first.running.end();
        const second = await follow(first.printed().at(-1)?.position);
        for (const index of events.keys()) await send(index);
        feed.show(events.length);
        await second.has(events.length - first.printed().length);
        expect(byRide([...first.printedIds(), ...second.printedIds()])).to.deep.equal(byRide(ids));
      });

      it('the receiver refuses a webhook with another signature', async () => {
        await follow();
        expect(await sendWebhook(events[0] as (typeof events)[number], { port, secret: 'whsec_other' })).to.equal(400);
      });

      it('the receiver refuses a body without an end', async () => {
        await follow();
        const endless = requestText(['POST /hook HTTP/1.1', 'Host: localhost', 'Content-Length: -1']);
        expect((await rawRequest(`http://127.0.0.1:${port}`, endless)).status).to.be.within(400, 499);
      });
    });
  });
}

type ScriptedAnswer = 'cut' | { status: number; headers?: Record<string, string>; body?: string };

const opened: http.Server[] = [];
afterEach(() => {
  for (const server of opened.splice(0)) server.close().closeAllConnections();
});

/** A service that gives these answers, one after the other, and then cuts each connection. */
async function scripted(answers: readonly ScriptedAnswer[]) {
  const requests: { headers: IncomingHttpHeaders; at: number }[] = [];
  const server = http.createServer(async (request, response) => {
    await text(request);
    const answer = answers[requests.length] ?? 'cut';
    requests.push({ headers: request.headers, at: performance.now() });
    if (answer === 'cut') return void request.socket.destroy();
    response.writeHead(answer.status, { 'Content-Type': 'application/json', ...answer.headers });
    response.end(answer.body ?? '{"error":"refused"}');
  });
  opened.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}
