import mongoose from 'mongoose';
import { newAuditId } from '../base/ids.ts';
import { collection, insertOnce } from '../base/mongo/collection.ts';

/** What somebody did in an account, by its name in the dashboard's list. */
const auditActions = [
  'key_created',
  'key_renamed',
  'key_rotated',
  'key_revoked',
  'webhook_url_set',
  'signing_secret_rolled',
  'signing_secret_viewed',
  'signed_in',
  'session_ended',
  'signed_out_everywhere',
  'account_suspended',
  'account_resumed',
  'key_suspended',
  'key_resumed',
  'ride_cancelled',
  'ride_erased',
  'events_resent',
  'driver_suspended',
  'driver_resumed',
  'pool_paused',
  'pool_resumed',
  'swept',
] as const;
export type AuditAction = (typeof auditActions)[number];

/** Who did what to which key, when and from which address. Shown to the account. */
export interface AuditEntry {
  _id: string;
  accountId: string;
  action: AuditAction;
  /** The key's id, for what is done to a key. */
  keyId?: string;
  /** The ride, driver or pool that the operator did it to. */
  about?: string;
  /** Who of the operator's people did it. Not shown to the account. */
  by?: string;
  at: Date;
  /** The address of the client, or `commandLine`. */
  from: string;
}

/** Where what the service's operator does comes from. */
export const commandLine = 'command line';

const auditSchema = new mongoose.Schema<AuditEntry>(
  {
    _id: String,
    accountId: { type: String, required: true },
    action: { type: String, enum: auditActions, required: true },
    keyId: String,
    about: String,
    by: String,
    at: { type: Date, required: true },
    from: { type: String, required: true },
  },
  { versionKey: false, autoIndex: false },
);
auditSchema.index({ accountId: 1, at: -1, _id: -1 });
// Finds the entries that are too old (workers/retention).
auditSchema.index({ at: 1 });

export const AuditModel = mongoose.model<AuditEntry>('AuditEntry', auditSchema, 'audit');
const entries = collection<AuditEntry>(AuditModel);

/** Notes what was done in an account. With an `_id` (derivedAuditId) it is noted once, however often this is repeated. */
export async function audit(
  { _id = newAuditId(), ...entry }: Omit<AuditEntry, '_id' | 'at'> & { _id?: string },
  nowMs: number,
): Promise<void> {
  await insertOnce(entries, { _id, ...entry, at: new Date(nowMs) });
}

/** Entries of an account, newest first and `limit` at most; with `before`, those that follow that entry in this order. */
export async function auditOf(
  accountId: string,
  limit: number,
  before?: Pick<AuditEntry, 'at' | '_id'>,
): Promise<AuditEntry[]> {
  const older = before && { $or: [{ at: { $lt: before.at } }, { at: before.at, _id: { $lt: before._id } }] };
  return entries
    .find({ accountId, ...older })
    .sort({ at: -1, _id: -1 })
    .limit(limit)
    .toArray();
}
