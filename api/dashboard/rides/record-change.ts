import { type AuditAction, audit } from '../../../shared/accounts/audit.ts';
import { mayAddMissingRecords } from '../../../shared/accounts/sent-form.ts';
import type { Context } from '../../../shared/base/context.ts';
import { AppError } from '../../../shared/base/errors.ts';
import { derivedAuditId } from '../../../shared/base/ids.ts';
import { timeOf } from '../../../shared/rides/events.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { clientAddress } from '../../http/forwarded.ts';
import type { FormRequest } from '../page-routes.ts';

/**
 * Adds an entry to the account's audit list, once per form, if this form has changed the ride. Resolves with true if it
 * has: with this request, or with an earlier one whose answer was lost.
 */
export async function recordChange(
  service: Context,
  { ctx, account, owner, sent }: FormRequest,
  { _id, keyId, events }: Pick<Ride, '_id' | 'keyId' | 'events'>,
  what: AuditAction,
): Promise<boolean> {
  const made = events.find(({ form }) => form === sent.id);
  if (made && mayAddMissingRecords(timeOf(made), service.now())) {
    const from = clientAddress(ctx, service.config.trustedProxyHops);
    const by = { ...owner, member: account.member.email, from };
    await audit({ _id: derivedAuditId(what, sent.id), ...by, action: what, keyId, about: _id }, service.now());
  }
  return made !== undefined;
}

/** The refusal of a change that the page of the ride explains. Other errors are rethrown. */
export function refusalIn(error: unknown): AppError {
  if (error instanceof AppError && (error.status === 409 || error.code === 'offer_not_found')) return error;
  throw error;
}
