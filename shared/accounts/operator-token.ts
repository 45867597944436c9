import mongoose from 'mongoose';
import { AppError } from '../base/errors.ts';
import { randomBase62, sha256 } from '../base/ids.ts';
import { collection, recordSchema } from '../base/mongo/collection.ts';
import { timeLimit } from '../base/mongo/durability.ts';
import { isOutageOfMongo } from '../base/mongo/outage.ts';
import { charge, type Limit } from './limit.ts';

/** A token with which one operator opens the operators' pages and reads the metrics. */
export interface OperatorToken {
  _id: string;
  /** SHA-256 of the token. The token itself is not stored. */
  hash: string;
  /** The operator who uses it. */
  owner: string;
  createdAt: Date;
  lastUsedAt?: Date;
  revokedAt?: Date;
}

const tokenSchema = recordSchema();
tokenSchema.index({ hash: 1 }, { unique: true });

export const OperatorTokenModel = mongoose.model<OperatorToken>('OperatorToken', tokenSchema, 'operator_tokens');
const tokens = collection<OperatorToken>(OperatorTokenModel);

/** Creates a token. It is returned only here. */
export async function createToken(owner: string, nowMs: number): Promise<{ tokenId: string; token: string }> {
  const [tokenId, token] = [`optoken_${randomBase62(14)}`, `ops_${randomBase62(32)}`];
  await tokens.insertOne({ _id: tokenId, hash: sha256(token), owner, createdAt: new Date(nowMs) });
  return { tokenId, token };
}

/** All tokens, oldest first, without their hashes. */
export const listTokens = (): Promise<Omit<OperatorToken, 'hash'>[]> =>
  tokens.find({}, { projection: { hash: 0 }, sort: { createdAt: 1, _id: 1 } }).toArray();

/** Revokes a token: every process refuses it within 30 s. Throws `not_found` for an unknown or revoked one. */
export async function revokeToken(tokenId: string, nowMs: number): Promise<string> {
  const active = { _id: tokenId, revokedAt: { $exists: false } };
  const revoked = await tokens.findOneAndUpdate(active, { $set: { revokedAt: new Date(nowMs) } });
  if (!revoked) throw new AppError('not_found', { message: 'No active token has this id' });
  return revoked.owner;
}

export type KnownToken = Pick<OperatorToken, '_id' | 'hash' | 'owner'>;

const knownForMs = 30_000;
const wrongTokens: Limit = { name: 'operator-token', most: 10, perMs: 15 * 60_000 };

/**
 * The active tokens, as this process knows them. A token that was read within the last 30 s is not read again. While
 * MongoDB is unavailable, a known token stays valid, so that the metrics and the queues can be read during an outage.
 */
export function operatorTokens(now: () => number) {
  const known = new Map<string, { token: KnownToken; readAt: number }>();

  async function find(by: { hash: string } | { _id: string }): Promise<KnownToken | null> {
    const [id] = Object.values(by) as [string];
    const earlier = known.get(id);
    if (earlier && Math.abs(now() - earlier.readAt) < knownForMs) return earlier.token;
    try {
      const active = { ...by, revokedAt: { $exists: false } };
      const options = { projection: { hash: 1, owner: 1 }, ...timeLimit() };
      const token = await tokens.findOneAndUpdate(active, { $set: { lastUsedAt: new Date(now()) } }, options);
      known.delete(id);
      if (token) known.set(id, { token, readAt: now() });
      return token;
    } catch (error) {
      if (earlier && isOutageOfMongo(error)) return earlier.token;
      throw error;
    }
  }

  return {
    /** The active token with this id; null if there is none. */
    withId: (tokenId: string): Promise<KnownToken | null> => find({ _id: tokenId }),
    /**
     * Checks a token that a client has sent. A valid token is always accepted: it is too long to be guessed, and the
     * operators of a company often share one address. After 10 different wrong ones within 15 minutes, resolves with
     * `tooMany` for a further wrong one. A wrong token that a scraper repeats counts once. `isShared` recognises
     * OPS_TOKEN, which has no owner and also works while MongoDB is unavailable.
     */
    async check(
      given: string,
      client: string,
      isShared: (token: string) => boolean,
    ): Promise<KnownToken | 'shared' | 'wrong' | { tooMany: number }> {
      if (isShared(given)) return 'shared';
      const hash = sha256(given);
      const token = await find({ hash });
      if (token) return token;
      const charged = await charge(wrongTokens, client, now(), hash.slice(0, 8));
      return charged.isFull ? { tooMany: charged.freesMs } : 'wrong';
    },
  };
}

export type OperatorTokens = ReturnType<typeof operatorTokens>;
