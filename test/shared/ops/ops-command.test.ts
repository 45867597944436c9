import { expect } from 'chai';
import { ops } from '../../../cli/ops/ops-commands.ts';
import { addOptOut } from '../../../shared/messages/numbers.ts';
import { runToEnd } from '../../support/command-line.ts';
import { newRide, rideIn } from '../../support/rides.ts';
import { testContext, testSettings } from '../../support/service.ts';
import { makeDue } from '../../support/stored-rides.ts';
import { startSwitch } from '../../support/switch.ts';

describe('the command line of operators', () => {
  let rideId: string;
  before(async () => {
    const ctx = await testContext();
    rideId = await newRide(ctx, { notes: 'Ring twice' });
    const late = await rideIn(ctx, 'bidding');
    await makeDue(late.rideId, 'expire', new Date(ctx.now() - 3_600_000));
    await ctx.close();
  });

  /** Runs one command. No ops command needs SECRETS_KEY. */
  const run = (argv: readonly string[], more: Record<string, string> = {}) =>
    runToEnd(ops, argv, testSettings({ SECRETS_KEY: '', LOG_LEVEL: 'trace', ...more }));

  it('an ops command prints one line of JSON with --json, and labelled lines without it', async () => {
    const json = await run(['ride', rideId, '--json']);
    expect({ code: json.code, err: json.err, lines: json.out.length }).to.deep.equal({ code: 0, err: [], lines: 1 });
    expect(JSON.parse(json.out[0] ?? '')).to.include({ rideId, status: 'bidding' });
    const { code, out } = await run(['ride', rideId]);
    const lines = out.join('\n').split('\n');
    expect(code).to.equal(0);
    expect(lines[0]).to.equal(`Ride id         ${rideId}`);
    expect(lines).to.include('SEQ  AT (UTC)  EVENT  BY  DELIVERY');
    expect(out.join('\n')).not.to.include('Ring twice');
    const ctx = await testContext();
    const cancelled = await rideIn(ctx, 'cancelled');
    await ctx.close();
    expect((await run(['ride', cancelled.rideId])).out.join('\n')).to.match(
      /Cancelled by +partner\nCancel reason +partner/,
    );
  });

  it('opt-outs lists numbers as ids with their messages, and clears one by name of the operator', async () => {
    const numberId = `number_${'0a'.repeat(20)}`;
    expect((await run(['opt-outs', 'list'])).out).to.deep.equal(['No number has opted out.']);
    const ctx = await testContext();
    await addOptOut({ _id: numberId, at: new Date(0), messageId: `${rideId}:found:passenger` });
    await ctx.close();
    expect((await run(['opt-outs', 'list'])).out.join('\n')).to.include(
      `${numberId}  1970-01-01T00:00:00.000Z  ${rideId}:found:passenger`,
    );
    expect((await run(['opt-outs', 'clear', numberId])).out.join('\n')).to.include('It gets text messages again.');
    expect((await run(['audit', '--action', 'opt_out_cleared'])).out.join('\n')).to.include(numberId);
    expect((await run(['opt-outs', 'clear', numberId])).err).to.deep.equal(['ops: No opted-out number has this id']);
    expect((await run(['opt-outs', 'show'])).err.join('\n')).to.include('opt-outs needs one of: list, clear');
  });

  it('queues prints a table, and marks a paused pool until it is resumed', async () => {
    expect((await run(['pause', 'mail'])).out.join('\n')).to.match(
      /^Pool +mail\nPaused +yes\nIts workers start no new jobs/,
    );
    const { out } = await run(['queues']);
    expect(out.join('\n')).to.match(
      /^POOL +WAITING +ACTIVE +DELAYED +PROCESSES\n(.+\n)+mail +\d+ +\d+ +\d+ +0 +paused\nmessages .+\nOldest event not sent/,
    );
    expect((await run(['resume', 'mail'])).out.join('\n')).to.match(/Its workers start jobs again\.$/);
    expect((await run(['queues'])).out.join('\n')).not.to.include('paused');
  });

  const away = { REDIS_URL: 'redis://127.0.0.1:9' };

  it('while Redis does not answer, ops reports that, but can still suspend', async () => {
    const { code, out, err: reported } = await run(['pause', 'mail'], away);
    expect({ code, out, reported }).to.deep.equal({ code: 1, out: [], reported: ['ops: Redis does not answer'] });
    const { err } = await run(['suspend', 'key', 'key_unknown'], away);
    expect(err).to.deep.equal(['ops: No active key has this id']);
  });

  it('while Redis does not answer, queues says so and counts the overdue work in MongoDB', async () => {
    const { code, out } = await run(['queues'], away);
    const lines = out.join('\n').split('\n');
    expect(code).to.equal(0);
    expect(lines.slice(0, 2)).to.deep.equal(['Redis does not answer.', 'The following is from MongoDB.']);
    expect(out.join('\n')).to.match(/^Oldest timer overdue: \d{4,} s$/m);
    expect(Number(/^Timers due: (\d+)/m.exec(out.join('\n'))?.[1])).to.be.at.least(1);
    expect(Number(/^Rides with events to send: (\d+)/m.exec(out.join('\n'))?.[1])).to.be.at.least(1);
    const json = JSON.parse((await run(['queues', '--json'], away)).out[0] ?? '');
    expect(json).to.include({ queues: null, redis: 'redis_away' });
    expect(json.backlog.overdue).to.have.all.keys('rides', 'timers', 'attempts', 'mails', 'messages');
  });

  it('queues answers also while Redis accepts connections but hangs', async () => {
    const hanging = await startSwitch(Number(new URL(process.env.TEST_REDIS_URL ?? '').port));
    hanging.hang();
    const { code, out } = await run(['queues'], { REDIS_URL: `redis://127.0.0.1:${hanging.port}` });
    hanging.close();
    expect({ code, first: out.join('\n').split('\n')[0] }).to.deep.equal({ code: 0, first: 'Redis does not answer.' });
  });
});
