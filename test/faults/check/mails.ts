import type { MailRow } from '../../../shared/mail/mail-row.ts';
import type { ReceivedMail } from '../../support/mail-server.ts';
import { type Fault, overlaps } from '../faults-log.ts';
import type { Press } from '../load/person.ts';
import { groupBy } from './grouped.ts';

export interface MailEvidence {
  mails: readonly MailRow[];
  received: readonly ReceivedMail[];
  presses: readonly Press[];
  faults: readonly Fault[];
}

/** Longest time for one try to send a mail and to record it. */
const tryMs = 30_000;

/** Violations in mails: each accepted mail must be sent and recorded, and may be sent twice only after a fault. */
export function mailViolations({ mails, received, presses, faults }: MailEvidence): string[] {
  const copies = groupBy(received, idOf);
  const rows = new Map(mails.map((row) => [row._id, row]));
  const forms = groupBy(
    presses.filter(({ button }) => button === 'code'),
    ({ effect }) => effect,
  );
  return [
    ...mails.flatMap(({ _id, state, reason, sealed }) => [
      ...(state === 'sent' ? [] : [`${_id} is ${state} ${reason ?? ''}`]),
      ...(state === 'sent' && !copies.has(_id) ? [`${_id} is recorded as sent, but never arrived`] : []),
      ...(state === 'sent' && sealed ? [`${_id} is sent, but its text is still stored`] : []),
    ]),
    ...[...copies].flatMap(([id, all]) => {
      const row = rows.get(id);
      if (!row) return [`${id} arrived, but is not recorded`];
      const isExcused = faults.some(
        (fault) => isOfSender(fault) && overlaps(fault, row.createdAt.getTime(), endOf(row)),
      );
      return all.length > 1 && !isExcused ? [`${id} arrived ${all.length} times without a fault`] : [];
    }),
    ...[...forms].flatMap(([email, pressed]) => {
      const ids = new Set(received.filter(({ to }) => to.includes(email)).map(idOf));
      if (ids.size > 1) return [`one form sent ${ids.size} mails to ${email}`];
      const isAccepted = pressed.some(({ status }) => status === 303);
      return isAccepted && ids.size === 0 ? [`a mail to ${email} was accepted, but never arrived`] : [];
    }),
  ];
}

const idOf = ({ raw }: ReceivedMail): string => /^message-id:\s*<([^@>]+)@/im.exec(raw)?.[1] ?? 'a mail without an id';
const isOfSender = ({ hit }: Fault): boolean => hit === 'worker' || hit === 'mongo';
const endOf = ({ createdAt, finishedAt = createdAt }: MailRow): number => finishedAt.getTime() + tryMs;
