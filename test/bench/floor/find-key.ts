import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type mongoose from 'mongoose';
import type { ApiKey } from '../../../shared/keys/api-key.ts';

/**
 * Reads the key by its hash on every request, so that a revoked key stops working on the next request, as in the
 * service.
 */
export async function findKey(keys: mongoose.mongo.Collection<ApiKey>, request: IncomingMessage): Promise<ApiKey> {
  const secretKey = (request.headers.authorization ?? '').slice('Bearer '.length);
  const hash = createHash('sha256').update(secretKey).digest('hex');
  const key = await keys.findOne<ApiKey>({ hash }, { projection: { accountId: 1, mode: 1, revokedAt: 1 } });
  if (!key || key.revokedAt) throw new Error('unauthorized');
  return key;
}
