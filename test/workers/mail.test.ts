import { randomInt } from 'node:crypto';
import { expect } from 'chai';
import { freePort } from '../../dev/servers/ports.ts';
import type { Context } from '../../shared/base/context.ts';
import { secretsKey } from '../../shared/base/encryption.ts';
import { randomBase62 } from '../../shared/base/ids.ts';
import { sendMail } from '../../shared/mail/mail.ts';
import { type MailRow, mails } from '../../shared/mail/mail-row.ts';
import { sendStoredMail } from '../../workers/mail-jobs.ts';
import { sweep } from '../../workers/periodic/sweeper/sweep.ts';
import { onceInsteadOf } from '../support/failing-mongo.ts';
import { withLogLines } from '../support/log-lines.ts';
import { type MailServer, refusal, startMailServer } from '../support/mail-server.ts';
import { useTestContext } from '../support/service.ts';
import { jobFor } from '../support/stored-rides.ts';
import { until } from '../support/until.ts';
import { useStarted } from '../support/use-started.ts';
import { useTestService } from '../support/workers.ts';

const minuteMs = 60_000;

describe('mails', () => {
  const ctx = useTestContext({ MAIL_FROM: 'Rides <rides@rides.example>' });
  beforeEach(() => mails.deleteMany({}));

  const servers: MailServer[] = [];
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });
  async function mailServer(...args: Parameters<typeof startMailServer>): Promise<MailServer> {
    const server = await startMailServer(...args);
    servers.push(server);
    return server;
  }

  const startMs = Date.parse('2026-11-21T12:00:00Z');
  /** A context whose clock is `sinceMs` after the start. Without `smtpUrl` it has no mail server. */
  const at = (sinceMs: number, smtpUrl = '', of = ctx): Context => ({
    ...of,
    now: () => startMs + sinceMs,
    config: { ...of.config, secrets: { ...of.config.secrets, smtpUrl } },
  });
  const inProduction = (of: Context): Context => ({ ...of, config: { ...of.config, environment: 'production' } });
  const run = (token = randomBase62(8)) => ({ pool: 'mail', token, stopping: new AbortController().signal }) as const;
  async function stored(
    text = { to: 'guest@partner.example', subject: 'A subject', text: 'A text' },
  ): Promise<MailRow> {
    await sendMail(at(0), text);
    const [row] = await mails.find({}, { sort: { _id: -1 }, limit: 1 }).toArray();
    return row as MailRow;
  }
  const rowOf = async ({ _id }: MailRow) => (await mails.findOne({ _id })) as MailRow;
  const send = (row: MailRow, of: Context, token?: string) => sendStoredMail(of, { mailId: row._id }, run(token));

  it('a mail is stored with encrypted recipient, subject and text, and its job holds only its id', async () => {
    const row = await stored();
    expect(row).to.include({ state: 'waiting' });
    expect(JSON.stringify(row)).not.to.match(/guest|partner\.example|A subject|A text/);
    const job = await jobFor(ctx, 'mail', { mailId: row._id });
    expect(job?.data).to.deep.equal({ mailId: row._id });
    expect(JSON.stringify(job?.toJSON())).not.to.match(/guest|partner\.example|A subject|A text/);
  });

  it('the mail server gets the mail unchanged, from MAIL_FROM, and the stored text is erased', async () => {
    const server = await mailServer();
    const row = await stored({ to: 'guest@partner.example', subject: 'Grüße, 123', text: 'Line one\n<b>two</b> €\n' });
    expect(await send(row, at(0, server.url))).to.include({ result: 'sent' });
    const [mail] = server.mails;
    expect(mail).to.include({ from: 'rides@rides.example' });
    expect(mail?.to).to.deep.equal(['guest@partner.example']);
    expect(mail?.raw).to.match(/^From: Rides <rides@rides\.example>\r$/m);
    expect(mail?.raw).to.match(new RegExp(`^Message-ID: <${row._id}@rides\\.example>\\r$`, 'm'));
    expect(mail?.raw).to.match(/^Content-Type: text\/plain/m);
    expect(mail?.raw).to.match(/^Auto-Submitted: auto-generated\r$/m);
    expect(await rowOf(row)).to.have.all.keys('_id', 'state', 'createdAt', 'triedUntil', 'finishedAt', 'expiresAt');
    expect(await rowOf(row)).to.include({ state: 'sent' });
  });

  it('a subject or address with line breaks adds no headers or recipients', async () => {
    const server = await mailServer();
    const row = await stored({ to: 'guest@partner.example', subject: 'a\r\nBcc: x@evil.example', text: 'b' });
    await send(row, at(0, server.url));
    expect(server.mails[0]?.to).to.deep.equal(['guest@partner.example']);
    expect(server.mails[0]?.raw).not.to.match(/^Bcc:/m);
  });

  it('a mail is sent once if two workers have its job, and if the job runs again', async () => {
    const server = await mailServer();
    const row = await stored();
    const results = await Promise.all([send(row, at(0, server.url)), send(row, at(0, server.url))]);
    expect(results.filter((result) => 'result' in result && result.result === 'sent')).to.have.length(1);
    expect(await send(row, at(minuteMs, server.url))).to.include({ result: 'sent' });
    expect(server.mails).to.have.length(1);
  });

  it('a mail is sent once if MongoDB fails while the sending is recorded', async () => {
    const server = await mailServer();
    const row = await stored();
    onceInsteadOf(mails, 'updateOne', () => Promise.reject(Object.assign(new Error('gone'), { code: 'ECONNRESET' })));
    expect(await send(row, at(0, server.url))).to.include({ result: 'sent' });
    expect(server.mails).to.have.length(1);
    expect(await rowOf(row)).to.include({ state: 'sent' });
  });

  it("another worker sends a dead worker's mail after a minute", async () => {
    const server = await mailServer();
    const row = await stored();
    await mails.updateOne(
      { _id: row._id },
      { $set: { claim: { token: 'dead', until: new Date(startMs + minuteMs) } } },
    );
    expect(await send(row, at(0, server.url))).to.include({ againInMs: minuteMs });
    expect(await send(row, at(minuteMs, server.url))).to.include({ result: 'sent' });
  });

  it('a worker that lost its claim to another worker does not change the mail', async () => {
    const row = await stored();
    const takeOver = () => mails.updateOne({ _id: row._id }, { $set: { 'claim.token': 'another' } });
    const server = await mailServer({
      onRcptTo: (_address, _session, callback) => void takeOver().then(() => callback(refusal(550))),
    });
    await send(row, at(0, server.url));
    const kept = await rowOf(row);
    expect(kept).to.include({ state: 'waiting', sealed: row.sealed });
    expect(kept.claim?.token).to.equal('another');
  });

  describe('while the mail server is unavailable', () => {
    it('a mail is retried for 10 minutes, then it is recorded as failed and erased', async () => {
      const url = `smtp://127.0.0.1:${await freePort()}`;
      const row = await stored();
      let sinceMs = 0;
      const tries: number[] = [];
      for (let tried = 0; tried < 100; tried++) {
        tries.push(sinceMs);
        const result = await send(row, at(sinceMs, url));
        if (!('againInMs' in result)) {
          expect(result).to.deep.equal({ result: 'failed', reason: 'ESOCKET' });
          break;
        }
        expect(result.againInMs).to.be.within(1, minuteMs);
        expect((await rowOf(row)).dueAt?.getTime()).to.equal(startMs + sinceMs + result.againInMs);
        sinceMs += result.againInMs;
      }
      expect(tries.slice(0, 4)).to.deep.equal([0, 5_000, 10_000, 20_000]);
      expect(tries.at(-1)).to.equal(10 * minuteMs);
      const failed = await rowOf(row);
      expect(failed).to.include({ state: 'failed', reason: 'ESOCKET' });
      expect(failed).not.to.have.any.keys('sealed', 'dueAt', 'claim');
    });

    it('the 10 minutes of retries start with the first try, even if that is late', async () => {
      const url = `smtp://127.0.0.1:${await freePort()}`;
      const row = await stored();
      expect(await send(row, at(60 * minuteMs, url))).to.include({ againInMs: 5_000 });
      expect(await send(row, at(69 * minuteMs, url))).to.include({ againInMs: minuteMs });
      expect(await send(row, at(70 * minuteMs, url))).to.include({ result: 'failed' });
    });

    it('a temporary refusal is retried, and its log line contains only codes, no text of the mail server', async () => {
      let isBusy = true;
      const server = await mailServer({
        onRcptTo: (_address, _session, callback) => (isBusy ? callback(refusal(450)) : callback()),
      });
      const row = await stored();
      const logged = withLogLines(ctx);
      expect(await send(row, at(0, server.url, logged.ctx))).to.have.property('againInMs');
      expect(logged.lines).to.have.length(1);
      expect(logged.lines[0]).to.include({ mailId: row._id, reason: 'EENVELOPE 450' });
      expect(JSON.stringify(logged.lines)).not.to.match(/guest|partner\.example|mailbox/);
      isBusy = false;
      expect(await send(row, at(5_000, server.url))).to.include({ result: 'sent' });
    });
  });

  it('a permanent refusal of the mail server fails the mail at once', async () => {
    const server = await mailServer({ onRcptTo: (_address, _session, callback) => callback(refusal(550)) });
    const row = await stored();
    expect(await send(row, at(0, server.url))).to.deep.equal({ result: 'failed', reason: 'EENVELOPE 550' });
    expect(await rowOf(row)).not.to.have.property('sealed');
  });

  it('a mail waits if no listed SECRETS_KEY decrypts it, and fails if its text is damaged', async () => {
    const server = await mailServer();
    const other = at(0, server.url);
    const secrets = { ...other.config.secrets, keys: [secretsKey(Buffer.alloc(32, 9))] as const };
    const row = await stored();
    const withoutKey = { ...other, config: { ...other.config, secrets } };
    expect(await send(row, withoutKey)).to.include({ againInMs: 5_000 });
    await mails.updateOne({ _id: row._id }, { $set: { sealed: `${row.sealed?.slice(0, 60)}` } });
    expect(await send(row, at(0, server.url))).to.include({ result: 'failed', reason: 'damaged' });
  });

  describe('without a mail server', () => {
    it('development keeps a mail, for the mail page of the development stack', async () => {
      const row = await stored();
      expect(await send(row, at(0))).to.include({ result: 'kept' });
      expect((await rowOf(row)).sealed).to.equal(row.sealed);
      expect(await rowOf(row))
        .to.include({ state: 'kept' })
        .and.not.to.have.any.keys('dueAt', 'claim');
    });

    it('production records a mail as failed and erases it', async () => {
      const row = await stored();
      expect(await send(row, inProduction(at(0)))).to.deep.equal({ result: 'failed', reason: 'no_smtp_url' });
      expect(await rowOf(row)).not.to.have.property('sealed');
    });
  });

  it('production sends the password of SMTP_URL only over TLS', async () => {
    const server = await mailServer();
    const row = await stored();
    const url = server.url.replace('smtp://', 'smtp://user:password@');
    expect(await send(row, inProduction(at(0, url))))
      .to.have.property('why')
      .that.includes('ETLS');
    expect(server.mails).to.have.length(0);
  });

  describe('without a job', () => {
    beforeEach(() => ctx.redis.flushall());

    it('the sweeper adds the missing job of a mail after a grace time of 10 s', async () => {
      await sendMail(ctx, { to: 'guest@partner.example', subject: 's', text: 't' });
      const [row] = (await mails.find({}).toArray()) as [MailRow];
      await ctx.redis.flushall();
      expect(await sweep(ctx, { everything: false })).to.include({ mails: 0 });
      await mails.updateOne({ _id: row._id }, { $set: { dueAt: new Date(ctx.now() - 11_000) } });
      expect(await sweep(ctx, { everything: false })).to.include({ mails: 1 });
      expect((await jobFor(ctx, 'mail', { mailId: row._id }))?.data).to.deep.equal({ mailId: row._id });
      expect(await sweep(ctx, { everything: false })).to.include({ mails: 0 });
    });

    it('a full sweep adds the missing jobs of all waiting mails at once, each only once', async () => {
      const rows = Array.from({ length: 600 }, (_, index) => ({
        _id: `mail_${index}`,
        state: 'waiting' as const,
        createdAt: new Date(),
        dueAt: new Date(Date.now() + 1_000 * randomInt(60)),
      }));
      await mails.insertMany(rows);
      await mails.insertOne({ _id: 'mail_sent', state: 'sent', createdAt: new Date() });
      expect(await sweep(ctx, { everything: true })).to.include({ mails: 600 });
      expect(await sweep(ctx, { everything: true })).to.include({ mails: 0 });
    });
  });
});

describe('the worker pool `mail`', () => {
  const server = useStarted(() => startMailServer());
  const service = useTestService(() => ({ SMTP_URL: server.url, MAIL_FROM: 'rides@rides.example' }), ['mail']);

  it('a stored mail reaches the mail server', async () => {
    await mails.deleteMany({});
    await sendMail(service.ctx, { to: 'guest@partner.example', subject: 'A subject', text: 'A text' });
    await until(async () => (await mails.countDocuments({ state: 'sent' })) === 1);
    expect(server.mails.map(({ to }) => to)).to.deep.equal([['guest@partner.example']]);
  });
});
