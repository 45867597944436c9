import { expect } from 'chai';
import { dnsResolver } from '../../../shared/outbound/resolve.ts';
import { type SendResult, send } from '../../../shared/outbound/send.ts';
import { attemptTo } from '../../support/attempt.ts';
import { certificate, type RawReceiver, startReceiver } from '../../support/receiver.ts';
import { type NameServer, type Question, startNameServer } from '../../support/webhook-dns.ts';
import { useNock } from '../../support/webhook-nock.ts';
import { divertOutbound, type Outbound } from '../../support/webhook-outbound.ts';

const PUBLIC = '93.184.216.34';
const OTHER = '2606:4700::1111';
const blocked = { outcome: 'blocked', reason: 'private_address' };
const refused = { outcome: 'failed', reason: 'ECONNREFUSED' };

// A real resolver queries a real name server, but all connections of this process are diverted. A connection to a
// public address is refused before it reaches the kernel. A connection to any other address leads to the listener,
// which counts it.
describe('send: names of private addresses', () => {
  useNock(false);
  let listener: RawReceiver;
  let outbound: Outbound;
  let nameServer: NameServer | undefined;

  beforeEach(async () => {
    listener = await startReceiver({ raw: true, answer: (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n') });
    outbound = divertOutbound((host) => (host === PUBLIC || host === OTHER ? 'refuse' : { port: listener.port }));
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
    ['127.0.0.1 and a public IPv6 address', ['127.0.0.1'], [OTHER]],
    ['127.0.0.1 as the last of many', [PUBLIC, PUBLIC, PUBLIC, PUBLIC, PUBLIC, '127.0.0.1'], []],
    ['0.0.0.0', [PUBLIC, '0.0.0.0'], []],
    ['::', [PUBLIC], ['::']],
    ['127.0.0.1, mapped', [], ['::ffff:127.0.0.1']],
    ['127.0.0.1, by NAT64', [], ['64:ff9b::7f00:1']],
    ['another address of the loopback net', ['127.8.8.8'], []],
    ['a private address', [PUBLIC, '10.0.0.1'], [OTHER]],
    ['cloud metadata', ['169.254.169.254'], ['fd00:ec2::254']],
    ['a cloud metadata address within a public range', ['168.63.129.16'], []],
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
