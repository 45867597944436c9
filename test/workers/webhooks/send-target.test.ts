import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { expect } from 'chai';
import { dnsResolver, type Resolver } from '../../../shared/outbound/resolve.ts';
import { type SendResult, send } from '../../../shared/outbound/send.ts';
import { attemptTo } from '../../support/attempt.ts';
import { certificate, type RawReceiver, startReceiver } from '../../support/receiver.ts';
import { type NameServer, type Question, startNameServer } from '../../support/webhook-dns.ts';
import { divertOutbound, type Outbound, type Route } from '../../support/webhook-outbound.ts';

const PUBLIC = '93.184.216.34';
const PUBLIC_V6 = '2606:4700::1111';

describe('send: allowed addresses', () => {
  let receiver: RawReceiver;
  let outbound: Outbound;
  let route: (host: string) => Route;

  beforeEach(async () => {
    receiver = await startReceiver({ raw: true, answer: (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n') });
    // All connections lead to the receiver, which counts the ones that are not blocked.
    route = () => ({ port: receiver.port });
    outbound = divertOutbound((host) => route(host));
  });

  afterEach(async () => {
    outbound.restore();
    await receiver.close();
  });

  const sendTo = (url: string, resolver: Resolver, localTargets: string[] = []) =>
    send(attemptTo({ origin: url }, { url, localTargets, resolver, tls: { ca: certificate } }));

  for (const url of [
    'http://partner.test/',
    'https://127.0.0.1/',
    'https://localhost/',
    'https://u:p@partner.test/',
    '',
  ]) {
    it(`a URL that is not allowed is not even resolved: ${JSON.stringify(url)}`, async () => {
      const resolver = () => Promise.reject(new Error('the resolver was called'));
      expect(await sendTo(url, resolver)).to.include({ outcome: 'blocked', reason: 'target_url' });
      expect(outbound.dialled).to.deep.equal([]);
    });
  }

  it('nothing is written to a connection whose actual address is private', async () => {
    const result = await sendTo('https://partner.test/', async () => [PUBLIC]);
    expect(result).to.include({ outcome: 'blocked', reason: 'private_address' });
    expect(outbound.dialled).to.deep.equal([PUBLIC]);
    expect(receiver.received()).to.equal('');
  });

  for (const synthesised of ['64:ff9b::5db8:d822', '64:ff9b:1::5db8:d822', '64:ff9b:1:5db8:d8:2200::']) {
    it(`a name server that adds ${synthesised} to a public address does not block it (DNS64)`, async () => {
      route = () => 'refuse';
      for (const addresses of [[PUBLIC, synthesised], [synthesised]]) {
        const result = await sendTo('https://partner.test/', async () => addresses);
        expect(result).to.include({ outcome: 'failed', reason: 'ECONNREFUSED' });
      }
      expect(outbound.dialled).to.deep.equal([PUBLIC, PUBLIC]);
    });
  }

  for (const synthesised of [
    '64:ff9b::7f00:1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1:7f00:0:100::',
    '64:ff9b:1:1:2:3:4:5',
  ]) {
    it(`${synthesised} blocks a target: the IPv4 address inside is private or unknown`, async () => {
      const result = await sendTo('https://partner.test/', async () => [PUBLIC, synthesised]);
      expect(result).to.include({ outcome: 'blocked', reason: 'private_address' });
      expect(outbound.dialled).to.deep.equal([]);
    });
  }

  it('if an address refuses the connection, the next one is tried, up to the last one', async () => {
    route = () => 'refuse';
    const addresses = [PUBLIC, PUBLIC_V6, '93.184.216.35', '93.184.216.36', '93.184.216.37'];
    const result = await sendTo('https://partner.test/', async () => addresses);
    expect(result).to.include({ outcome: 'failed', reason: 'ECONNREFUSED' });
    expect(outbound.dialled).to.deep.equal(addresses);

    const last = addresses.at(-1);
    route = (host) => (host === last ? { port: receiver.port } : 'refuse');
    const local = ['http://partner.test'];
    const second = await sendTo('http://partner.test/', async () => addresses, local);
    expect(second).to.include({ outcome: 'delivered' });
  });

  it('an attempt fails with the reason ENODATA if the name has no addresses', async () => {
    const nameServer = await startNameServer(() => []);
    const result = await sendTo('https://partner.test/', dnsResolver([nameServer.address]));
    await nameServer.close();
    expect(result).to.include({ outcome: 'failed', reason: 'ENODATA' });
    expect(await sendTo('https://partner.test/', async () => [])).to.include({ outcome: 'failed', reason: 'ENODATA' });
  });

  for (const code of ['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL', 'EAGAIN']) {
    it(`a local fault on connecting postpones the attempt (${code})`, async () => {
      route = () => ({ fails: code });
      expect(await sendTo('https://partner.test/', async () => [PUBLIC])).to.include({
        outcome: 'unable',
        reason: code,
      });
      // The attempt is postponed even if another address refuses, because the one with the local fault might have
      // accepted.
      route = (host) => (host === PUBLIC ? 'refuse' : { fails: code });
      const second = await sendTo('https://partner.test/', async () => [PUBLIC, '93.184.216.35']);
      expect(second).to.include({ outcome: 'unable', reason: code });
    });
  }

  it('an attempt is postponed if no name server can be reached', async () => {
    const nameServer = await startNameServer(() => []);
    await nameServer.close();
    const result = await sendTo('https://partner.test/', dnsResolver([nameServer.address]));
    expect(result).to.include({ outcome: 'unable', reason: 'ECONNREFUSED' });
    expect(outbound.dialled).to.deep.equal([]);
  });

  it('an attempt at an IPv6 address fails if this host has no IPv6 address', async () => {
    const { networkInterfaces } = os;
    os.networkInterfaces = () => ({});
    syncBuiltinESMExports();
    try {
      route = () => ({ fails: 'EADDRNOTAVAIL' });
      const result = await sendTo('https://partner.test/', async () => [PUBLIC_V6]);
      expect(result).to.include({ outcome: 'failed', reason: 'EADDRNOTAVAIL' });
    } finally {
      os.networkInterfaces = networkInterfaces;
      syncBuiltinESMExports();
    }
  });

  it('if the name servers never answer AAAA queries, the A records are used', async () => {
    const nameServer = await startNameServer((question) => (question === 'A' ? [PUBLIC] : null));
    const resolver = dnsResolver([nameServer.address]);
    expect(await resolver('partner.test', new AbortController().signal)).to.deep.equal([PUBLIC]);
    await nameServer.close();
  });

  it('a local target is called by its address or as localhost, without DNS', async () => {
    const resolver = () => Promise.reject(new Error('the resolver was called'));
    for (const origin of [receiver.origin, `http://localhost:${receiver.port}`]) {
      expect(await sendTo(origin, resolver, [origin]), origin).to.include({ outcome: 'delivered' });
    }
  });

  it('a local target allows no other port of the same host', async () => {
    const neighbour = `http://127.0.0.1:${receiver.port + 1}`;
    const result = await sendTo(receiver.origin, async () => [], [neighbour]);
    expect(result).to.include({ outcome: 'blocked', reason: 'target_url' });
    expect(receiver.connections).to.have.length(0);
  });
});

describe('send: network faults', () => {
  let receiver: RawReceiver;
  let outbound: Outbound;
  const { now } = performance;
  let laterMs = 0;

  beforeEach(async () => {
    receiver = await startReceiver({
      raw: true,
      tls: {},
      answer: (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'),
    });
    // Advances the clock, so that connections of earlier tests do not count as recent.
    laterMs += 60_000;
    performance.now = () => laterMs + now.call(performance);
  });
  afterEach(async () => {
    outbound.restore();
    performance.now = now;
    await receiver.close();
  });

  const divert = (route: (host: string) => Route, options?: { hasRoute?: boolean }) => {
    outbound = divertOutbound(route, options);
  };
  const toReceiver = (): Route => ({ port: receiver.port });
  const error = (code: string) => Object.assign(new Error(code), { code, syscall: 'queryA' });
  const sendTo = (url: string, resolver: Resolver, timeoutMs = 30_000) =>
    send(attemptTo({ origin: url }, { url, localTargets: [], resolver, tls: { ca: certificate }, timeoutMs }));

  /**
   * Creates a resolver that answers queries for the partner's name with `partner`, and for all other names with
   * `others`.
   */
  const names =
    (partner: () => Promise<string[]>, others: () => Promise<string[]>): Resolver =>
    (name) =>
      name === 'partner.test' ? partner() : others();
  const unknown = () => Promise.reject(error('ENOTFOUND'));
  const noAnswer = () => new Promise<string[]>(() => {});

  for (const code of ['ENETUNREACH', 'EHOSTUNREACH', 'EACCES', 'EPERM', 'EAFNOSUPPORT']) {
    it(`an attempt is postponed after ${code} if the host has no route, even if a name server answers`, async () => {
      divert(() => ({ fails: code }), { hasRoute: false });
      const resolver = names(async () => [PUBLIC], unknown);
      expect(await sendTo('https://partner.test/', resolver)).to.include({ outcome: 'unable', reason: code });
    });
  }

  it('an attempt is postponed after ENETUNREACH if the host has a route but no name server answers', async () => {
    divert(() => ({ fails: 'ENETUNREACH' }));
    const resolver = names(
      async () => [PUBLIC],
      () => Promise.reject(error('ESERVFAIL')),
    );
    expect(await sendTo('https://partner.test/', resolver)).to.include({ outcome: 'unable', reason: 'ENETUNREACH' });
  });

  it('an attempt fails if the receiver has only IPv6 and this host only IPv4', async () => {
    divert(() => ({ fails: 'ENETUNREACH' }));
    const resolver = names(async () => [PUBLIC_V6], unknown);
    expect(await sendTo('https://partner.test/', resolver)).to.include({ outcome: 'failed', reason: 'ENETUNREACH' });
  });

  it("an attempt fails if the receiver's other address refuses the connection", async () => {
    divert((host) => (host === PUBLIC ? 'refuse' : { fails: 'ENETUNREACH' }), { hasRoute: false });
    const resolver = names(async () => [PUBLIC_V6, PUBLIC], noAnswer);
    expect(await sendTo('https://partner.test/', resolver)).to.include({ outcome: 'failed', reason: 'ECONNREFUSED' });
  });

  for (const code of ['ESERVFAIL', 'EREFUSED', 'ETIMEOUT']) {
    it(`an attempt is postponed if the name servers answer ${code} for all names`, async () => {
      divert(toReceiver);
      const fails = () => Promise.reject(error(code));
      const result = await sendTo('https://partner.test/', names(fails, fails));
      expect(result).to.include({ outcome: 'unable', reason: code });
    });

    it(`an attempt fails if only the receiver's name servers cause ${code}`, async () => {
      divert(toReceiver);
      const result = await sendTo(
        'https://partner.test/',
        names(() => Promise.reject(error(code)), unknown),
      );
      expect(result).to.include({ outcome: 'failed', reason: code });
    });
  }

  it('an attempt is postponed if no name server answers within the time limit', async () => {
    divert(toReceiver);
    const silent = names(noAnswer, () => Promise.reject(error('ETIMEOUT')));
    expect(await sendTo('https://partner.test/', silent, 50)).to.include({ outcome: 'unable', reason: 'ETIMEOUT' });
  });

  it('the result is known at the time limit, even if the probe of the name servers is not answered', async () => {
    divert(toReceiver);
    const { durationMs, ...result } = await sendTo('https://partner.test/', names(noAnswer, noAnswer), 50);
    expect(result).to.include({ outcome: 'unable', reason: 'ETIMEOUT' });
    // If the probe started only at the time limit, the result would take 2 s more.
    expect(durationMs).to.be.below(2_000);
  });

  it("an attempt times out if only the receiver's name servers are silent", async () => {
    divert(toReceiver);
    const silent = names(noAnswer, unknown);
    expect(await sendTo('https://partner.test/', silent, 50)).to.include({ outcome: 'timeout', reason: 'dns' });
  });

  it('an attempt fails with ENETUNREACH if another receiver was reached', async () => {
    divert((host) => (host === PUBLIC_V6 ? { fails: 'ENETUNREACH' } : toReceiver()), { hasRoute: false });
    const resolver: Resolver = async (name) => [name === 'partner.test' ? PUBLIC_V6 : PUBLIC];
    await sendTo('https://other.test/', resolver);
    expect(await sendTo('https://partner.test/', resolver)).to.include({ outcome: 'failed', reason: 'ENETUNREACH' });
  });

  it('an attempt is postponed even if the same receiver was reached a moment before', async () => {
    let isAway = false;
    divert(() => (isAway ? { fails: 'ENETUNREACH' } : toReceiver()), { hasRoute: false });
    const resolver: Resolver = async () => [PUBLIC];
    await sendTo('https://partner.test/', resolver);
    isAway = true;
    expect(await sendTo('https://partner.test/', resolver)).to.include({ outcome: 'unable', reason: 'ENETUNREACH' });
  });
});

const blocked = { outcome: 'blocked', reason: 'private_address' };
const refused = { outcome: 'failed', reason: 'ECONNREFUSED' };

// A real resolver queries a real name server, but all connections of this process are diverted. A connection to a
// public address is refused before it reaches the kernel. A connection to any other address leads to the listener,
// which counts it.
describe('send: names of private addresses', () => {
  let listener: RawReceiver;
  let outbound: Outbound;
  let nameServer: NameServer | undefined;

  beforeEach(async () => {
    listener = await startReceiver({ raw: true, answer: (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n') });
    outbound = divertOutbound((host) => (host === PUBLIC || host === PUBLIC_V6 ? 'refuse' : { port: listener.port }));
  });

  afterEach(async () => {
    outbound.restore();
    await nameServer?.close();
    await listener.close();
  });

  async function sendWhere(answers: (question: Question) => string[], times = 1): Promise<SendResult[]> {
    nameServer = await startNameServer(answers);
    const url = `https://partner.example:${listener.port}/`;
    const resolver = dnsResolver([nameServer.address]);
    const attempt = attemptTo({ origin: url }, { url, localTargets: [], resolver, tls: { ca: certificate } });
    const results: SendResult[] = [];
    for (let time = 0; time < times; time++) results.push(await send(attempt));
    return results;
  }

  it('a private address is not called if a later DNS answer differs from the first one (rebinding)', async () => {
    let asked = 0;
    const results = await sendWhere((question) => (question === 'A' ? [asked++ ? '127.0.0.1' : PUBLIC] : []), 5);
    expect(results[0]).to.include(refused);
    for (const result of results.slice(1)) expect(result).to.include(blocked);
    expect(outbound.dialled).to.deep.equal([PUBLIC]);
    expect(listener.connections).to.have.length(0);
  });

  const names: [string, string[], string[]][] = [
    ['only 127.0.0.1', ['127.0.0.1'], []],
    ['only ::1', [], ['::1']],
    ['a public address and ::1', [PUBLIC], ['::1']],
    ['127.0.0.1 and a public IPv6 address', ['127.0.0.1'], [PUBLIC_V6]],
    ['127.0.0.1 as the last of many', [PUBLIC, PUBLIC, PUBLIC, PUBLIC, PUBLIC, '127.0.0.1'], []],
    ['127.0.0.1, mapped', [], ['::ffff:127.0.0.1']],
    ['a private address', [PUBLIC, '10.0.0.1'], [PUBLIC_V6]],
    ['localhost by another name', ['localhost', '127.0.0.1'], ['localhost', '::1']],
    ['127.0.0.1 by three other names', ['a.partner.example', 'b.example', 'c.example', PUBLIC, '127.0.0.1'], []],
  ];
  for (const [what, a, aaaa] of names) {
    it(`no address is called if the DNS answer is ${what}`, async () => {
      const [result] = await sendWhere((question) => (question === 'A' ? a : aaaa));
      expect(result).to.include(blocked);
      expect(outbound.dialled).to.deep.equal([]);
      expect(listener.connections).to.have.length(0);
    });
  }

  it('the listener counts a call to a local target whose name leads over aliases to 127.0.0.1', async () => {
    nameServer = await startNameServer((question) => (question === 'A' ? ['a.example', 'b.example', '127.0.0.1'] : []));
    const attempt = attemptTo({ origin: `http://partner.example:${listener.port}` });
    const result = await send({ ...attempt, resolver: dnsResolver([nameServer.address]) });
    expect(result).to.include({ outcome: 'delivered' });
    expect(listener.connections).to.have.length(1);
  });
});
