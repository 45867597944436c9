import { type AuditAction, audit } from '../../shared/accounts/audit.ts';
import { mayAddMissingRecords } from '../../shared/accounts/sent-form.ts';
import { AppError, type ErrorCode } from '../../shared/base/errors.ts';
import { derivedAuditId } from '../../shared/base/ids.ts';
import { isSuspended } from '../../shared/keys/api-key.ts';
import { findKey } from '../../shared/keys/manage-keys.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { changeTerms } from '../../shared/rides/change-terms.ts';
import type { Command } from '../../shared/rides/decide.ts';
import { timeOf } from '../../shared/rides/events.ts';
import type { ChangedTerms, Ride } from '../../shared/rides/ride-types.ts';
import type { SentRequest } from './answer.ts';
import { ownRide } from './ride-parts.tsx';

type ChangeRequest = Pick<SentRequest, 'service' | 'owner' | 'account' | 'sent' | 'from' | 'requestId' | 'param'>;

/**
 * Changes a ride on behalf of its key, as the API does. A suspended key accepts no offer here either; its rides can
 * still be cancelled. Throws like `applyAction`.
 */
async function changeAsPartner(
  request: ChangeRequest,
  { _id, keyId }: Pick<Ride, '_id' | 'keyId'>,
  command: Command,
): Promise<void> {
  const { service, owner, requestId, sent } = request;
  if (command.action === 'accept' && isSuspended(await findKey(keyId, owner)))
    throw new AppError('account_suspended', { message: 'The operator has suspended the key of this ride' });
  const origin = { by: 'dashboard' as const, requestId, form: sent.id, sender: senderOf(request) };
  const made = command.action === 'tellDriver' ? { ...command, origin } : command;
  await applyAction(service, _id, made, { keyId }, origin);
}

/** Changes what a ride asks for, on behalf of its key. Throws like `changeTerms`. */
export async function changeByDesk(
  request: Pick<ChangeRequest, 'service' | 'owner' | 'account' | 'sent' | 'from' | 'requestId'>,
  { _id, keyId }: Pick<Ride, '_id' | 'keyId'>,
  terms: ChangedTerms,
): Promise<void> {
  const { service, owner, sent, requestId } = request;
  const origin = { by: 'dashboard' as const, requestId, form: sent.id, sender: senderOf(request) };
  const { changes = [] } = await changeTerms(service, _id, terms, { keyId }, origin);
  const made = changes.find(({ form }) => form === sent.id);
  if (!made || !mayAddMissingRecords(made.at, service.now())) return;
  const entry = { action: 'ride_changed' as const, keyId, about: _id };
  const by = { ...owner, ...(made.sender ?? senderOf(request)) };
  await audit({ _id: derivedAuditId(entry.action, sent.id), ...by, ...entry }, service.now());
}

const senderOf = ({ account, from }: Pick<ChangeRequest, 'account' | 'from'>) => ({
  member: account.member.email,
  from,
});

/**
 * Adds an entry to the account's audit list, once per form, if this form has changed the ride. The entry names the member
 * whose request made the change: another member may send the same form. Resolves with true if it
 * has: with this request, or with an earlier one whose answer was lost.
 */
async function recordChange(
  request: ChangeRequest,
  { _id, keyId, events }: Pick<Ride, '_id' | 'keyId' | 'events'>,
  what: AuditAction,
): Promise<boolean> {
  const { service, owner, sent } = request;
  const made = events.find(({ form }) => form === sent.id);
  if (made && mayAddMissingRecords(timeOf(made), service.now())) {
    const by = { ...owner, ...(made.sender ?? senderOf(request)) };
    await audit({ _id: derivedAuditId(what, sent.id), ...by, action: what, keyId, about: _id }, service.now());
  }
  return made !== undefined;
}

/**
 * Changes the ride of a form on behalf of its key, as the API does, and adds an entry to the audit list. Resolves with
 * the ride after that, and with the refusal; null if the change was made, also by an earlier request with this form.
 */
export async function changeByForm(
  request: ChangeRequest,
  command: Command,
  what: AuditAction | undefined,
): Promise<{ ride: Ride; refusal: AppError | null }> {
  const found = await ownRide(request);
  const refusal = await changeAsPartner(request, found, command).then(() => null, refusalIn);
  const ride = await ownRide(request);
  const made = what !== undefined && (await recordChange(request, ride, what));
  return { ride, refusal: made ? null : refusal };
}

const explained: readonly ErrorCode[] = ['offer_not_found', 'account_suspended'];

/** The refusal of a change that the page of the ride explains. Other errors are rethrown. */
export function refusalIn(error: unknown): AppError {
  if (error instanceof AppError && (error.status === 409 || explained.includes(error.code))) return error;
  throw error;
}
