import { randomBytes } from 'node:crypto';
import mongoose from 'mongoose';
import { sha256 } from '../base/ids.ts';
import { batchedFind } from '../base/mongo/batch.ts';
import { collection, insertOnce } from '../base/mongo/collection.ts';
import { timeLimit } from '../base/mongo/durability.ts';

/** A browser in which somebody has signed in. The fields of its owner are beside these. */
export interface Session {
  /** SHA-256 of the token that the browser's cookie holds. The token itself is not stored. */
  _id: string;
  createdAt: Date;
  lastUsedAt: Date;
  expiresAt: Date;
  /** When a code or a link was last verified in it. Missing in sessions of an earlier version. */
  verifiedAt?: Date;
  /** The browser's name, as people read it, and the client's network: as they were at sign-in. */
  browser?: string;
  network?: string;
}

/** A session ends this long after its last use. */
export const sessionLifetimeMs = 30 * 24 * 3_600_000;
/** The use of a session is written down at most this often. */
const useResolutionMs = 3_600_000;

/** Resolves with the owner of a session by its token, or with null when the session has ended or never was. */
type FindOwner<Owner> = (token: string, nowMs: number) => Promise<(Owner & Pick<Session, '_id' | 'verifiedAt'>) | null>;

type StartedWith = { token?: string } & Pick<Session, 'verifiedAt' | 'browser' | 'network'>;

/** The sessions of one kind of owner. */
interface SessionStore<Owner> {
  model: mongoose.Model<Session>;
  /**
   * Starts a session, and resolves with its token: 256 random bits, which only the browser's cookie keeps. With a given token,
   * repeating this changes nothing.
   */
  start(owner: Owner, nowMs: number, given?: StartedWith): Promise<string>;
  /** Concurrent finds share one query; with `windowMs` each waits that long for others. */
  finder(windowMs?: number): FindOwner<Owner>;
  /** Whether a session that was just read has not ended. Notes the use of it. */
  use(session: Session, nowMs: number): Promise<boolean>;
  /** Those of these tokens whose session has not ended. Does not count as a use of it. */
  living(tokens: readonly string[], nowMs: number): Promise<Set<string>>;
  /** Ends a session: its next request, to any process, is refused. */
  end(token: string): Promise<void>;
  /** Ends every session of an owner, by the first of the owner's fields. */
  endAll(ownerId: string): Promise<void>;
}

/**
 * Keeps sessions in a collection of their own. The first of the owner's fields is its id. A session ends `longestMs` after its
 * start, however often it is used.
 */
export function sessionStore<Owner extends Record<string, string>>(
  name: string,
  collectionName: string,
  [idField, ...otherFields]: [keyof Owner & string, ...(keyof Owner & string)[]],
  { longestMs = Number.POSITIVE_INFINITY }: { longestMs?: number } = {},
): SessionStore<Owner> {
  const ownerFields = [idField, ...otherFields];
  const schema = new mongoose.Schema<Session>(
    {
      _id: String,
      ...Object.fromEntries(ownerFields.map((field) => [field, { type: String, required: true }])),
      createdAt: { type: Date, required: true },
      lastUsedAt: { type: Date, required: true },
      expiresAt: { type: Date, required: true },
      verifiedAt: Date,
      browser: String,
      network: String,
    },
    { versionKey: false, autoIndex: false },
  );
  schema.index({ [idField]: 1 });
  schema.index({ expiresAt: 1 });
  const model = mongoose.model<Session>(name, schema, collectionName);
  const sessions = collection<Session>(model);

  const endAfter = (createdAt: Date, nowMs: number) =>
    new Date(Math.min(nowMs + sessionLifetimeMs, createdAt.getTime() + longestMs));
  /** An earlier version has written later ends. */
  const hasEnded = ({ createdAt, expiresAt }: Pick<Session, 'createdAt' | 'expiresAt'>, nowMs: number) =>
    expiresAt.getTime() <= nowMs || createdAt.getTime() + longestMs <= nowMs;

  async function use(session: Session, nowMs: number): Promise<boolean> {
    if (hasEnded(session, nowMs)) return false;
    const { _id, createdAt, lastUsedAt } = session;
    if (nowMs - lastUsedAt.getTime() > useResolutionMs) {
      const times = { lastUsedAt: new Date(nowMs), expiresAt: endAfter(createdAt, nowMs) };
      await sessions.updateOne({ _id }, { $set: times });
    }
    return true;
  }

  return {
    model,
    use,
    async start(owner, nowMs, { token = randomBytes(32).toString('base64url'), ...given } = {}) {
      const now = new Date(nowMs);
      const times = { createdAt: now, lastUsedAt: now, expiresAt: endAfter(now, nowMs) };
      await insertOnce(sessions, { _id: sha256(token), ...owner, ...times, ...given });
      return token;
    },
    finder(windowMs = 0) {
      const fields = [...ownerFields, 'createdAt', 'lastUsedAt', 'expiresAt', 'verifiedAt'];
      const projection = Object.fromEntries(fields.map((field) => [field, 1]));
      const find = batchedFind<Session, Session & Owner>(sessions, '_id', projection, timeLimit, windowMs);
      return async (token, nowMs) => {
        const session = await find(sha256(token));
        if (!session || !(await use(session, nowMs))) return null;
        const owner = Object.fromEntries(ownerFields.map((field) => [field, session[field]])) as unknown as Owner;
        return { ...owner, _id: session._id, ...(session.verifiedAt && { verifiedAt: session.verifiedAt }) };
      };
    },
    async living(tokens, nowMs) {
      const byId = new Map(tokens.map((token) => [sha256(token), token]));
      const found = sessions.find(
        { _id: { $in: [...byId.keys()] } },
        { projection: { createdAt: 1, expiresAt: 1 }, batchSize: byId.size + 1 },
      );
      const living = (await found.toArray()).filter((session) => !hasEnded(session, nowMs));
      return new Set(living.flatMap(({ _id }) => byId.get(_id) ?? []));
    },
    async end(token) {
      await sessions.deleteOne({ _id: sha256(token) });
    },
    async endAll(ownerId) {
      await sessions.deleteMany({ [idField]: ownerId } as mongoose.mongo.Filter<Session>);
    },
  };
}
