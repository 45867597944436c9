import type mongoose from 'mongoose';
import { derivedAuditId, sha256 } from '../base/ids.ts';
import { collection, findAll } from '../base/mongo/collection.ts';
import { timeLimit } from '../base/mongo/durability.ts';
import { type Account, AccountModel, accountsWith, founderIdOf, type Role } from './account.ts';
import { audit } from './audit.ts';
import { type CurrentAccount, currentAccount, type OtherAccount } from './members.ts';
import { type Session, sessionStore } from './session-store.ts';

const dayMs = 24 * 3_600_000;
/** A session and its cookie end at the latest this long after sign-in (contract, section 1). */
export const longestSessionMs = 90 * dayMs;
/** For this long after a code or link was verified in a session, the session may see secrets and create live keys. */
const recentCodeMs = 12 * 3_600_000;

/** A member of an account. */
export interface MemberRef {
  accountId: string;
  memberId: string;
}
type StoredSession = Session & MemberRef;

/** The browsers in which members of an account have signed in to the dashboard. */
const sessions = sessionStore<{ memberId: string; accountId: string }>(
  'Session',
  'sessions',
  ['memberId', 'accountId'],
  {
    longestMs: longestSessionMs,
  },
);

export const SessionModel = sessions.model;
export const livingSessions = sessions.living;
export const endSession = sessions.end;
/** Ends every session of a member. */
export const endSessionsOf = sessions.endAll;
const stored = collection<StoredSession>(SessionModel);

/** Filters the sessions of a person, who is these members. */
const ofPerson = (refs: readonly MemberRef[]): mongoose.mongo.Filter<StoredSession> => ({
  memberId: { $in: refs.map(({ memberId }) => memberId) },
});

/** Filters the sessions of the signed-in person in all accounts, also in those that the switch does not list. */
async function ofSignedIn({ _id, member }: CurrentAccount): Promise<mongoose.mongo.Filter<StoredSession>> {
  const others = (await accountsWith(member.email)).flatMap(({ _id: accountId, members }) =>
    members.map(({ id: memberId }) => ({ accountId, memberId })),
  );
  return ofPerson([{ accountId: _id, memberId: member.id }, ...others]);
}

/** The fields of a session that the list of browsers shows. */
type BrowserFacts = Pick<Session, 'browser' | 'network'>;

/**
 * Starts a session of a member (by default the founder) after a sign-in code or link was verified, and resolves with its
 * token. With a given token, a second call changes nothing.
 */
export const startSession = (
  accountId: string,
  nowMs: number,
  { memberId = founderIdOf(accountId), ...given }: { token?: string; memberId?: string } & BrowserFacts = {},
): Promise<string> => sessions.start({ accountId, memberId }, nowMs, { ...given, verifiedAt: new Date(nowMs) });

/** The session of a request. */
export type CurrentSession = Pick<Session, '_id' | 'verifiedAt'>;

/** The session with its account, and with the accounts of its person. */
type FoundSession = StoredSession & { accounts: Account[]; ofPerson: OtherAccount[] };

/** The switch lists at most this many accounts. */
const mostListed = 100;

const from = AccountModel.collection.name;
const ownEntry = {
  $filter: { input: { $first: '$accounts.members' }, cond: { $eq: ['$$this.id', '$memberId'] } },
};
/** Never null, which would match every account without members. */
const ownEmail = { $ifNull: [{ $first: '$own.email' }, ''] };
/** A field of the first of an account's members who meets a condition. */
const firstWith = (cond: object, field: 'id' | 'email') => ({
  $let: {
    vars: { found: { $first: { $filter: { input: '$members', cond } } } },
    in: `$$found.${field}`,
  },
});
const withAccounts = [
  {
    $lookup: {
      from,
      localField: 'accountId',
      foreignField: '_id',
      // Only the desk needs these, and they can be long.
      pipeline: [{ $unset: ['places', 'deskForms'] }],
      as: 'accounts',
    },
  },
  { $set: { own: ownEntry } },
  { $set: { ownEmail } },
  {
    $lookup: {
      from,
      localField: 'ownEmail',
      foreignField: 'members.email',
      let: { email: '$ownEmail' },
      // Only the listed facts: all members of many accounts can be larger than a document may be.
      pipeline: [
        {
          $project: {
            name: { $ifNull: ['$name', firstWith({ $eq: ['$$this.role', 'owner'] }, 'email'), '$_id'] },
            memberId: firstWith({ $eq: ['$$this.email', '$$email'] }, 'id'),
          },
        },
        { $sort: { name: 1, _id: 1 } },
        { $limit: mostListed },
      ],
      as: 'ofPerson',
    },
  },
];

/**
 * Resolves with the session of a token and its account; with null if the session has ended or never existed, or if its
 * member is no longer in the account. Reads all in one query, because every page of the dashboard waits for it.
 */
export async function accountOfSession(
  token: string,
  nowMs: number,
): Promise<{ account: CurrentAccount; session: CurrentSession } | null> {
  const [found] = await stored
    .aggregate<FoundSession>([{ $match: { _id: sha256(token) } }, ...withAccounts], timeLimit())
    .toArray();
  const [account] = found?.accounts ?? [];
  const current = found && account && currentAccount(account, found.memberId, found.ofPerson);
  if (!current || !(await sessions.use(found, nowMs))) return null;
  return { account: current, session: { _id: found._id, ...(found.verifiedAt && { verifiedAt: found.verifiedAt }) } };
}

/** The members, with their roles, to whom the living sessions of these tokens belong. */
export async function membersOfSessions(
  tokens: readonly string[],
  nowMs: number,
): Promise<Map<string, MemberRef & { role: Role; deskKeyId?: string }>> {
  const [living, found] = await Promise.all([
    sessions.living(tokens, nowMs),
    stored
      .aggregate<FoundSession>(
        [{ $match: { _id: { $in: tokens.map(sha256) } } }, ...withAccounts.slice(0, 1)],
        timeLimit(),
      )
      .toArray(),
  ]);
  const byId = new Map(found.map((session) => [session._id, session]));
  return new Map(
    [...living].flatMap((token) => {
      const session = byId.get(sha256(token));
      const [account] = session?.accounts ?? [];
      const member = session && account && currentAccount(account, session.memberId, [])?.member;
      if (!member) return [];
      const { accountId, memberId } = session;
      return [[token, { accountId, memberId, role: member.role, deskKeyId: account.deskKeyId }]];
    }),
  );
}

/** Makes another account the current one of a session. */
export async function switchSession({ _id }: CurrentSession, { accountId, memberId }: MemberRef): Promise<void> {
  await stored.updateOne({ _id }, { $set: { accountId, memberId } });
}

/**
 * Makes an account of the person the current one of the session. First adds an entry to the account's audit list, once
 * per form and session, as signing in does.
 */
export async function enterAccount(
  { account, session, formId, from }: Entering,
  to: MemberRef,
  nowMs: number,
): Promise<void> {
  const _id = derivedAuditId('switched_in', session._id, to.accountId, formId);
  const entry = { accountId: to.accountId, member: account.member.email, from };
  await audit({ _id, ...entry, action: 'switched_in' }, nowMs);
  await switchSession(session, to);
}

type Entering = { account: CurrentAccount; session: CurrentSession; formId: string; from: string };

/** True if a code or link was verified in this session within the last 12 hours. */
export const hasRecentCode = ({ verifiedAt }: CurrentSession, nowMs: number): boolean =>
  verifiedAt !== undefined && nowMs - verifiedAt.getTime() < recentCodeMs;

/** Records that a code or link was verified in a session. */
export async function confirmSession({ _id }: CurrentSession, nowMs: number): Promise<void> {
  await SessionModel.updateOne({ _id }, { $max: { verifiedAt: new Date(nowMs) } });
}

/** The browsers in which the person is signed in, last used first, at most `limit`. */
export async function sessionsOf(account: CurrentAccount, limit: number, nowMs: number): Promise<Session[]> {
  const filter = await ofSignedIn(account);
  const living = { ...filter, expiresAt: { $gt: new Date(nowMs) } };
  return findAll(stored, living, { sort: { lastUsedAt: -1, _id: 1 }, limit });
}

/** Of these memberships of one person, the one that was used last in a session. */
export async function lastUsed(refs: readonly MemberRef[]): Promise<MemberRef | undefined> {
  const found = await stored.findOne(ofPerson(refs), { sort: { lastUsedAt: -1 } });
  return found ?? undefined;
}

/** When each of these members was last seen in a session, by member id. */
export async function lastSeen(refs: readonly MemberRef[]): Promise<Map<string, Date>> {
  const found = await stored
    .aggregate<{ _id: string; at: Date }>([
      { $match: ofPerson(refs) },
      { $group: { _id: '$memberId', at: { $max: '$lastUsedAt' } } },
    ])
    .toArray();
  return new Map(found.map(({ _id, at }) => [_id, at]));
}

/** True if the person has a session with this id. */
export const hasSession = async (account: CurrentAccount, sessionId: string): Promise<boolean> =>
  (await stored.countDocuments({ ...(await ofSignedIn(account)), _id: sessionId }, { limit: 1 })) === 1;

/** Ends one session of the person by its id. A session of another person is unaffected. */
export async function endSessionOf(account: CurrentAccount, sessionId: string): Promise<void> {
  await stored.deleteOne({ ...(await ofSignedIn(account)), _id: sessionId });
}

/** Ends every session of the person except one. */
export async function endOtherSessions(account: CurrentAccount, { _id }: CurrentSession): Promise<void> {
  await stored.deleteMany({ ...(await ofSignedIn(account)), _id: { $ne: _id } });
}
