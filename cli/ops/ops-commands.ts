import { readConfig } from '../../shared/base/config.ts';
import type { Context } from '../../shared/base/context.ts';
import { AppError } from '../../shared/base/errors.ts';
import { type PoolName, poolNames } from '../../shared/base/queues.ts';
import { findKey } from '../../shared/keys/manage-keys.ts';
import { UsageError } from '../../shared/process/command-line.ts';
import { openContext } from '../../shared/process/open-context.ts';
import { sweepFully } from '../../shared/process/ops/full-sweep.ts';
import { eraseRide } from '../../shared/retention/erase-rides.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { type RideHistory, rideHistory } from '../../shared/webhooks/ride-history.ts';
import { countUndelivered } from '../../shared/webhooks/undelivered.ts';
import { labelledBy } from '../columns.ts';
import { recordAudit } from '../operator.ts';
import { commandOf, type Program, readTime } from '../program.ts';
import { accessCommands } from './access.ts';
import { backupCommands } from './backup.ts';
import { doctorCommands } from './doctor-commands.ts';
import { optOutCommands } from './opt-outs.ts';
import { resendLines, rideLines, type SweepAnswer, sweepLines } from './print.ts';
import { waitingCommands } from './waiting.ts';
import { assertRedis, kinds, resendAll, type Suspendable, setPaused, setSuspended, waitForRedis } from './work.ts';

const command = commandOf<Context>();
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

/** `npm run ops`: shows and changes the running service for operators. */
export const ops: Program<Context> = {
  name: 'ops',
  examples: ['PROGRAM queues', 'PROGRAM suspend --help'],
  async connect(env, work) {
    const config = readConfig(env, { without: ['SECRETS_KEY'] });
    // Turns off logs and traces, because standard output must contain only the answer, and a command must not wait for
    // the trace collector.
    // Commands that need Redis wait for it themselves, because the others must answer quickly without it.
    const quiet = { ...config, logLevel: 'silent', traces: undefined };
    const ctx = await openContext(quiet, 'ops', { redisWaitMs: 0 });
    try {
      await work(ctx);
    } finally {
      await ctx.close();
    }
  },
  commands: {
    ...waitingCommands,
    pause: command({
      summary: 'stops the workers of a pool from starting jobs',
      operands: '<POOL>',
      recorded: 'by name',
      about: `Pauses the workers of a pool: they finish their active jobs
and start no new ones. Jobs wait until resume. If Redis
loses its data, the pause ends.`,
      examples: ['PROGRAM pause webhooks'],
      read(_values, word) {
        const pool = poolNamed(word);
        if (!pool) throw new UsageError(`unknown pool ${word}; pause needs a POOL: ${poolNames.join(' ')}`);
        return { pool };
      },
      run: (ctx, args, by) => setPaused(ctx, { ...args, by }, true),
      print: shownWith('Its workers start no new jobs until resume.'),
    }),
    resume: command({
      summary: 'ends a pause or a suspension',
      operands: '<POOL|KIND> [ID]',
      recorded: 'by name',
      about: 'Resumes a paused pool, or ends the suspension of an\naccount, a key or a driver.',
      examples: ['PROGRAM resume webhooks', 'PROGRAM resume key key_1a2B3c4D5e6F7g'],
      read(_values, word, id) {
        const pool = poolNamed(word);
        if (pool && id !== undefined) throw new UsageError(`resume ${pool} does not accept ${id}`);
        return pool ? { pool } : parseSuspendable('resume', word, id);
      },
      run: (ctx, args, by) =>
        'pool' in args ? setPaused(ctx, { ...args, by }, false) : setSuspended(ctx, { ...args, by }, false),
      print: (answer) => shownWith(afterResume(answer))(answer),
    }),
    sweep: command({
      summary: 'finds and adds all missing jobs now',
      recorded: 'if known',
      about: `Makes the workers check every ride, event and mail that has
pending work, and add the missing jobs. They do so
automatically after Redis has lost its data.`,
      examples: ['PROGRAM sweep'],
      read: () => null,
      async run(ctx, _args, by): Promise<SweepAnswer> {
        await assertRedis(ctx);
        const startedAt = performance.now();
        const found = await sweepFully(ctx.redis, sweepLimitMs);
        if (!found) {
          throw new AppError('unavailable', {
            message: `No sweep ended within ${sweepLimitMs / 1_000} s: it is still running, or no worker process is`,
          });
        }
        await recordAudit(ctx.now(), by, { action: 'swept' });
        return { swept: true, seconds: Math.round((performance.now() - startedAt) / 100) / 10, ...found };
      },
      print: sweepLines,
    }),
    ride: command({
      summary: 'shows the history of a ride, or cancels it',
      operands: '<RIDEID>',
      options: { '--cancel': 'cancels the ride; the partner is notified as for a ride that the partner cancels' },
      about: `Shows the history of a ride and the deliveries of its
events, without names, phone numbers or addresses.`,
      examples: ['PROGRAM ride ride_1a2B3c4D5e6F7g', 'PROGRAM ride ride_1a2B3c4D5e6F7g --cancel'],
      read: ({ cancel }, rideId = '') => ({ rideId, cancel }),
      recorded: ({ cancel }) => (cancel ? 'by name' : 'never'),
      async run(ctx, { rideId, cancel }, by): Promise<RideHistory & { cancelled?: true }> {
        if (!cancel) return rideHistory(rideId);
        const origin = { by: 'operator' } as const;
        await waitForRedis(ctx);
        const { accountId } = await applyAction(ctx, rideId, { action: 'cancel', by: 'partner' }, 'anyone', origin);
        await recordAudit(ctx.now(), by, { action: 'ride_cancelled', accountId, about: rideId });
        return { cancelled: true, ...(await rideHistory(rideId)) };
      },
      print: rideLines,
    }),
    suspend: command({
      summary: 'suspends an account, a key or a driver',
      operands: '<account|key|driver> <ID>',
      recorded: 'by name',
      about: `Refuses a key, all keys of an account, or a driver's key
from the next request on. Rides of partners continue and
their events are sent; a driver's ride and offers end. Users
of a suspended account can view their dashboard, but change
nothing.`,
      examples: ['PROGRAM suspend key key_1a2B3c4D5e6F7g', 'PROGRAM suspend account acct_1a2B3c4D5e6F7g'],
      read: (_values, word, id) => parseSuspendable('suspend', word, id),
      run: (ctx, args, by) => setSuspended(ctx, { ...args, by }, true),
      print: (answer) => shownWith(afterSuspension(answer))(answer),
    }),
    resend: command({
      summary: 'lists or resends the events that failed in a period',
      needed: { '--since <TIME>': 'start of the period', '--until <TIME>': 'its end' },
      options: { '--key <KEYID>': 'only the events of this key', '--send': 'resends the listed events' },
      about: `Lists the events whose attempt failed or timed out in a
period and that have not been delivered since, for example
after an outage of this service's network. With --send,
resends them: marked X-Service-Redelivery, in order within
each ride, at most 10 per second and key. A repeat resends
only events that are neither pending nor delivered.`,
      examples: [
        `PROGRAM resend \\
    --since 2026-11-05T09:30Z --until 2026-11-05T10:05Z`,
      ],
      read({ key, send, since, until }) {
        const stretch = { since: readTime('since', since), until: readTime('until', until) };
        if (stretch.since >= stretch.until) throw new UsageError('--since must be before --until');
        return { stretch, keyId: key, send };
      },
      recorded: ({ send }) => (send ? 'by name' : 'never'),
      async run(ctx, { stretch, keyId, send }, by) {
        if (keyId) await findKey(keyId, 'anyone');
        const keys = await countUndelivered(stretch, keyId);
        return { ...stretch, keys, sent: send ? await resendAll(ctx, keys, stretch, by) : 0 };
      },
      print: resendLines,
    }),
    erase: command({
      summary: 'erases the personal data of a ride',
      operands: '<RIDEID>',
      recorded: 'by name',
      about: `Erases the personal data of a ride that has ended and has no
pending events, instead of 30 days after its end
(ERASE_AFTER_DAYS). This cannot be undone.`,
      examples: ['PROGRAM erase ride_1a2B3c4D5e6F7g'],
      read: (_values, rideId = '') => ({ rideId }),
      async run(ctx, { rideId }, by) {
        const accountId = await eraseRide(rideId);
        await recordAudit(ctx.now(), by, { action: 'ride_erased', accountId, about: rideId });
        return { rideId, erased: true };
      },
      print: shownWith('Erased the personal data in the ride, its events and its attempts.'),
    }),
    ...doctorCommands,
    ...backupCommands,
    ...optOutCommands,
    ...accessCommands,
  },
};

const poolNamed = (word: string | undefined): PoolName | undefined => poolNames.find((known) => known === word);

function parseSuspendable(name: string, word: string | undefined, id: string | undefined): Suspendable {
  const kind = kinds.find((known) => known === word);
  if (!kind) throw new UsageError(`unknown kind ${word}; ${name} needs one of: ${kinds.join(', ')}`);
  if (!id) throw new UsageError(`${name} ${kind} needs an ID`);
  return { kind, id };
}

type Subject = { accountId?: string; driverId?: string; pool?: string };

function afterResume({ pool, accountId, driverId }: Subject): string {
  if (pool) return 'Its workers start jobs again.';
  if (driverId) return 'The key is accepted again. The driver is offline.';
  return `${accountId ? 'Its keys are' : 'The key is'} accepted again, unless suspended separately.`;
}

function afterSuspension({ driverId, accountId }: Subject): string {
  if (driverId) return 'The key stops working on its next request. Offers and ride end within seconds.';
  return `${accountId ? 'Its keys stop' : 'The key stops'} working on the next request. Rides continue.`;
}
