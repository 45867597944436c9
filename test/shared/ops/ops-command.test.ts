import { expect } from 'chai';
import { ops } from '../../../cli/ops/commands.ts';
import { runProgram } from '../../../cli/run-program.ts';
import { newRide, rideIn } from '../../support/rides.ts';
import { testContext, testSettings } from '../../support/service.ts';
import { makeDue } from '../../support/stored-rides.ts';
import { startSwitch } from '../../support/switch.ts';

const commandNames = Object.keys(ops.commands);

describe('the command line of operators', () => {
  let rideId: string;
  before(async () => {
    const ctx = await testContext();
    rideId = await newRide(ctx, { notes: 'Ring twice' });
    const late = await rideIn(ctx, 'bidding');
    await makeDue(late.rideId, 'expire', new Date(ctx.now() - 3_600_000));
    await ctx.close();
  });

  const { log, error } = console;
  afterEach(() => Object.assign(console, { log, error }));

  /** Runs one command and captures its output. No ops command needs SECRETS_KEY. */
  async function run(argv: readonly string[], more: NodeJS.ProcessEnv = {}) {
    const out: string[] = [];
    const err: string[] = [];
    console.log = (line: unknown) => void out.push(String(line));
    console.error = (line: unknown) => void err.push(String(line));
    const { SECRETS_KEY: _, ...settings } = testSettings();
    const code = await runProgram(ops, argv, { ...settings, LOG_LEVEL: 'trace', ...more }).finally(() =>
      Object.assign(console, { log, error }),
    );
    return { code, out, err };
  }

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
  });

  it('queues prints a table, and marks a paused pool until it is resumed', async () => {
    expect((await run(['pause', 'mail'])).out.join('\n')).to.match(
      /^Pool +mail\nPaused +yes\nIts workers start no new jobs/,
    );
    const { out } = await run(['queues']);
    expect(out.join('\n')).to.match(
      /^POOL +WAITING +ACTIVE +DELAYED\n(.+\n)+mail +\d+ +\d+ +\d+ +paused\nOldest event not sent/,
    );
    expect((await run(['resume', 'mail'])).out.join('\n')).to.match(/Its workers start jobs again\.$/);
    expect((await run(['queues'])).out.join('\n')).not.to.include('paused');
  });

  for (const argv of [['--help'], ['-h'], ['help'], ...commandNames.map((name) => [name, '--help'])]) {
    it(`"${argv.join(' ')}" prints the usage in 60 columns, with an example`, async () => {
      const { code, out, err } = await run(argv);
      const lines = out.join('\n').split('\n');
      expect({ code, err }).to.deep.equal({ code: 0, err: [] });
      expect(lines[0]).to.match(/^Usage: npm run -s ops -- /);
      expect(lines.findIndex((line) => /^Examples?$/.test(line))).to.be.at.least(3);
      expect(Math.max(...lines.map(({ length }) => length))).to.be.at.most(60);
    });
  }

  for (const argv of [
    [],
    ['nonsense'],
    ['constructor'],
    ['queues', 'mail'],
    ['keys'],
    ['keys', '--failing', 'x'],
    ['pause'],
    ['pause', 'nonsense'],
    ['pause', 'mail', 'webhooks'],
    ['resume'],
    ['resume', 'ride', 'x'],
    ['suspend'],
    ['suspend', 'mail'],
    ['suspend', 'key'],
    ['suspend', 'key', 'x', 'y'],
    ['ride'],
    ['ride', 'x', 'y'],
    ['ride', 'x', '--force'],
    ['erase'],
    ['erase', 'x', '--cancel'],
    ['sweep', 'x'],
    ['sweep', '--by'],
    ['resend', '--since', '2026-11-05T09:30Z'],
    ['resend', '--since', '2026-11-05T09:30', '--until', '2026-11-05T10:05Z'],
    ['resend', '--since', '2026-11-05T10:05Z', '--until', '2026-11-05T09:30Z'],
    ['sweep', '--send'],
  ]) {
    it(`"${argv.join(' ')}" exits with code 2 and prints the usage`, async () => {
      const { code, out, err } = await run(argv);
      expect({ code, out }).to.deep.equal({ code: 2, out: [] });
      expect(err.join('\n')).to.match(/^ops: .+\nUsage: /);
    });
  }

  for (const argv of [
    ['ride', 'ride_unknown'],
    ['erase', 'ride_unknown'],
    ['suspend', 'key', 'key_unknown'],
  ]) {
    it(`"${argv.join(' ')}" exits with code 1 and prints one line`, async () => {
      const { code, out, err } = await run(argv);
      expect({ code, out, lines: err.length }).to.deep.equal({ code: 1, out: [], lines: 1 });
      expect(err[0]).to.match(/^ops: [^\n]+$/);
    });
  }

  const away = { REDIS_URL: 'redis://127.0.0.1:9' };

  it('while Redis does not answer, ops reports that, but can still suspend', async () => {
    expect(await run(['pause', 'mail'], away)).to.deep.equal({ code: 1, out: [], err: ['ops: Redis does not answer'] });
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
    expect(json.backlog.overdue).to.have.all.keys('rides', 'timers', 'attempts', 'mails');
  });

  it('queues answers also while Redis accepts connections but hangs', async () => {
    const hanging = await startSwitch(Number(new URL(process.env.TEST_REDIS_URL ?? '').port));
    hanging.hang();
    const { code, out } = await run(['queues'], { REDIS_URL: `redis://127.0.0.1:${hanging.port}` });
    hanging.close();
    expect({ code, first: out.join('\n').split('\n')[0] }).to.deep.equal({ code: 0, first: 'Redis does not answer.' });
  });
});
