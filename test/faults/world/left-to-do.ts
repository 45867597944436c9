import { keys } from '../../../shared/keys/api-key.ts';
import { mails } from '../../../shared/mail/mail-row.ts';
import { messages } from '../../../shared/messages/message-row.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { attempts } from '../../../shared/webhooks/attempts.ts';
import { owesMail } from '../../../workers/periodic/outage-mails.ts';

/**
 * The number of rides, resends, test events, mails, messages and keys with open work. Old rides do not count: some of them never end.
 */
export async function countOpenWork(pastKeyIds: ReadonlySet<string>): Promise<number> {
  const isOpen = { $or: [{ unsettled: { $gt: 0 } }, { nextDueAt: { $exists: true } }, { 'timers.name': 'open' }] };
  const counts = await Promise.all([
    rides.countDocuments({ ...isOpen, keyId: { $nin: [...pastKeyIds] } }),
    attempts.countDocuments({ dueAt: { $exists: true } }),
    mails.countDocuments({ state: 'waiting' }),
    messages.countDocuments({ state: 'waiting' }),
    // A key with as many reports as a day allows waits until tomorrow.
    keys.countDocuments({ ...owesMail, 'outageMailsAt.3': { $exists: false } }),
  ]);
  return counts.reduce((sum, count) => sum + count, 0);
}
