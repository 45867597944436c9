import { expect } from 'chai';
import { createApp } from '../../api/app.ts';
import { serve } from '../../api/http/serve.ts';
import { waitingPolls } from '../../api/streams/waiting-polls.ts';
import { subscribeToRideChanges } from '../../shared/base/wake.ts';
import { testContext } from '../support/service.ts';
import { testPart } from '../support/test-part.ts';

describe('requests that wait for events', () => {
  it('are limited for each key and for each account, and a 429 names the limit that was reached', async () => {
    const ctx = await testContext();
    const wake = subscribeToRideChanges(ctx);
    const polls = waitingPolls(ctx, wake, { perKey: 2, perAccount: 3 });
    let noteWaiting = () => {};
    const part = testPart({
      async handle(request) {
        const [, accountId = '', keyId = ''] = request.path.slice(1).split('/');
        request.state.caller = { keyId, accountId, mode: 'test' };
        const waiting = polls.wait(request, { keyId, after: null, readUntil: 0 }, 60_000);
        noteWaiting();
        request.body = { mayHaveEvents: await waiting };
      },
      endHeld: () => polls.endAll(),
    });
    const server = await serve(ctx, createApp(ctx, [part]));
    const send = (path: string) => fetch(`http://127.0.0.1:${server.port}/test/${path}`);
    /** Resolves once the request waits or is refused. */
    const sent = async (path: string) => {
      const noted = new Promise<void>((resolve) => {
        noteWaiting = resolve;
      });
      const answer = send(path);
      await noted;
      return { answer };
    };
    const waiting = [];
    for (const path of ['account/one', 'account/one']) waiting.push(await sent(path));
    const ofKey = await send('account/one');
    waiting.push(await sent('account/other'));
    const ofAccount = await send('account/other');
    waiting.push(await sent('another/third'));

    const refusal = 'Too many requests are waiting for events: at most';
    expect([ofKey.status, ofAccount.status]).to.deep.equal([429, 429]);
    expect(await ofKey.json()).to.deep.equal({ error: `${refusal} 2 for each key` });
    expect(await ofAccount.json()).to.deep.equal({ error: `${refusal} 3 for each account` });
    expect(ofAccount.headers.get('retry-after')).to.equal('5');
    polls.endAll();
    for (const { answer } of waiting) expect((await answer).status).to.equal(200);
    await server.close();
    polls.close();
    wake.close();
    await ctx.close();
  });
});
