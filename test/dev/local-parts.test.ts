import { once } from 'node:events';
import http from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { createApp } from '../../api/app.ts';
import { serve } from '../../api/http/serve.ts';
import { mailBox } from '../../dev/stack/mail-box.tsx';
import { messageBox } from '../../dev/stack/message-box.tsx';
import { receiver } from '../../dev/stack/receiver.ts';
import { newAccountId } from '../../shared/base/ids.ts';
import { createKey } from '../../shared/keys/manage-keys.ts';
import { sendMail } from '../../shared/mail/mail.ts';
import { mails } from '../../shared/mail/mail-row.ts';
import { messages } from '../../shared/messages/message-row.ts';
import { storeMessage } from '../../shared/messages/stored-messages.ts';
import { signatureHeader } from '../../shared/webhooks/sign.ts';
import { useTestContext } from '../support/service.ts';
import { useStarted } from '../support/use-started.ts';

describe('the parts that only the development stack has', () => {
  const ctx = useTestContext();
  const server = useStarted(() => serve(ctx, createApp(ctx, [mailBox(ctx), messageBox(ctx), receiver(ctx)])));
  const without = useStarted(() => serve(ctx, createApp(ctx)));
  beforeEach(() => Promise.all([mails.deleteMany({}), messages.deleteMany({})]));

  /** `fetch` does not let a caller choose the Host header. */
  async function ask(path: string, headers: http.OutgoingHttpHeaders = {}, body?: string) {
    const method = body === undefined ? 'GET' : 'POST';
    const request = http.request({ host: '127.0.0.1', port: server.port, path: `/dev/${path}`, method, headers });
    request.end(body);
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    return { status: response.statusCode, headers: response.headers, html: await text(response) };
  }
  const mailed = (subject: string, words: string, to = 'first@partner.example') =>
    sendMail(ctx, { to, subject, text: words });

  it('the mail page shows the mails, newest first, with codes to copy and with escaped markup', async () => {
    await mailed('Old', '111111 is your code');
    const later = { ...ctx, now: () => ctx.now() + 1_000 };
    const newer = { to: 'second@partner.example', subject: '<b>New</b>', text: '222222 is your code <script>' };
    await sendMail(later, newer);
    const { html, headers } = await ask('mail');
    expect(html).to.match(/second@partner\.example.*222222.*first@partner\.example.*111111/s);
    expect(html)
      .to.include('data-copy="222222"')
      .and.include('&lt;b>New')
      .and.not.to.match(/<b>|<script>/);
    expect(headers['cache-control']).to.equal('no-store');
  });

  it('the mail page shows addresses as links, and is linked only from the sign-in page of its stack', async () => {
    await mailed('Code', 'Open this link:\nhttps://rides.example/dashboard/sign-in/link/abc\nNote: <b>none</b>');
    expect((await ask('mail')).html)
      .to.include('<a href="https://rides.example/dashboard/sign-in/link/abc">')
      .and.include('Note: &lt;b>none');
    const signIn = await fetch(`http://127.0.0.1:${server.port}/dashboard`);
    expect(await signIn.text()).to.include('<a href="/dev/mail">Mail</a>');
    const elsewhere = await fetch(`http://127.0.0.1:${without.port}/dashboard`);
    expect(await elsewhere.text()).not.to.include('/dev/mail');
  });

  it('the mail page links to the sign-in page if there is no mail', async () => {
    expect((await ask('mail')).html)
      .to.include('No mail yet')
      .and.include('href="/dashboard"');
  });

  it('the message page shows the text messages, newest first, with links and with escaped markup', async () => {
    expect((await ask('messages')).html).to.include('No text message yet');
    for (const [index, words] of ['Old: <b>1</b>', 'New: https://rides.example/track/abc'].entries()) {
      const createdAt = new Date(ctx.now() + index);
      const row = { rideId: 'ride_1', accountId: 'acct_1', kind: 'found', person: 'contact1', createdAt } as const;
      await storeMessage(ctx, { _id: `ride_1:found:${index}`, ...row }, { to: '+12025550143', text: words });
    }
    const { html } = await ask('messages');
    expect(html).to.match(/New: <a href="https:\/\/rides\.example\/track\/abc">.*Old: &lt;b>1/s);
    expect(html).to.include('To contact 1, +12025550143').and.include('waiting');
  });

  it('the receiver answers 200 to an event that is signed for its key, 401 to others, and 404 for no key', async () => {
    const made = { accountId: newAccountId(), name: 'dev', mode: 'test' } as const;
    const [key, other] = [await createKey(ctx.config, made), await createKey(ctx.config, made)];
    const body = '{"event":"ride.status","name":"Zoë"}';
    const signed = { 'x-service-signature': signatureHeader(key.signingSecret, body, Math.floor(ctx.now() / 1_000)) };
    const statusOf = async (keyId: string, sent: string, headers: http.OutgoingHttpHeaders) =>
      (await ask(`receiver/${keyId}`, headers, sent)).status;
    expect(await statusOf(key.keyId, body, signed)).to.equal(200);
    expect(await statusOf(key.keyId, `${body} `, signed)).to.equal(401);
    expect(await statusOf(key.keyId, body, {})).to.equal(401);
    expect(await statusOf(other.keyId, body, signed)).to.equal(401);
    expect(await statusOf('key_unknown', body, signed)).to.equal(404);
  });

  for (const [path, body] of [['mail'], ['messages'], ['receiver/key_unknown', '{}']] as const) {
    it(`/dev/${path} is only available on this machine under its own names`, async () => {
      await mailed('Code', '111111 is your code');
      const row = { rideId: 'ride_1', accountId: 'acct_1', kind: 'found', person: 'contact1' } as const;
      const message = { _id: 'ride_1:found:0', ...row, createdAt: new Date() };
      await storeMessage(ctx, message, { to: '+12025550143', text: 'Your code is 111111' });
      for (const headers of [{ host: 'evil.example' }, { 'x-forwarded-for': '192.0.2.7' }, { via: '1.1 proxy' }]) {
        const { status, html } = await ask(path, headers, body);
        expect(status, JSON.stringify(headers)).to.equal(403);
        expect(html).not.to.include('111111');
      }
      for (const host of ['localhost', '127.0.0.1:4100']) {
        expect((await ask(path, { host }, body)).status).not.to.equal(403);
      }
    });
  }
});
