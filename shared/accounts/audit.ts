import mongoose from 'mongoose';
import { newAuditId } from '../base/ids.ts';
import { collection, findAll, insertOnce, recordSchema } from '../base/mongo/collection.ts';

/** The actions in an account that the dashboard's audit list shows, and those of operators. */
export const auditActions = [
  'key_created',
  'key_renamed',
  'key_rotated',
  'key_revoked',
  'webhook_url_set',
  'texting_set',
  'signing_secret_rolled',
  'signing_secret_viewed',
  'endpoint_added',
  'endpoint_turned_on',
  'endpoint_turned_off',
  'endpoint_deleted',
  'signed_in',
  'switched_in',
  'session_ended',
  'signed_out_everywhere',
  'account_suspended',
  'account_resumed',
  'key_suspended',
  'key_resumed',
  'limit_changed',
  'offer_accepted',
  'ride_cancelled',
  'trip_started',
  'ride_changed',
  'ride_erased',
  'events_resent',
  'desk_key_chosen',
  'driver_created',
  'driver_key_rotated',
  'driver_suspended',
  'driver_resumed',
  'driver_revoked',
  'pool_paused',
  'pool_resumed',
  'swept',
  'member_invited',
  'invitation_withdrawn',
  'member_joined',
  'role_changed',
  'member_removed',
  'member_left',
  'account_handed_over',
  'account_renamed',
  'support_phone_set',
  'secrets_rekeyed',
  'token_created',
  'token_revoked',
  'opt_out_cleared',
  'operator_signed_in',
  'backed_up',
  'restored',
  'rides_released',
] as const;
export type AuditAction = (typeof auditActions)[number];

/** An entry of an account's audit list: the action, its subject, its time and the client's address. */
export interface AuditEntry {
  _id: string;
  accountId: string;
  action: AuditAction;
  /** The id of the key, for an action on a key. */
  keyId?: string;
  /**
   * The ride, for an action on a ride; the endpoint, for an action on an endpoint of a key; the driver or pool, for an
   * action of the operator; the address and the role, or the new name, for a change of the team.
   */
  about?: string;
  /** The address of the member who did it, at that time, or words for the API key. Missing in entries of the operator. */
  member?: string;
  /** The operator's employee who did it. Not shown to the account. */
  by?: string;
  at: Date;
  /** The address of the client, or `commandLine`. */
  from: string;
}

/** The `from` of the operator's actions. */
export const commandLine = 'command line' as const;

const auditSchema = recordSchema();
auditSchema.index({ accountId: 1, at: -1, _id: -1 });
// The retention finds expired entries with this index (workers/periodic/retention).
auditSchema.index({ at: 1 });

export const AuditModel = mongoose.model<AuditEntry>('AuditEntry', auditSchema, 'audit');
const entries = collection<AuditEntry>(AuditModel);

/** A member of the account, or the operator, who is always named on the operators' pages. */
type AuditActor =
  | { member: string; from: string }
  | { by: string; from: string }
  | { by?: string; from: typeof commandLine };

/** Adds an entry to an account's audit list. With an `_id` (derivedAuditId), repeated calls add only one entry. */
export async function audit(
  {
    _id = newAuditId(),
    ...entry
  }: Omit<AuditEntry, '_id' | 'at' | 'member' | 'by' | 'from'> & { _id?: string } & AuditActor,
  nowMs: number,
): Promise<void> {
  await insertOnce(entries, { _id, ...entry, at: new Date(nowMs) });
}

/** An account's entries, newest first, at most `limit`; with `before`, only the entries after it in this order. */
export async function auditOf(
  accountId: string,
  limit: number,
  before?: Pick<AuditEntry, 'at' | '_id'>,
): Promise<AuditEntry[]> {
  const older = before && { $or: [{ at: { $lt: before.at } }, { at: before.at, _id: { $lt: before._id } }] };
  return findAll(entries, { accountId, ...older }, { sort: { at: -1, _id: -1 }, limit });
}

/** The entries of operators since a time, of all accounts, newest first, at most `limit`. */
export async function auditOfOperators(
  { since, by, action }: { since: Date; by?: string; action?: AuditAction },
  limit: number,
): Promise<AuditEntry[]> {
  const ofOperators = by === undefined ? { $or: [{ from: commandLine }, { by: { $exists: true } }] } : { by };
  const filter = { at: { $gte: since }, ...ofOperators, ...(action && { action }) };
  return findAll(entries, filter, { hint: { at: 1 }, sort: { at: -1 }, limit });
}
