import { sha256 } from '../base/ids.ts';
import { collection } from '../base/mongo/collection.ts';
import { timeLimit } from '../base/mongo/durability.ts';
import { type Account, AccountModel } from './account.ts';
import { type Session, sessionStore } from './session-store.ts';

const dayMs = 24 * 3_600_000;
/** A session ends this long after sign-in, however often it is used (contract, section 1). */
const longestSessionMs = 90 * dayMs;
/** Secrets are shown, and live keys made, for this long after a code or a link was verified. */
const codeIsRecentMs = 12 * 3_600_000;

/** The browsers in which somebody of an account has signed in to the dashboard. */
const sessions = sessionStore<{ accountId: string }>('Session', 'sessions', ['accountId'], {
  longestMs: longestSessionMs,
});

export const SessionModel = sessions.model;
export const livingSessions = sessions.living;
export const endSession = sessions.end;

/** The browser that signs in, as the account's list of browsers shows it. */
type BrowserFacts = Pick<Session, 'browser' | 'network'>;

/**
 * Starts a session of an account whose person has just shown a code, and resolves with its token. With a given token,
 * repeating this changes nothing.
 */
export const startSession = (
  accountId: string,
  nowMs: number,
  given: { token?: string } & BrowserFacts = {},
): Promise<string> => sessions.start({ accountId }, nowMs, { ...given, verifiedAt: new Date(nowMs) });

/** The session of a request. */
export type CurrentSession = Pick<Session, '_id' | 'verifiedAt'>;

/**
 * Resolves with the account that a session's token belongs to, or with null when the session has ended or never was. Reads
 * both at once, because every page of the dashboard waits for this first.
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

/** Whether a code or a link was verified in this session within the last 12 hours. */
export const hasRecentCode = ({ verifiedAt }: CurrentSession, nowMs: number): boolean =>
  verifiedAt !== undefined && nowMs - verifiedAt.getTime() < codeIsRecentMs;

/** Notes that a code or a link was verified in a session. */
export async function confirmSession({ _id }: CurrentSession, nowMs: number): Promise<void> {
  await SessionModel.updateOne({ _id }, { $max: { verifiedAt: new Date(nowMs) } });
}

/** The browsers signed in to an account, the last used first, `limit` at most. */
export async function sessionsOf(accountId: string, limit: number, nowMs: number): Promise<Session[]> {
  const since = { createdAt: { $gt: new Date(nowMs - longestSessionMs) }, expiresAt: { $gt: new Date(nowMs) } };
  return SessionModel.find({ accountId, ...since })
    .sort({ lastUsedAt: -1, _id: 1 })
    .limit(limit)
    .lean();
}

/** Ends one session of an account by its id. Another account's session stays as it is. */
export async function endSessionOf(accountId: string, sessionId: string): Promise<void> {
  await SessionModel.deleteOne({ accountId, _id: sessionId });
}

/** Ends every session of an account but one. */
export async function endOtherSessions(accountId: string, { _id }: CurrentSession): Promise<void> {
  await SessionModel.deleteMany({ accountId, _id: { $ne: _id } });
}

/** How long a browser keeps the cookie of its session. */
export const cookieLifetimeMs = longestSessionMs;
