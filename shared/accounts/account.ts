import { domainToASCII } from 'node:url';
import Joi from 'joi';
import mongoose from 'mongoose';
import { newAccountId } from '../base/ids.ts';
import { mongoNow } from '../base/mongo/clock.ts';
import { collection, findAll, recordSchema } from '../base/mongo/collection.ts';
import type { AuditAction } from './audit.ts';
import type { AppliedForm } from './sent-form.ts';

/**
 * The roles of members. `owner` may do everything, `developer` builds the integration, `desk` books rides, and
 * `finance` reads usage and statements. web/kit/roles.ts groups them, and each page lists its roles.
 */
export const roles = ['owner', 'developer', 'desk', 'finance'] as const;
export type Role = (typeof roles)[number];

/** A person of an account, who signs in with this address. */
export interface Member {
  id: string;
  email: string;
  role: Role;
  joinedAt: Date;
}

/** An invitation to an account. Its token is only in the mail. */
export interface Invitation {
  id: string;
  email: string;
  role: Role;
  /** The address of the owner who sent it. */
  invitedBy: string;
  at: Date;
  expiresAt: Date;
  /** SHA-256 of the token in the mailed link. */
  hash: string;
}

/** A change of the team that a form has made. Sending the form again completes its effects (change-team.ts). */
export interface TeamForm extends Pick<AppliedForm, 'id' | 'at'> {
  /** The audit entry: its action, its text, the address of its member, and the client's address. */
  action: AuditAction;
  about?: string;
  by: string;
  from: string;
  /** The member whose sessions end. */
  memberId?: string;
  /** True once all effects are complete. */
  isDone?: true;
}

/** A place that an account has saved for its desk. */
export interface Place {
  id: string;
  name: string;
  /** The name by which the account's names are unique (place-name.ts). */
  foldedName: string;
  address?: string;
  lat: number;
  lng: number;
}

export interface Account {
  _id: string;
  /** The founder's address. Once the founder is no owner, the account's id: the address may found another account. */
  email: string;
  createdAt: Date;
  /** Without a name, the account is shown with the address of its first owner. */
  name?: string;
  /** The number behind "I need help" on the live maps, in E.164 form. Without one, or if empty, the operator's is. */
  supportPhone?: string;
  members: Member[];
  invitations?: Invitation[];
  /** The number of changes of the team (change-team.ts). */
  teamRev?: number;
  /** The dashboard forms that changed the team, newest last. */
  teamForms?: TeamForm[];
  /** The first time that a user of the account opened the test console. */
  consoleSeenAt?: Date;
  /** Set while the operator has suspended the account: its keys are refused, and its dashboard is read-only. */
  suspendedAt?: Date;
  /** The key with which the desk books (desk.ts). */
  deskKeyId?: string;
  /** The id of the place that is the default pickup. The place may have been removed. */
  defaultPlaceId?: string;
  /** Only in the stored document: a session's account lacks these, because every page reads it. */
  places?: Place[];
  /** The ids of the last forms that changed the desk. */
  deskForms?: string[];
}

const accountSchema = recordSchema();
accountSchema.index({ email: 1 }, { unique: true });
accountSchema.index({ 'members.email': 1 });
accountSchema.index({ 'invitations.hash': 1 }, { sparse: true });

export const AccountModel = mongoose.model<Account>('Account', accountSchema);
export const accounts = collection<Account>(AccountModel);

/** The address of the account that owns the keys created on the command line without `--account`. */
export const operatorEmail = 'operator@localhost';

/** The member id of the account's founder. */
export const founderIdOf = (accountId: string): string => accountId.replace('acct_', 'member_');

export const founderOf = ({ _id, email, createdAt }: Pick<Account, '_id' | 'email' | 'createdAt'>): Member => ({
  id: founderIdOf(_id),
  email,
  role: 'owner',
  joinedAt: createdAt,
});

const emailSchema = Joi.string()
  .trim()
  .lowercase()
  .email({ tlds: { allow: false }, minDomainSegments: 2, allowUnicode: false })
  .invalid(operatorEmail)
  .required();

/** The one form of an address: in lower case, with its domain in ASCII (`xn--...`), as browsers send it. */
export function emailForm(typed: string): string {
  const [, name = '', domain = ''] = /^(.*)@([^@]*)$/s.exec(typed.trim()) ?? [];
  const ascii = domainToASCII(domain);
  return (ascii ? `${name}@${ascii}` : typed.trim()).toLowerCase();
}

/** The form of a typed e-mail address (`emailForm`). Returns null if it is not valid. */
export function parseEmail(typed: string): string | null {
  const { value, error } = emailSchema.validate(emailForm(typed));
  return error ? null : value;
}

/**
 * Resolves with the account that an e-mail address founded. Creates the account if there is none. Upper and lower case
 * count as the same, and so do the two forms of an international domain.
 */
export async function accountOf(address: string): Promise<Account> {
  const email = emailForm(address);
  const founded = { _id: newAccountId(), createdAt: await mongoNow() };
  return AccountModel.findOneAndUpdate(
    { email },
    { $setOnInsert: { ...founded, members: [founderOf({ ...founded, email })] } },
    { upsert: true, returnDocument: 'after', lean: true },
  ).orFail() as unknown as Promise<Account>;
}

/** An account with only one of its members. */
export type Membership = Pick<Account, '_id' | 'email' | 'members'>;

/** The accounts of which an e-mail address is a member, each with only this member. */
export async function accountsWith(address: string): Promise<Membership[]> {
  const email = emailForm(address);
  return findAll(
    accounts,
    { 'members.email': email },
    { projection: { email: 1, members: { $elemMatch: { email } } } },
  );
}

/** The present role of a member; undefined if there is no such member. */
export async function roleIn(accountId: string, memberId: string): Promise<Role | undefined> {
  const account = await accounts.findOne({ _id: accountId });
  return account?.members.find(({ id }) => id === memberId)?.role;
}

/** Records that the account has opened the test console, which is a step of the onboarding checklist. */
export async function noteConsoleSeen({ _id, consoleSeenAt }: Account, nowMs: number): Promise<void> {
  if (!consoleSeenAt) await AccountModel.updateOne({ _id }, { $set: { consoleSeenAt: new Date(nowMs) } });
}
