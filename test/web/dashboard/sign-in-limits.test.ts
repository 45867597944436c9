import { expect } from 'chai';
import { codeSentTo, linkSentTo, mailsTo, someone, wrongCode } from '../../support/mails.ts';
import { plainBrowser } from '../../support/plain-browser.ts';
import { useSigningIn } from '../../support/signing-in.ts';

describe('sign-in limits', () => {
  const { api, asked, signedIn, isSignedIn } = useSigningIn();

  const minutes = (page: { headers: Headers }) => Math.ceil(Number(page.headers.get('retry-after')) / 60);

  it('the sixth request within an hour for a code to one address gets a 429 with Retry-After', async () => {
    const email = someone();
    for (let sent = 0; sent < 5; sent++) expect((await asked(email)).page.status).to.equal(200);
    const { page } = await asked(email);
    expect(page.status).to.equal(429);
    expect(page.html)
      .to.include('Too many codes')
      .and.match(/Try again in \d+ minutes/);
    expect(minutes(page)).to.be.within(59, 60);
    expect(await mailsTo(api.ctx, email)).to.have.length(5);
  });

  it('a client address or IPv6 network gets a 429 after 20 code mails within an hour', async () => {
    const network = `2001:db8:0:${(Date.now() % 0xffff).toString(16)}`;
    for (let sent = 0; sent < 20; sent++) {
      const browser = plainBrowser(api, { address: `${network}::${sent}` });
      expect((await asked(someone(), browser)).page.status).to.equal(200);
    }
    const refused = await asked(someone(), plainBrowser(api, { address: `${network}:1::9` }));
    expect(refused.page.status).to.equal(429);
    expect(refused.page.html).to.include('from your network address');
    expect((await asked(someone())).page.status).to.equal(200);
  });

  it('after 5 wrong codes, unknown browsers cannot enter a code; known browsers and links still work', async () => {
    const email = someone();
    const owner = await signedIn(email);
    await owner.press('Sign out');
    const first = await asked(email);
    const wrong = wrongCode(await codeSentTo(api.ctx, email));
    for (let tried = 0; tried < 5; tried++) await first.press('Sign in', { code: wrong });
    const stranger = await asked(email);
    const refused = await stranger.press('Sign in', { code: await codeSentTo(api.ctx, email) });
    expect(refused.status).to.equal(429);
    expect(refused.html)
      .to.include('Too many wrong codes')
      .and.include('with the link in the mail')
      .and.include('Try again in 1 minute.');
    expect(minutes(refused)).to.equal(1);
    expect(await isSignedIn(stranger)).to.equal(false);

    await stranger.get(await linkSentTo(api.ctx, email));
    await stranger.press('Sign in');
    expect(await isSignedIn(stranger)).to.equal(true);
    await signedIn(email, owner);
    expect(await isSignedIn(owner)).to.equal(true);
  });

  it('after 10 wrong codes the owner gets a mail, at most once a day', async () => {
    const email = someone();
    let atMs = Date.parse('2027-03-01T00:30:00Z');
    api.ctx.now = () => atMs;
    const reports = async () =>
      (await mailsTo(api.ctx, email)).filter(({ subject }) => subject.startsWith('Wrong codes'));
    for (let wrong = 0; wrong < 12; ) {
      const browser = await asked(email);
      const code = wrongCode(await codeSentTo(api.ctx, email));
      for (let tried = 0; tried < 5 && wrong < 12; tried++) {
        const { status } = await browser.press('Sign in', { code });
        if (status === 429) break;
        wrong += 1;
        expect(await reports(), `after ${wrong}`).to.have.length(wrong < 10 ? 0 : 1);
      }
      atMs += 61 * 60_000;
    }
    const [report] = await reports();
    expect(report?.text).to.include('10 wrong codes').and.include('Nobody got in');
  });
});
