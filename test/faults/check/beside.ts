import { type AuditEntry, AuditModel } from '../../../shared/accounts/audit.ts';
import { type ApiKey, keys } from '../../../shared/keys/api-key.ts';
import { type MailRow, mails } from '../../../shared/mail/mail-row.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { type AttemptRecord, attempts } from '../../../shared/webhooks/attempts.ts';
import type { ReceivedMail } from '../../support/mail-server.ts';
import type { Fault } from '../faults-log.ts';
import type { FeedReader } from '../load/feed-readers.ts';
import type { Press } from '../load/person.ts';
import type { Call } from '../load/request.ts';
import type { Receipt } from '../world/receivers.ts';
import type { World } from '../world/world.ts';
import { askedViolations } from './asked-attempts.ts';
import { feedViolations } from './feed.ts';
import { formViolations } from './forms.ts';
import { mailViolations } from './mails.ts';
import { gatherPast, type PastEvidence, pastViolations } from './past.ts';
import { termViolations } from './terms.ts';

/**
 * Evidence about everything except the rides themselves: feeds, dashboard forms, resends, mails, keys and old rides.
 */
export interface BesideEvidence {
  feeds: FeedReader[];
  presses: Press[];
  attempts: AttemptRecord[];
  asked: Receipt[];
  mails: MailRow[];
  received: ReceivedMail[];
  keys: ApiKey[];
  audit: AuditEntry[];
  past: PastEvidence;
}

export async function gatherBeside(
  world: World,
  { feeds, presses }: Pick<BesideEvidence, 'feeds' | 'presses'>,
): Promise<BesideEvidence> {
  const askedFor = { kind: { $in: ['test', 'redelivery'] } } as const;
  return {
    feeds,
    presses,
    attempts: await attempts.find(askedFor).toArray(),
    asked: world.receivers.asked,
    mails: await mails.find({}).toArray(),
    received: world.mails,
    keys: await keys.find({}).toArray(),
    audit: (await AuditModel.collection.find({}).toArray()) as unknown as AuditEntry[],
    past: await gatherPast(world.past),
  };
}

interface Run {
  rides: readonly Ride[];
  receipts: readonly Receipt[];
  journal: readonly Call[];
  faults: readonly Fault[];
}

/** Violations of all promises except those about the five operations, deliveries and drivers. */
export function besideViolations(beside: BesideEvidence, { rides, receipts, journal, faults }: Run): string[] {
  return [
    ...feedViolations(beside.feeds, rides, faults),
    ...askedViolations({ ...beside, rides, faults, journal }),
    ...mailViolations({ ...beside, faults }),
    ...formViolations({ ...beside, rides, faults }),
    ...termViolations(rides, journal, faults),
    ...pastViolations(beside.past, receipts),
    ...rides.filter(({ erasedAt }) => erasedAt).map(({ _id }) => `${_id} is new, but is erased`),
  ];
}
