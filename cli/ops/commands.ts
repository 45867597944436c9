import os from 'node:os';
import { readConfig } from '../../shared/base/config.ts';
import type { Context } from '../../shared/base/context.ts';
import { AppError } from '../../shared/base/errors.ts';
import { type PoolName, poolNames } from '../../shared/base/queues.ts';
import { findKey } from '../../shared/keys/manage-keys.ts';
import { UsageError } from '../../shared/process/command-line.ts';
import { openContext } from '../../shared/process/open-context.ts';
import { sweepFully } from '../../shared/process/ops/full-sweep.ts';
import { backlog, queueStates } from '../../shared/process/ops/queue-states.ts';
import { eraseRide } from '../../shared/retention/erase-rides.ts';
import { applyAction } from '../../shared/rides/change-ride.ts';
import { countUndelivered } from '../../shared/webhooks/redeliver.ts';
import { type RideHistory, rideHistory } from '../../shared/webhooks/ride-history.ts';
import { labelledBy } from '../columns.ts';
import { commandOf, type Program, type Words } from '../program.ts';
import { queueLines, resendLines, rideLines, type SweepAnswer, sweepLines } from './print.ts';
import { assertRedis, kinds, noted, resendAll, type Suspendable, setPaused, setSuspended } from './work.ts';

const command = commandOf<Context>();
const by = { type: 'string', value: 'NAME' } as const;
const time = { type: 'string', value: 'TIME', isNeeded: true } as const;
const shownWith = labelledBy({
  accountId: 'Account id',
  activeKeys: 'Active keys',
  keyId: 'Key id',
  driverId: 'Driver id',
  rideId: 'Ride id',
  pool: 'Pool',
  paused: 'Paused',
  suspended: 'Suspended',
  erased: 'Erased',
});

const sweepLimitMs = 60_000;

/** `npm run ops`: what operators look at and change. */
export const ops: Program<Context> = {
  name: 'ops',
  common: ` What
changes something is noted with --by NAME, or else the name
of the system's user.`,
  examples: ['PROGRAM queues', 'PROGRAM suspend --help'],
  async connect(env, work) {
    const config = readConfig(env, { without: ['SECRETS_KEY'] });
    // Standard output holds only the answer, and nobody waits for a collector of traces.
    const ctx = await openContext({ ...config, logLevel: 'silent', traces: undefined }, 'ops');
    try {
      await work(ctx);
    } finally {
      await ctx.close();
    }
  },
  commands: {
    queues: command({
      summary: 'shows what waits, and how late it is',
      options: { by: { type: 'string', isHidden: true } },
      about: `Shows what each queue holds in Redis, and what MongoDB says:
how late the oldest event and timer are, and whose events
wait, so that a slow partner stands in front.`,
      examples: ['PROGRAM queues', 'PROGRAM queues --json'],
      read: () => null,
      async run(ctx) {
        await assertRedis(ctx);
        return { queues: await queueStates(ctx), backlog: await backlog() };
      },
      print: queueLines,
    }),
    pause: command({
      summary: 'lets a pool take no more jobs',
      forms: ['POOL'],
      options: { by },
      about: `Lets the workers of a pool take no more jobs. They finish
what they are doing. Jobs wait until resume. If Redis loses
its data, the pause ends.`,
      examples: ['PROGRAM pause webhooks'],
      read(words, values) {
        const word = words.next();
        const pool = poolNamed(word);
        if (!pool) throw unknownWord(word, 'pool', `pause needs a POOL: ${poolNames.join(' ')}`);
        return { pool, by: nameOf(values) };
      },
      run: (ctx, args) => setPaused(ctx, args, true),
      print: shownWith('Its workers take no more jobs until resume.'),
    }),
    resume: command({
      summary: 'ends a pause or a suspension',
      forms: ['POOL', 'account|key|driver ID'],
      options: { by },
      about: 'Ends a pause of a pool, or a suspension.',
      examples: ['PROGRAM resume webhooks', 'PROGRAM resume key key_1a2B3c4D5e6F7g'],
      read(words, values) {
        const word = words.next();
        const pool = poolNamed(word);
        return { by: nameOf(values), ...(pool ? { pool } : suspendableIn('resume', word, words)) };
      },
      run: (ctx, args) => ('pool' in args ? setPaused(ctx, args, false) : setSuspended(ctx, args, false)),
      print: (answer) => shownWith(afterResume(answer))(answer),
    }),
    sweep: command({
      summary: 'looks for all missing jobs now',
      options: { by },
      about: `Has the workers look at every ride, event and mail with
something left to do, and add the jobs that are missing.
They do so by themselves after Redis has lost its data.`,
      examples: ['PROGRAM sweep'],
      read: (_words, values) => ({ by: nameOf(values) }),
      async run(ctx, args): Promise<SweepAnswer> {
        await assertRedis(ctx);
        const startedAt = performance.now();
        const found = await sweepFully(ctx.redis, sweepLimitMs);
        if (!found) {
          throw new AppError('unavailable', {
            message: `No sweep has ended within ${sweepLimitMs / 1_000} s: it goes on, or no worker process is running`,
          });
        }
        await noted(ctx, args.by, { action: 'swept' });
        return { swept: true, seconds: Math.round((performance.now() - startedAt) / 100) / 10, ...found };
      },
      print: sweepLines,
    }),
    ride: command({
      summary: 'shows what happened to a ride, or cancels it',
      forms: ['RIDEID'],
      options: { cancel: { type: 'boolean' }, by },
      about: `Shows what happened to a ride, and how its events were
delivered. Shows nobody's name, phone or address.`,
      rows: { '--cancel': 'cancels it; the partner is told, as for a ride\nthat the partner cancels' },
      examples: ['PROGRAM ride ride_1a2B3c4D5e6F7g', 'PROGRAM ride ride_1a2B3c4D5e6F7g --cancel'],
      read: (words, values) => ({ rideId: words.need('a RIDEID'), cancel: values.cancel, by: nameOf(values) }),
      async run(ctx, args): Promise<RideHistory & { cancelled?: true }> {
        const { rideId, cancel } = args;
        if (!cancel) return rideHistory(rideId);
        const origin = { by: 'operator' } as const;
        const { accountId } = await applyAction(ctx, rideId, { action: 'cancel', by: 'partner' }, 'anyone', origin);
        await noted(ctx, args.by, { action: 'ride_cancelled', accountId, about: rideId });
        return { cancelled: true, ...(await rideHistory(rideId)) };
      },
      print: rideLines,
    }),
    suspend: command({
      summary: 'refuses an account, a key or a driver',
      forms: ['account|key|driver ID'],
      options: { by },
      about: `Refuses a key, all keys of an account, or a driver's key
from the next request on. Rides of partners go on and their
events are sent; a driver's ride and offers end. People of a
suspended account can look at their dashboard, no more.`,
      examples: ['PROGRAM suspend key key_1a2B3c4D5e6F7g', 'PROGRAM suspend account acct_1a2B3c4D5e6F7g'],
      read: (words, values) => ({ by: nameOf(values), ...suspendableIn('suspend', words.next(), words) }),
      run: (ctx, args) => setSuspended(ctx, args, true),
      print: (answer) => shownWith(afterSuspension(answer))(answer),
    }),
    resend: command({
      summary: 'lists or resends the events that failed in a\nstretch of time',
      options: { since: time, until: time, key: { type: 'string', value: 'KEYID' }, send: { type: 'boolean' }, by },
      about: `Lists the events whose attempt failed or timed out in a
stretch of time and that have not arrived since, for example
during an outage of this service's network. With --send, it
sends them again: marked X-Service-Redelivery, in the order
of each ride, at most 10 a second for each key. A repeat
sends only what neither waits nor has arrived.`,
      rows: { '--key': 'only the events of this key', '--send': 'sends what it would otherwise only list' },
      examples: [
        `PROGRAM resend \\
    --since 2026-11-05T09:30Z --until 2026-11-05T10:05Z`,
      ],
      read(words, { key, send, ...values }) {
        words.end();
        const stretch = { since: timeOf('since', values.since), until: timeOf('until', values.until) };
        if (stretch.since >= stretch.until) throw new UsageError('--since must be before --until');
        return { stretch, keyId: key, send, by: nameOf(values) };
      },
      async run(ctx, args) {
        const { stretch, keyId, send } = args;
        if (keyId) await findKey(keyId, 'anyone');
        const keys = await countUndelivered(stretch, keyId);
        return { ...stretch, keys, sent: send ? await resendAll(ctx, keys, stretch, args.by) : 0 };
      },
      print: resendLines,
    }),
    erase: command({
      summary: 'erases what is personal in a ride',
      forms: ['RIDEID'],
      options: { by },
      about: `Erases at once what is personal in a ride that has ended and
has nothing left to send. Otherwise that happens 30 days
after its end (ERASE_AFTER_DAYS). It cannot be undone.`,
      examples: ['PROGRAM erase ride_1a2B3c4D5e6F7g'],
      read: (words, values) => ({ rideId: words.need('a RIDEID'), by: nameOf(values) }),
      async run(ctx, args) {
        const accountId = await eraseRide(args.rideId);
        await noted(ctx, args.by, { action: 'ride_erased', accountId, about: args.rideId });
        return { rideId: args.rideId, erased: true };
      },
      print: shownWith('What was personal in the ride, its events and its attempts is erased.'),
    }),
  },
};

const poolNamed = (word: string | undefined): PoolName | undefined => poolNames.find((known) => known === word);

const unknownWord = (word: string | undefined, what: string, needed: string): UsageError =>
  new UsageError(word === undefined ? needed : `there is no ${what} ${word}; ${needed}`);

function suspendableIn(name: string, word: string | undefined, words: Words): Suspendable {
  const kind = kinds.find((known) => known === word);
  if (!kind) throw unknownWord(word, 'kind', `${name} needs what: ${kinds.join(', ')}`);
  const id = words.next();
  if (!id) throw new UsageError(`${name} ${kind} needs an ID`);
  return { kind, id };
}

/** A time with its zone, such as 2026-11-05T09:30Z. */
function timeOf(option: string, given: string | undefined): Date {
  if (given === undefined) throw new UsageError(`resend needs --${option} TIME`);
  const hasZone = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(given);
  const at = new Date(given);
  if (!hasZone || Number.isNaN(at.getTime())) {
    throw new UsageError(`--${option} needs a time with its zone, such as 2026-11-05T09:30Z`);
  }
  return at;
}

/** Who does it, for the audit: as given, or the system's user, who may have no name in a container. */
function nameOf({ by }: { by?: string }): string {
  if (by !== undefined) return by;
  try {
    return os.userInfo().username;
  } catch {
    return `user ${process.getuid?.()}`;
  }
}

type Suspended = { accountId?: string; driverId?: string; pool?: string };

function afterResume({ pool, accountId }: Suspended): string {
  if (pool) return 'Its workers take jobs again.';
  return `${accountId ? 'Its keys are' : 'The key is'} accepted again, unless suspended otherwise.`;
}

function afterSuspension({ driverId, accountId }: Suspended): string {
  if (driverId) return 'The key is dead on its next request. Offers and ride end within seconds.';
  return `${accountId ? 'Its keys are' : 'The key is'} dead on the next request. Rides go on.`;
}
