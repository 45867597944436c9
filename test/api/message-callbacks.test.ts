import { expect } from 'chai';
import { callbackUrl, signatureOf } from '../../shared/messages/callback.ts';
import type { MessageState } from '../../shared/messages/message-kinds.ts';
import { messages } from '../../shared/messages/message-row.ts';
import { optOuts } from '../../shared/messages/numbers.ts';
import { providerToken } from '../support/message-provider.ts';
import { useTestApi } from '../support/service.ts';

describe('callbacks of the provider of text messages', () => {
  const api = useTestApi({
    SMS_URL: `https://AC123:${providerToken}@provider.example/Messages.json`,
    SMS_FROM: '+12025550100',
  });
  const without = useTestApi();
  const _id = 'ride_1:found:passenger';
  beforeEach(async () => {
    await Promise.all([messages.deleteMany({}), optOuts.deleteMany({})]);
  });

  const store = (state: MessageState) =>
    messages.insertOne({
      ...{ _id, rideId: 'ride_1', accountId: 'acct_1', kind: 'found', person: 'passenger', state, number: 'number_1' },
      ...{ createdAt: new Date(), dueAt: new Date() },
    });
  const stored = async () => messages.findOne({ _id });
  function report(parameters: Record<string, string>, { signature, to = _id, base = api.url } = {} as Report) {
    const form = new URLSearchParams({ MessageSid: 'SM1', To: '+12025550143', ...parameters });
    const signed = signature ?? signatureOf(providerToken, callbackUrl(api.ctx.config, to), form);
    return fetch(`${base}/texts/${to}`, { method: 'POST', body: form, headers: { 'X-Twilio-Signature': signed } });
  }
  interface Report {
    signature?: string;
    to?: string;
    base?: string;
  }

  for (const [before, parameters, after, reason] of [
    ['sent', { MessageStatus: 'delivered' }, 'delivered'],
    ['sent', { MessageStatus: 'undelivered', ErrorCode: '30003' }, 'failed', 'error_30003'],
    ['sent', { MessageStatus: 'failed' }, 'failed', 'failed'],
    ['sent', { MessageStatus: 'undelivered', ErrorCode: '21610' }, 'opted_out', '21610'],
    // The report may arrive before the message is recorded as sent.
    ['waiting', { MessageStatus: 'queued' }, 'sent'],
    ['waiting', { MessageStatus: 'delivered' }, 'delivered'],
    // Reports arrive in any order.
    ['delivered', { MessageStatus: 'sent' }, 'delivered'],
    ['delivered', { MessageStatus: 'failed' }, 'delivered'],
    ['failed', { MessageStatus: 'sent' }, 'failed'],
    // An attempt that timed out may have been received.
    ['failed', { MessageStatus: 'delivered' }, 'delivered'],
    ['sent', { MessageStatus: 'unheard of' }, 'sent'],
  ] as [MessageState, Record<string, string>, MessageState, string?][]) {
    it(`a ${before} message is ${after} after ${Object.values(parameters).join(' ')}, also if it is reported twice`, async () => {
      await store(before);
      for (let time = 0; time < 2; time += 1) expect((await report(parameters)).status).to.equal(204);
      expect(await stored()).to.include({ state: after, ...(reason && { reason }) });
      if (after !== before && after !== 'sent') expect(await stored()).not.to.have.any.keys('dueAt', 'claim');
    });
  }

  it('a number that opted out is recorded with the message', async () => {
    await store('sent');
    await report({ MessageStatus: 'failed', ErrorCode: '21610' });
    expect(await optOuts.findOne({})).to.include({ _id: 'number_1', messageId: _id });
  });

  it('an unsigned report, one for another message and a changed one are refused with 403', async () => {
    await store('sent');
    const delivered = { MessageStatus: 'delivered' };
    const form = new URLSearchParams({ MessageSid: 'SM1', To: '+12025550143', ...delivered });
    const ofAnother = signatureOf(providerToken, callbackUrl(api.ctx.config, 'ride_2:found:passenger'), form);
    const changed = signatureOf(providerToken, callbackUrl(api.ctx.config, _id), new URLSearchParams(delivered));
    const otherToken = signatureOf('another', callbackUrl(api.ctx.config, _id), form);
    for (const signature of ['', 'x', ofAnother, changed, otherToken]) {
      expect((await report(delivered, { signature })).status).to.equal(403);
    }
    expect(await stored()).to.include({ state: 'sent' });
  });

  it('the signature is that of the provider: the address and all parameters, sorted by name', () => {
    // The example of Twilio's documentation.
    const url = 'https://example.com/myapp.php?foo=1&bar=2';
    const form = new URLSearchParams({
      ...{
        Digits: '1234',
        To: '+18005551212',
        From: '+14158675310',
        Caller: '+14158675310',
        CallSid: 'CA1234567890ABCDE',
      },
    });
    expect(signatureOf('12345', url, form)).to.equal('L/OH5YylLD5NRKLltdqwSvS0BnU=');
  });

  it('without a provider there are no callbacks, and an unknown message changes nothing', async () => {
    expect((await report({ MessageStatus: 'delivered' }, { base: without.url })).status).to.equal(404);
    expect((await report({ MessageStatus: 'delivered' }, { to: 'ride_2:found:passenger' })).status).to.equal(204);
    expect(await messages.countDocuments({})).to.equal(0);
  });
});
