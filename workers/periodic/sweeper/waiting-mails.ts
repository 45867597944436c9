import { enqueueMail } from '../../../shared/mail/mail.ts';
import { type MailRow, mails } from '../../../shared/mail/mail-row.ts';
import { addMissing, type NeededJob } from './add-missing.ts';
import type { Sweep } from './sweep.ts';

const pageSize = 250;

type WaitingMail = Pick<MailRow, '_id' | 'dueAt'>;

/**
 * Adds the jobs of waiting mails that no queue holds, the oldest first. An ordinary sweep looks at one page: mails are few,
 * and the first ones of the page leave it when they are sent.
 */
export async function addWaitingMails(current: Sweep, mayGoOn: () => Promise<boolean>): Promise<void> {
  const { ctx, everything, now, overdue, swept } = current;
  let page: WaitingMail[] = [];
  do {
    page = await readPage(page.at(-1), everything ? null : overdue);
    const { added, failed } = await addMissing(
      ctx,
      page.map((mail) => neededJob(current, mail)),
      { nowMs: now.getTime(), distrustActive: everything },
    );
    swept.mails += added;
    swept.failed += failed;
  } while (everything && page.length === pageSize && (await mayGoOn()));
}

const neededJob = ({ ctx }: Sweep, mail: WaitingMail): NeededJob => ({
  pools: ['mail'],
  id: mail._id,
  dueAt: mail.dueAt?.getTime() ?? 0,
  add: (options) => enqueueMail(ctx, mail, options),
});

/** The mails after one in the order of the index, up to a time or all. */
async function readPage(after: WaitingMail | undefined, until: Date | null): Promise<WaitingMail[]> {
  const dueAt = until ? { $exists: true, $lte: until } : { $exists: true };
  const later = after && { $or: [{ dueAt: { $gt: after.dueAt } }, { dueAt: after.dueAt, _id: { $gt: after._id } }] };
  const options = {
    projection: { dueAt: 1 },
    sort: { dueAt: 1, _id: 1 },
    limit: pageSize,
    batchSize: pageSize + 1,
  } as const;
  return mails.find({ $and: [{ dueAt }, later ?? {}] }, options).toArray();
}
