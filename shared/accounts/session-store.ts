import { randomBytes } from 'node:crypto';
import mongoose from 'mongoose';
import { sha256 } from '../base/ids.ts';
import { batchedFind } from '../base/mongo/batch.ts';
import { collection, findAmong, insertOnce, recordSchema } from '../base/mongo/collection.ts';
import { timeLimit } from '../base/mongo/durability.ts';

/** A signed-in browser. The document also contains the fields of its owner. */
export interface Session {
  /** SHA-256 of the token in the browser's cookie. The token itself is not stored. */
  _id: string;
  createdAt: Date;
  lastUsedAt: Date;
  expiresAt: Date;
  /** The last time that a sign-in code or link was verified in this browser. Missing in sessions of drivers. */
  verifiedAt?: Date;
  /** At sign-in: the browser's readable name, and the client's network. */
  browser?: string;
  network?: string;
}

/** A session ends this long after its last use. */
export const sessionLifetimeMs = 30 * 24 * 3_600_000;
/** The use of a session is recorded at most once in this time. */
const useResolutionMs = 3_600_000;

/** Resolves with the owner of a session by its token; with null if the session has ended or never existed. */
type FindOwner<Owner> = (token: string, nowMs: number) => Promise<(Owner & Pick<Session, '_id' | 'verifiedAt'>) | null>;

type SessionStart = { token?: string } & Pick<Session, 'verifiedAt' | 'browser' | 'network'>;

/** The sessions of one kind of owner. */
interface SessionStore<Owner> {
  model: mongoose.Model<Session>;
  /** Starts a session. Resolves with its token, of 256 random bits. With a `given` token, a repeat changes nothing. */
  start(owner: Owner, nowMs: number, given?: SessionStart): Promise<string>;
  /**
   * Creates a function that finds the owner of a session. Concurrent calls share one query. With `windowMs`, each call
   * waits that long for other calls to join the query.
   */
  finder(windowMs?: number): FindOwner<Owner>;
  /** Records the use of a session that was just read. Resolves with false if the session has ended. */
  use(session: Session, nowMs: number): Promise<boolean>;
  /** Resolves with those of the given tokens whose session has not ended. Does not count as a use of the session. */
  living(tokens: readonly string[], nowMs: number): Promise<Set<string>>;
  /** Ends a session: its next request, to any process, is refused. */
  end(token: string): Promise<void>;
  /** Ends every session of an owner. */
  endAll(ownerId: string): Promise<void>;
}

/**
 * Stores the sessions of one kind of owner in their own collection. The first of the owner's fields identifies the
 * owner. A session ends at the latest `longestMs` after its start.
 */
export function sessionStore<Owner extends Partial<Record<string, string>>>(
  name: string,
  collectionName: string,
  ownerFields: [keyof Owner & string, ...(keyof Owner & string)[]],
  { longestMs = Number.POSITIVE_INFINITY }: { longestMs?: number } = {},
): SessionStore<Owner> {
  const [idField] = ownerFields;
  const schema = recordSchema();
  schema.index({ [idField]: 1 });
  schema.index({ expiresAt: 1 });
  const model = mongoose.model<Session>(name, schema, collectionName);
  const sessions = collection<Session>(model);

  const endAfter = (createdAt: Date, nowMs: number) =>
    new Date(Math.min(nowMs + sessionLifetimeMs, createdAt.getTime() + longestMs));
  const hasEnded = ({ expiresAt }: Pick<Session, 'expiresAt'>, nowMs: number) => expiresAt.getTime() <= nowMs;

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
      const found = await findAmong(sessions, byId.keys(), { expiresAt: 1 });
      const living = found.filter((session) => !hasEnded(session, nowMs));
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
