import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { expect } from 'chai';
import { dnsResolver, type Resolver } from '../../../shared/outbound/resolve.ts';
import { send } from '../../../shared/outbound/send.ts';
import { attemptTo } from '../../support/attempt.ts';
import { certificate, type RawReceiver, startReceiver } from '../../support/receiver.ts';
import { startNameServer } from '../../support/webhook-dns.ts';
import { useNock } from '../../support/webhook-nock.ts';
import { divertOutbound, type Outbound, type Route } from '../../support/webhook-outbound.ts';

const PUBLIC = '93.184.216.34';
const PUBLIC_V6 = '2606:4700::1111';

describe('send: allowed addresses', () => {
  useNock(false);
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
