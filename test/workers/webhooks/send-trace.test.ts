import { expect } from 'chai';
import { send } from '../../../shared/outbound/send.ts';
import { newTrace, traceFields } from '../../../shared/outbound/trace.ts';
import { attemptTo } from '../../support/attempt.ts';
import { certificate, startReceiver } from '../../support/receiver.ts';
import { useNock } from '../../support/webhook-nock.ts';
import { divertOutbound } from '../../support/webhook-outbound.ts';

const partner = { origin: 'https://partner.test' };
const answer = (socket: { end(text: string): unknown }) => socket.end('HTTP/1.1 204 No Content\r\n\r\n');

describe('send: trace', () => {
  useNock(false);

  it('the trace has the duration of each phase, including TLS', async () => {
    const receiver = await startReceiver({ raw: true, answer, tls: {} });
    const trace = newTrace();
    const result = await send(attemptTo(receiver, { tls: { ca: certificate } }), trace);
    await receiver.close();
    expect(result.outcome).to.equal('delivered');
    const { phases = {}, address } = traceFields(trace, 'delivered');
    expect(Object.keys(phases)).to.deep.equal(['dns', 'connect', 'tls', 'write', 'answer']);
    expect(address).to.be.oneOf(['127.0.0.1', '::1']);
  });

  it('the trace has the first address if all addresses refuse the connection', async () => {
    const outbound = divertOutbound(() => 'refuse');
    const trace = newTrace();
    try {
      const resolver = async () => ['93.184.216.34', '93.184.216.35'];
      expect(await send(attemptTo(partner, { resolver }), trace)).to.include({ reason: 'ECONNREFUSED' });
    } finally {
      outbound.restore();
    }
    expect(traceFields(trace, 'failed').address).to.equal('93.184.216.34');
  });
});
