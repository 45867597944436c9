import { sha256 } from '../base/ids.ts';
import { collection } from '../base/mongo/collection.ts';
import { timeLimit } from '../base/mongo/durability.ts';
import { type Account, AccountModel } from './account.ts';
import { type Session, sessionStore } from './session-store.ts';

const dayMs = 24 * 3_600_000;
/** A session ends at the latest this long after sign-in (contract, section 1). */
const longestSessionMs = 90 * dayMs;
/** For this long after a code or link was verified in a session, the session may see secrets and create live keys. */
const recentCodeMs = 12 * 3_600_000;

/** The browsers in which users of an account have signed in to the dashboard. */
const sessions = sessionStore<{ accountId: string }>('Session', 'sessions', ['accountId'], {
  longestMs: longestSessionMs,
});

export const SessionModel = sessions.model;
export const livingSessions = sessions.living;
export const endSession = sessions.end;

/** The fields of a session that the account's list of browsers shows. */
type BrowserFacts = Pick<Session, 'browser' | 'network'>;

/**
 * Starts a session of an account after a sign-in code or link was verified, and resolves with its token. With a given
 * token, a second call changes nothing.
 */
export const startSession = (
  accountId: string,
  nowMs: number,
  given: { token?: string } & BrowserFacts = {},
): Promise<string> => sessions.start({ accountId }, nowMs, { ...given, verifiedAt: new Date(nowMs) });

/** The session of a request. */
export type CurrentSession = Pick<Session, '_id' | 'verifiedAt'>;

/**
 * Resolves with the session of a token and its account; with null if the session has ended or never existed. Reads both
 * in one query, because every page of the dashboard waits for it.
 */
export async function accountOfSession(
  token: string,
  nowMs: number,
): Promise<{ account: Account; session: CurrentSession } | null> {
  const withAccount = {
    from: AccountModel.collection.name,
    localField: 'accountId',
    foreignField: '_id',
    as: 'accounts',
    // Only the desk needs these, and they can be long.
    pipeline: [{ $unset: ['places', 'deskForms'] }],
  };
  const [found] = await collection<Session>(SessionModel)
    .aggregate<Session & { accounts: Account[] }>(
      [{ $match: { _id: sha256(token) } }, { $lookup: withAccount }],
      timeLimit(),
    )
    .toArray();
  const account = found?.accounts[0];
  if (!account || !(await sessions.use(found, nowMs))) return null;
  return { account, session: { _id: found._id, ...(found.verifiedAt && { verifiedAt: found.verifiedAt }) } };
}

/** True if a code or link was verified in this session within the last 12 hours. */
export const hasRecentCode = ({ verifiedAt }: CurrentSession, nowMs: number): boolean =>
  verifiedAt !== undefined && nowMs - verifiedAt.getTime() < recentCodeMs;

/** Records that a code or link was verified in a session. */
export async function confirmSession({ _id }: CurrentSession, nowMs: number): Promise<void> {
  await SessionModel.updateOne({ _id }, { $max: { verifiedAt: new Date(nowMs) } });
}

/** The browsers that are signed in to an account, last used first, at most `limit`. */
export async function sessionsOf(accountId: string, limit: number, nowMs: number): Promise<Session[]> {
  const since = { createdAt: { $gt: new Date(nowMs - longestSessionMs) }, expiresAt: { $gt: new Date(nowMs) } };
  return SessionModel.find({ accountId, ...since })
    .sort({ lastUsedAt: -1, _id: 1 })
    .limit(limit)
    .lean();
}

/** Ends one session of an account by its id. A session of another account is unaffected. */
export async function endSessionOf(accountId: string, sessionId: string): Promise<void> {
  await SessionModel.deleteOne({ accountId, _id: sessionId });
}

/** Ends every session of an account except one. */
export async function endOtherSessions(accountId: string, { _id }: CurrentSession): Promise<void> {
  await SessionModel.deleteMany({ accountId, _id: { $ne: _id } });
}

/** The lifetime of the session cookie in a browser. */
export const cookieLifetimeMs = longestSessionMs;
