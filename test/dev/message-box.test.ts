import { expect } from 'chai';
import { createApp } from '../../api/app.ts';
import { serve } from '../../api/http/serve.ts';
import { messageBox } from '../../dev/stack/message-box.tsx';
import { messages } from '../../shared/messages/message-row.ts';
import { storeMessage } from '../../shared/messages/stored-messages.ts';
import { useTestContext } from '../support/service.ts';
import { useStarted } from '../support/use-started.ts';

describe('the message box of the development stack', () => {
  const ctx = useTestContext();
  const server = useStarted(() => serve(ctx, createApp(ctx, [messageBox(ctx)])));
  beforeEach(() => messages.deleteMany({}));
  const box = async (headers = {}) => {
    const answer = await fetch(`http://127.0.0.1:${server.port}/dev/messages`, { headers });
    return { status: answer.status, html: await answer.text() };
  };

  it('shows the text messages, newest first, with links and with escaped markup, only on this machine', async () => {
    expect((await box()).html).to.include('No text message yet');
    for (const [index, text] of ['Old: <b>1</b>', 'New: https://rides.example/track/abc'].entries()) {
      const createdAt = new Date(ctx.now() + index);
      const row = { rideId: 'ride_1', accountId: 'acct_1', kind: 'found', person: 'contact1', createdAt } as const;
      await storeMessage(ctx, { _id: `ride_1:found:${index}`, ...row }, { to: '+12025550143', text });
    }
    const { html } = await box();
    expect(html).to.match(/New: <a href="https:\/\/rides\.example\/track\/abc">.*Old: &lt;b>1/s);
    expect(html).to.include('To contact 1, +12025550143').and.include('waiting');
    const elsewhere = await box({ via: '1.1 proxy' });
    expect(elsewhere.status).to.equal(403);
    expect(elsewhere.html).not.to.include('2025550143');
  });
});
