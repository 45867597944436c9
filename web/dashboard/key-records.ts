import { type AuditAction, audit } from '../../shared/accounts/audit.ts';
import { mailedAddresses } from '../../shared/accounts/members.ts';
import { mayAddMissingRecords } from '../../shared/accounts/sent-form.ts';
import { derivedAuditId, derivedMailId } from '../../shared/base/ids.ts';
import { findKey, type KeyFacts } from '../../shared/keys/manage-keys.ts';
import { type KeyNews, keyMail } from '../../shared/mail/key-mails.ts';
import { canSendMail, sendMail } from '../../shared/mail/mail.ts';
import type { SentRequest } from '../kit/answer.ts';

/** Adds an entry to the account's audit list, once per form. */
export const record = (
  { account, owner, sent, from, service }: SentRequest,
  action: AuditAction,
  keyId: string,
  form = sent.id,
  about?: string,
) =>
  audit(
    {
      _id: derivedAuditId(action, form),
      ...owner,
      action,
      keyId,
      ...(about && { about }),
      member: account.member.email,
      from,
    },
    service.now(),
  );

/**
 * Records a new key or a rotation in the audit list and by mail to the owners and developers, each once per form. Resolves
 * with the key.
 */
export async function recordNewKey(
  request: SentRequest,
  what: KeyNews['what'],
  keyId: string,
  at: Date,
): Promise<KeyFacts> {
  const { account, owner, sent, from, service } = request;
  const key = await findKey(keyId, owner);
  if (!mayAddMissingRecords(at, service.now())) return key;
  await record(request, `key_${what}`, keyId);
  if (!canSendMail(service.config)) return key;
  const news = { what, keyId, name: key.name, mode: key.mode, at, from };
  for (const email of mailedAddresses(account)) {
    await sendMail(service, keyMail(service.config, email, news), derivedMailId(what, sent.id, email));
  }
  return key;
}
