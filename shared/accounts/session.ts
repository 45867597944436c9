import { randomBytes } from 'node:crypto';
import mongoose from 'mongoose';
import { sha256 } from '../ids.ts';
import { type Account, AccountModel } from './account.ts';

/** A browser in which somebody of an account has signed in to the dashboard. */
export interface Session {
  /** SHA-256 of the token that the browser's cookie holds. The token itself is not stored. */
  _id: string;
  accountId: string;
  createdAt: Date;
  lastUsedAt: Date;
  expiresAt: Date;
}

const sessionSchema = new mongoose.Schema<Session>(
  {
    _id: String,
    accountId: { type: String, required: true },
    createdAt: { type: Date, required: true },
    lastUsedAt: { type: Date, required: true },
    expiresAt: { type: Date, required: true },
  },
  { versionKey: false, autoIndex: false },
);
sessionSchema.index({ accountId: 1 });
sessionSchema.index({ expiresAt: 1 });

export const SessionModel = mongoose.model<Session>('Session', sessionSchema, 'sessions');
const sessions = SessionModel.collection as unknown as mongoose.mongo.Collection<Session>;

/** A session ends this long after its last use. */
export const sessionLifetimeMs = 30 * 24 * 3_600_000;
/** The use of a session is written down at most this often. */
const useResolutionMs = 3_600_000;

/** Starts a session of an account, and returns its token: 256 random bits, which only the browser's cookie keeps. */
export async function startSession(accountId: string, nowMs: number): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  const now = new Date(nowMs);
  await sessions.insertOne({
    _id: sha256(token),
    accountId,
    createdAt: now,
    lastUsedAt: now,
    expiresAt: new Date(nowMs + sessionLifetimeMs),
  });
  return token;
}

/** Resolves with the account that a session's token belongs to, or with null when the session has ended or never was. */
export async function accountOfSession(token: string, nowMs: number): Promise<Account | null> {
  const session = await sessions.findOne({ _id: sha256(token), expiresAt: { $gt: new Date(nowMs) } });
  if (!session) return null;
  if (nowMs - session.lastUsedAt.getTime() > useResolutionMs) {
    const times = { lastUsedAt: new Date(nowMs), expiresAt: new Date(nowMs + sessionLifetimeMs) };
    await sessions.updateOne({ _id: session._id }, { $set: times });
  }
  return AccountModel.findById(session.accountId).lean();
}

/** Those of these tokens whose session has not ended. Does not count as a use of it. */
export async function livingSessions(tokens: readonly string[], nowMs: number): Promise<Set<string>> {
  const byId = new Map(tokens.map((token) => [sha256(token), token]));
  const living = sessions.find(
    { _id: { $in: [...byId.keys()] }, expiresAt: { $gt: new Date(nowMs) } },
    { projection: { _id: 1 }, batchSize: byId.size + 1 },
  );
  return new Set((await living.toArray()).flatMap(({ _id }) => byId.get(_id) ?? []));
}

/** Ends a session: its next request, to any process, is refused. */
export async function endSession(token: string): Promise<void> {
  await sessions.deleteOne({ _id: sha256(token) });
}

/** Ends every session of an account. */
export async function endAllSessions(accountId: string): Promise<void> {
  await sessions.deleteMany({ accountId });
}
