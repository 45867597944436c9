import { operatorEmail } from '../../../shared/accounts/account.ts';
import { type AuditAction, audit } from '../../../shared/accounts/audit.ts';
import { mayAddMissingRecords } from '../../../shared/accounts/sent-form.ts';
import type { Context } from '../../../shared/base/context.ts';
import { derivedAuditId, derivedMailId } from '../../../shared/base/ids.ts';
import { findKey, type KeyFacts } from '../../../shared/keys/manage-keys.ts';
import { type KeyNews, keyMail } from '../../../shared/mail/key-mails.ts';
import { canSendMail, sendMail } from '../../../shared/mail/mail.ts';
import { clientAddress } from '../../http/forwarded.ts';
import type { FormRequest } from '../page-routes.ts';

/** The records of changes to keys: an entry in the account's audit list, and a mail about a new secret. */
export function keyRecords(service: Context) {
  const { config } = service;
  const addressOf = ({ ctx }: FormRequest) => clientAddress(ctx, config.trustedProxyHops);

  /** Adds an entry to the account's audit list, once per form. */
  const record = (request: FormRequest, what: AuditAction, keyId: string, form = request.sent.id) =>
    audit(
      {
        _id: derivedAuditId(what, form),
        ...request.owner,
        action: what,
        keyId,
        from: addressOf(request),
      },
      service.now(),
    );

  /** Records a new key or a rotation in the audit list and by mail, each once per form. Resolves with the key. */
  async function recordNewKey(request: FormRequest, what: KeyNews['what'], keyId: string, at: Date): Promise<KeyFacts> {
    const key = await findKey(keyId, request.owner);
    if (!mayAddMissingRecords(at, service.now())) return key;
    await record(request, `key_${what}`, keyId);
    const { email } = request.account;
    if (email === operatorEmail || !canSendMail(config)) return key;
    const mail = keyMail(config, email, { what, keyId, name: key.name, mode: key.mode, at, from: addressOf(request) });
    await sendMail(service, mail, derivedMailId(what, request.sent.id));
    return key;
  }

  return { record, recordNewKey };
}
