import { once } from 'node:events';
import http from 'node:http';
import { expect } from 'chai';
import { createApp } from '../../api/app.ts';
import { serve } from '../../api/http/serve.ts';
import { mailBox } from '../../dev/stack/mail-box.tsx';
import { sendMail } from '../../shared/mail/mail.ts';
import { mails } from '../../shared/mail/mail-row.ts';
import { useTestContext } from '../support/service.ts';
import { useStarted } from '../support/use-started.ts';

describe('the mail box of the development stack', () => {
  const ctx = useTestContext();
  const server = useStarted(() => serve(ctx, createApp(ctx, [mailBox(ctx)])));
  const without = useStarted(() => serve(ctx, createApp(ctx)));
  beforeEach(() => mails.deleteMany({}));

  /** `fetch` does not let a caller choose the Host header. */
  async function box(headers: http.OutgoingHttpHeaders = {}) {
    const request = http.get({ host: '127.0.0.1', port: server.port, path: '/dev/mail', headers });
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    let html = '';
    for await (const chunk of response) html += chunk;
    return { status: response.statusCode, headers: response.headers, html };
  }

  it('the mail page shows the mails, newest first, with codes to copy and with escaped markup', async () => {
    await sendMail(ctx, { to: 'first@partner.example', subject: 'Old', text: '111111 is your code' });
    const later = { ...ctx, now: () => ctx.now() + 1_000 };
    await sendMail(later, {
      to: 'second@partner.example',
      subject: '<b>New</b>',
      text: '222222 is your code <script>',
    });
    const { html, headers } = await box();
    expect(html).to.match(/second@partner\.example.*222222.*first@partner\.example.*111111/s);
    expect(html)
      .to.include('data-copy="222222"')
      .and.include('&lt;b>New')
      .and.not.to.match(/<b>|<script>/);
    expect(headers['cache-control']).to.equal('no-store');
  });

  it('shows the addresses in a mail as links, and is linked only from the sign-in page of its stack', async () => {
    const text = 'Open this link:\nhttps://rides.example/dashboard/sign-in/link/abc\nNote: <b>none</b>';
    await sendMail(ctx, { to: 'first@partner.example', subject: 'Code', text });
    expect((await box()).html)
      .to.include('<a href="https://rides.example/dashboard/sign-in/link/abc">')
      .and.include('Note: &lt;b>none');
    const signIn = await fetch(`http://127.0.0.1:${server.port}/dashboard`);
    expect(await signIn.text()).to.include('<a href="/dev/mail">Mail</a>');
    const elsewhere = await fetch(`http://127.0.0.1:${without.port}/dashboard`);
    expect(await elsewhere.text()).not.to.include('/dev/mail');
  });

  it('links to the sign-in page if there is no mail', async () => {
    expect((await box()).html)
      .to.include('No mail yet')
      .and.include('href="/dashboard"');
  });

  it('the mail page is only available on this machine under its own names', async () => {
    await sendMail(ctx, { to: 'first@partner.example', subject: 'Old', text: '111111 is your code' });
    for (const headers of [{ host: 'evil.example' }, { 'x-forwarded-for': '192.0.2.7' }, { via: '1.1 proxy' }]) {
      const { status, html } = await box(headers);
      expect(status, JSON.stringify(headers)).to.equal(403);
      expect(html).not.to.include('111111');
    }
    for (const host of ['localhost', '127.0.0.1:4100']) expect((await box({ host })).status).to.equal(200);
  });
});
