import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { pagesOf } from '../../dev/listen/feed.ts';
import { eventLine, forward } from '../../dev/listen/forward.ts';
import { readArguments as readArgumentsOf } from '../../dev/listen/listen-arguments.ts';
import { nodeCommand } from '../../dev/servers/processes.ts';
import { newApiKey } from '../../shared/keys/key-format.ts';
import { type NewKey, revokeKey } from '../../shared/keys/manage-keys.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { verifySignature } from '../../shared/webhooks/sign.ts';
import type { Client } from '../support/client.ts';
import { ageEvents, readFeedOf } from '../support/feed.ts';
import { useFolder } from '../support/folder.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { newRide, offerOn } from '../support/rides.ts';
import { startTestApi, useTestApi } from '../support/service.ts';
import { type StartedProgram, startProgram } from '../support/started-program.ts';
import { storedRide } from '../support/stored-rides.ts';

const secret = 'whsec_of_this_test';

const readArguments = (argv: string[], env: NodeJS.ProcessEnv) =>
  readArgumentsOf(argv, env, { invocation: 'npm run listen --', defaultUrl: 'the newest npm run dev' });

describe('npm run listen', () => {
  const api = useTestApi();
  const folder = useFolder();
  let receiver: Receiver;
  let partner: Client & NewKey;
  let listener: StartedProgram;

  beforeEach(async () => {
    receiver = await startReceiver();
    partner = await api.partner('test');
  });
  afterEach(async () => {
    await listener.end();
    await receiver.close();
  });

  /**
   * Starts the command and waits until it listens. Key and secret are environment variables, because process lists show
   * arguments.
   */
  async function listen(
    { signsWith = '', inFolder }: { signsWith?: string; inFolder?: string },
    ...args: string[]
  ): Promise<void> {
    const given = ['--forward', receiver.url, '--url', `${api.url}/v1`, ...args];
    const command = inFolder ? [process.execPath, 'listen.mjs', ...given] : nodeCommand('dev/listen.ts', given);
    const env = { ...process.env, RIDES_KEY: partner.key, RIDES_SECRET: signsWith };
    listener = startProgram(command, { env, cwd: inFolder });
    await listener.printed(/^ {2}Begins.*\n/m);
  }
  /** Creates a ride with one event that is old enough for the feed to show it at once. */
  async function rideWithOffer(byMs?: number): Promise<string> {
    const rideId = await newRide(api.ctx, { keyId: partner.keyId, mode: 'test', scenario: 'no_offers' });
    await offerOn(api.ctx, rideId);
    await ageEvents(rideId, byMs);
    return rideId;
  }

  it('the command forwards only new events, with body, headers and signature as in a real delivery', async () => {
    await rideWithOffer();
    await listen({ signsWith: secret });
    expect(listener.output()).to.include(receiver.url).and.not.include(partner.key).and.not.include(secret);
    const rideId = await rideWithOffer(2_900);
    const [{ headers, raw }] = (await receiver.received(1)) as [Receiver['receipts'][number]];
    const [event] = (await storedRide(rideId)).events;
    expect(raw).to.equal(event?.body);
    expect(headers).to.include({
      'content-type': 'application/json',
      'x-service-event': 'offer.received',
      'x-service-sequence': '1',
      'x-service-event-id': `evt_${rideId.replace('ride_', '')}_1`,
    });
    expect(verifySignature(secret, String(headers['x-service-signature']), raw, Date.now() / 1_000)).to.equal(true);
    const [line] = await listener.printed(/.*event 1 offer\.received.*(?=\n)/);
    expect(line).to.match(/^\d\d:\d\d:\d\d {2}\w{6} {2}event 1 offer\.received +200 {2}\d+ ms$/);
    for (const each of listener.lines()) expect(each.length, each).to.be.at.most(80);
    expect(receiver.receipts).to.have.length(1);
  });

  it('the served listen.mjs needs only Node, has the documented checksum, and forwards an event', async () => {
    const read = async (file: string) => (await fetch(`${api.url}/docs/${file}`)).text();
    const [program, page] = await Promise.all([read('listen.mjs'), read('webhooks.md')]);
    expect(page).to.include(`\`${createHash('sha256').update(program).digest('hex')}\``);
    await writeFile(path.join(folder.path, 'listen.mjs'), program);
    await listen({ signsWith: secret, inFolder: folder.path });
    await rideWithOffer(2_900);
    const [{ headers, raw }] = (await receiver.received(1)) as [Receiver['receipts'][number]];
    expect(verifySignature(secret, String(headers['x-service-signature']), raw, Date.now() / 1_000)).to.equal(true);
    await listener.printed(/event 1 offer\.received +200/);
    expect(await listener.end('SIGTERM')).to.equal(0);
  });

  it('the command begins with the oldest event on request, and prints the next cursor on SIGTERM', async () => {
    const rides = [await rideWithOffer(), await rideWithOffer()];
    await listen({}, '--after', 'first');
    const [, made = ''] = await listener.printed(/Signing secret {2}(whsec_\w+), for this run/);
    const receipts = await receiver.received(2);
    expect(receipts.map(({ body }) => body.rideId)).to.deep.equal(rides);
    const signature = String(receipts[0]?.headers['x-service-signature']);
    expect(verifySignature(made, signature, receipts[0]?.raw ?? '', Date.now() / 1_000)).to.equal(true);
    await listener.printed(new RegExp(`${rides[1]?.slice(-6)}  event 1`));
    expect(await listener.end('SIGTERM')).to.equal(0);
    const [, cursor = ''] = /to resume from here: --after (cur_\w+)/.exec(listener.errors()) ?? [];
    const more = await rideWithOffer(5_000);
    await listen({}, '--after', cursor);
    expect((await receiver.received(3)).map(({ body }) => body.rideId)).to.deep.equal([...rides, more]);
    expect(await listener.end('SIGINT')).to.equal(0);
  });

  it('the command resumes after an outage of the service, and neither misses nor repeats an event', async () => {
    await listen({ signsWith: secret });
    const rideId = await rideWithOffer(2_900);
    await receiver.received(1);
    const { port } = new URL(api.url);
    await api.close();
    Object.assign(api, await startTestApi({ PORT: port }));
    const { offerId } = await offerOn(api.ctx, rideId);
    await applyAction(api.ctx, rideId, { action: 'accept', offerId }, 'anyone');
    await ageEvents(rideId, 2_000);
    const receipts = await receiver.received(3);
    expect(receipts.map(({ body }) => body.status ?? body.event)).to.deep.equal([
      'offer.received',
      'offer.received',
      'driver_arriving',
    ]);
    expect(receipts.map(({ headers }) => headers['x-service-sequence'])).to.deep.equal(['1', '2', '3']);
    expect(await readFeedOf(partner)).to.have.length(3);
  });

  it('the command keeps the events of a receiver that is not running, and says so', async () => {
    const { port } = new URL(receiver.origin);
    await receiver.close();
    await listen({ signsWith: secret });
    await rideWithOffer(2_900);
    await listener.printed(/the receiver does not answer \(ECONNREFUSED\): its events wait/);
    receiver = await startReceiver({ port: Number(port) });
    await receiver.received(1);
    await listener.printed(/event 1 offer\.received +200/);
  });

  it('the command says that it ignores HTTPS_PROXY', async () => {
    process.env.HTTPS_PROXY = 'http://127.0.0.1:9';
    await listen({ signsWith: secret }).finally(() => delete process.env.HTTPS_PROXY);
    expect(listener.output()).to.match(/HTTPS_PROXY is set, but is not used/);
  });

  it('the command reports a revoked key, and ends with exit code 1', async () => {
    await listen({ signsWith: secret });
    await revokeKey(partner.keyId, 'anyone');
    await rideWithOffer(2_900);
    expect(await listener.ended).to.equal(1);
    expect(listener.errors()).to.match(/^listen: the service answers 401: Missing or invalid API key$/m);
    expect(receiver.receipts).to.deep.equal([]);
  });
});

describe('the output of npm run listen', () => {
  const event = {
    eventId: 'evt_1',
    rideId: 'ride_000000aB3xYz',
    seq: 12,
    event: 'ride.status' as const,
    at: 1_700_000_000_000,
    body: { event: 'ride.status', status: 'driver_arriving' },
  };
  const never = new AbortController().signal;
  const lineFor = async (url: string, body: object | null = event.body) => {
    const changed = { ...event, body: body as typeof event.body | null };
    return eventLine(changed, await forward(changed, { url: new URL(url), secret }, never));
  };

  it('the output shows an error status, an unfollowed redirect, or the reason of a failed connection', async () => {
    const refusing = await startReceiver({ answer: (response) => void response.writeHead(500).end('no') });
    const elsewhere = { location: 'http://127.0.0.1:9/' };
    const moved = await startReceiver({ answer: (response) => void response.writeHead(302, elsewhere).end() });
    expect(await lineFor(refusing.url)).to.match(/aB3xYz {2}event 12 driver_arriving +500 {2}\d+ ms$/);
    expect(await lineFor(moved.url)).to.match(/ 302 {2}\d+ ms$/);
    await Promise.all([refusing.close(), moved.close()]);
    expect(await lineFor(moved.url)).to.match(/not delivered: ECONNREFUSED$/);
  });

  it('an event reaches a receiver on a port that browsers refuse, at an address with a password', async () => {
    const guarded = await startReceiver({ port: 10_080 });
    expect(await lineFor(guarded.url.replace('//', '//desk:secret@'))).to.match(/ 200 {2}\d+ ms$/);
    expect(guarded.receipts[0]?.headers.authorization).to.equal(`Basic ${btoa('desk:secret')}`);
    await guarded.close();
  });

  it('the output says that an event with an erased body is not sent', async () => {
    expect(await lineFor('http://127.0.0.1:9/', null)).to.match(/event 12 ride\.status +not sent: its body is erased$/);
  });

  it('the output contains no control characters from the service', async () => {
    const text = 'a\u001b[2Jb';
    const body = JSON.stringify({ error: text });
    const head = `HTTP/1.1 401 Unauthorized\r\nContent-Length: ${body.length}\r\n\r\n`;
    const service = await startReceiver({ raw: true, answer: (socket) => void socket.end(head + body) });
    const feed = { url: service.origin, key: 'svc_test_x', after: 'now', onTrouble() {} };
    const refusal = await pagesOf(feed, never).next().catch(String);
    await service.close();
    for (const line of [refusal, eventLine({ ...event, body: { status: text } }, null)])
      expect(line).to.include('a?[2Jb');
  });
});

describe('the arguments of npm run listen', () => {
  const key = 'svc_test_0000000000000000000000000000000000000';
  const wrong: [args: string[], problem: RegExp][] = [
    [[], /^RIDES_KEY is not set, and --key is missing$/],
    [['--key', key], /^RIDES_KEY and --key must be a whole key/],
    [['--key', 'svc_test_...'], /^RIDES_KEY and --key must be a whole key/],
    [['--listen'], /unknown option '--listen'/],
  ];
  for (const [args, problem] of wrong) {
    it(`these arguments are refused: ${args.join(' ') || 'none'}`, () => {
      expect(() => readArguments(args, {})).to.throw(problem);
    });
  }

  it('a refusal names the invalid option, and an address is accepted with or without /v1', () => {
    const good = newApiKey('test');
    const read = (...args: string[]) => readArguments(['--key', good, ...args], {});
    const to = ['--forward', 'http://localhost:3000/hook'];
    expect(() => read()).to.throw(/^--forward is missing$/);
    expect(() => read('--forward', 'localhost:3000')).to.throw(/^--forward must be an address/);
    expect(() => read(...to, '--secret', 'hush')).to.throw(/^RIDES_SECRET and --secret must begin with whsec_$/);
    expect(() => read(...to, '--after', 'yesterday')).to.throw(/^--after must be first/);
    expect(() => read(...to, '--url', 'ftp://x')).to.throw(/^--url must be an address/);
    for (const base of ['', '/', '/v1', '/v1/', '/api/v1']) {
      expect(read(...to, '--url', `https://rides.example${base}`).url).to.equal('https://rides.example');
    }
    expect(read(...to))
      .to.include({ after: 'now', isNewSecret: true })
      .and.not.have.property('url');
  });

  it('key and secret come from the environment unless the options contain them', () => {
    const [given, other] = [newApiKey('test'), newApiKey('live')];
    const to = ['--forward', 'http://localhost:3000/hook'];
    const env = { RIDES_KEY: given, RIDES_SECRET: 'whsec_from_the_environment' };
    expect(readArguments(to, env)).to.include({ key: given, secret: env.RIDES_SECRET, isNewSecret: false });
    const options = [...to, '--key', other, '--secret', secret];
    expect(readArguments(options, env)).to.include({ key: other, secret });
    expect(readArguments(to, { RIDES_KEY: given, RIDES_SECRET: '' })).to.include({ isNewSecret: true });
    for (const wrongKey of ['svc_test_CANARY', '']) {
      expect(() => readArguments(to, { RIDES_KEY: wrongKey }))
        .to.throw(/^RIDES_KEY/)
        .and.not.match(/CANARY/);
    }
    expect(() => readArguments(to, { ...env, RIDES_SECRET: 'CANARY' }))
      .to.throw(/^RIDES_SECRET/)
      .and.not.match(/CANARY/);
  });

  it('plain http, which exposes the key, is allowed only to this machine', () => {
    const read = (url: string) =>
      readArguments(['--forward', 'http://localhost:3000/hook', '--url', url], { RIDES_KEY: newApiKey('test') }).url;
    for (const url of ['http://localhost:4100', 'http://127.0.0.1:4100', 'http://127.8.9.1', 'http://[::1]:4100']) {
      expect(read(url)).to.equal(url);
    }
    expect(read('https://10.0.0.1')).to.equal('https://10.0.0.1');
    const elsewhere = [
      'rides.example',
      '10.0.0.1',
      '[2001:db8::1]',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
    ];
    for (const host of [...elsewhere, '127.0.0.1@evil.example', '0.0.0.0']) {
      expect(() => read(`http://${host}`), host).to.throw(
        /^--url must be https, except for an address of this machine/,
      );
    }
  });
});
