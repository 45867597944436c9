import { expect } from 'chai';
import type { Resolver } from '../../../shared/outbound/resolve.ts';
import { send } from '../../../shared/outbound/send.ts';
import { attemptTo } from '../../support/attempt.ts';
import { certificate, type RawReceiver, startReceiver } from '../../support/receiver.ts';
import { useNock } from '../../support/webhook-nock.ts';
import { divertOutbound, type Outbound, type Route } from '../../support/webhook-outbound.ts';

const address = '93.184.216.34';
const addressV6 = '2606:4700::1111';

describe('send: network faults', () => {
  useNock(false);
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
      const resolver = names(async () => [address], unknown);
      expect(await sendTo('https://partner.test/', resolver)).to.include({ outcome: 'unable', reason: code });
    });
  }

  it('an attempt is postponed after ENETUNREACH if the host has a route but no name server answers', async () => {
    divert(() => ({ fails: 'ENETUNREACH' }));
    const resolver = names(
      async () => [address],
      () => Promise.reject(error('ESERVFAIL')),
    );
    expect(await sendTo('https://partner.test/', resolver)).to.include({ outcome: 'unable', reason: 'ENETUNREACH' });
  });

  it('an attempt fails if the receiver has only IPv6 and this host only IPv4', async () => {
    divert(() => ({ fails: 'ENETUNREACH' }));
    const resolver = names(async () => [addressV6], unknown);
    expect(await sendTo('https://partner.test/', resolver)).to.include({ outcome: 'failed', reason: 'ENETUNREACH' });
  });

  it("an attempt fails if the receiver's other address refuses the connection", async () => {
    divert((host) => (host === address ? 'refuse' : { fails: 'ENETUNREACH' }), { hasRoute: false });
    const resolver = names(async () => [addressV6, address], noAnswer);
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
    divert((host) => (host === addressV6 ? { fails: 'ENETUNREACH' } : toReceiver()), { hasRoute: false });
    const resolver: Resolver = async (name) => [name === 'partner.test' ? addressV6 : address];
    await sendTo('https://other.test/', resolver);
    expect(await sendTo('https://partner.test/', resolver)).to.include({ outcome: 'failed', reason: 'ENETUNREACH' });
  });

  it('an attempt is postponed even if the same receiver was reached a moment before', async () => {
    let isAway = false;
    divert(() => (isAway ? { fails: 'ENETUNREACH' } : toReceiver()), { hasRoute: false });
    const resolver: Resolver = async () => [address];
    await sendTo('https://partner.test/', resolver);
    isAway = true;
    expect(await sendTo('https://partner.test/', resolver)).to.include({ outcome: 'unable', reason: 'ENETUNREACH' });
  });
});
