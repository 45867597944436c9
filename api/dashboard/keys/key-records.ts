import { type AuditAction, audit } from '../../../shared/accounts/audit.ts';
import { addressesOf, mailedRoles } from '../../../shared/accounts/members.ts';
import { mayAddMissingRecords } from '../../../shared/accounts/sent-form.ts';
import type { Context } from '../../../shared/base/context.ts';
import { derivedAuditId, derivedMailId } from '../../../shared/base/ids.ts';
import { findKey, type KeyFacts } from '../../../shared/keys/manage-keys.ts';
import { type KeyNews, keyMail } from '../../../shared/mail/key-mails.ts';
import { canSendMail, sendMail } from '../../../shared/mail/mail.ts';
import { clientAddress } from '../../http/forwarded.ts';
import type { FormRequest } from '../page-routes.ts';

/** The records of changes to keys: an entry in the account's audit list, and mails about a new secret to the owners and developers. */
export function keyRecords(service: Context) {
  const { config } = service;
  const addressOf = ({ ctx }: FormRequest) => clientAddress(ctx, service);

  /** Adds an entry to the account's audit list, once per form. */
  const record = (request: FormRequest, what: AuditAction, keyId: string, form = request.sent.id) =>
    audit(
      {
        _id: derivedAuditId(what, form),
        ...request.owner,
        action: what,
        keyId,
        member: request.account.member.email,
        from: addressOf(request),
      },
      service.now(),
    );

  /** Records a new key or a rotation in the audit list and by mail, each once per form. Resolves with the key. */
  async function recordNewKey(request: FormRequest, what: KeyNews['what'], keyId: string, at: Date): Promise<KeyFacts> {
    const key = await findKey(keyId, request.owner);
    if (!mayAddMissingRecords(at, service.now())) return key;
    await record(request, `key_${what}`, keyId);
    if (!canSendMail(config)) return key;
    const news = { what, keyId, name: key.name, mode: key.mode, at, from: addressOf(request) };
    for (const email of addressesOf(request.account, mailedRoles)) {
      await sendMail(service, keyMail(config, email, news), derivedMailId(what, request.sent.id, email));
    }
    return key;
  }

  return { record, recordNewKey };
}
