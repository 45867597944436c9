import type { Context } from '../../shared/base/context.ts';
import { readBacklogReport, readQueues } from '../../shared/process/ops/queue-states.ts';
import { listFailingKeys } from '../../shared/webhooks/delivery-health.ts';
import { commandOf } from '../program.ts';
import { failingLines, queueLines } from './print.ts';

const command = commandOf<Context>();

/** The commands that show what waits or fails. They work without Redis. */
export const waitingCommands = {
  queues: command({
    summary: 'shows waiting jobs and how late they are',
    about: `Shows the jobs of each queue in Redis and the processes that
run them, and, from MongoDB, how many events, timers, mails
and text messages wait, how late the oldest is, and which
keys have waiting events. A slow partner is listed first.
Without Redis, shows the problem of Redis and the part from
MongoDB. PROCESSES is ? if Redis lists no connections.`,
    examples: ['PROGRAM queues', 'PROGRAM queues --json'],
    read: () => null,
    async run(ctx) {
      const [ofRedis, backlog] = await Promise.all([readQueues(ctx), readBacklogReport()]);
      return { ...ofRedis, backlog };
    },
    print: queueLines,
  }),
  keys: command({
    summary: 'lists the keys whose deliveries all fail',
    needed: { '--failing': 'the program keys lists all keys' },
    about: `Lists the keys whose last 5 or more events all failed, with
the reason, the account, and when the account was notified
by mail.`,
    examples: ['PROGRAM keys --failing', 'PROGRAM keys --failing --json'],
    read: () => null,
    run: () => listFailingKeys(),
    print: failingLines,
  }),
};
