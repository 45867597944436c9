import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type mongoose from 'mongoose';
import type { ApiKey } from '../../../shared/keys/api-key.ts';

/** One read by the key's hash, on each request: a revoked key is dead on the next one here too. */
export async function findKey(keys: mongoose.mongo.Collection<ApiKey>, request: IncomingMessage): Promise<ApiKey> {
  const secretKey = (request.headers.authorization ?? '').slice('Bearer '.length);
  const hash = createHash('sha256').update(secretKey).digest('hex');
  const key = await keys.findOne<ApiKey>({ hash }, { projection: { accountId: 1, mode: 1, revokedAt: 1 } });
  if (!key || key.revokedAt) throw new Error('unauthorized');
  return key;
}
