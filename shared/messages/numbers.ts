import { createHmac, randomBytes } from 'node:crypto';
import mongoose from 'mongoose';
import type { Config } from '../base/config.ts';
import { decrypt, encrypt } from '../base/encryption.ts';
import { collection, exists, insertOnce, recordSchema } from '../base/mongo/collection.ts';

/** The key with which phone numbers are hashed, encrypted like other secrets, so that it survives a rotation. */
interface NumberKey {
  _id: string;
  sealed: string;
}

const numberKeySchema = recordSchema();
numberKeySchema.index({ sealed: 1 });
export const NumberKeyModel = mongoose.model<NumberKey>('NumberKey', numberKeySchema, 'number_keys');
export const numberKeys = collection<NumberKey>(NumberKeyModel);

/** A number that wants no texts. `_id` is its keyed hash. */
export interface OptOut {
  _id: string;
  at: Date;
  /** The message that was refused. Its id names the ride. */
  messageId: string;
}

const optOutSchema = recordSchema();
optOutSchema.index({ at: 1 });
export const OptOutModel = mongoose.model<OptOut>('OptOut', optOutSchema, 'opt_outs');
export const optOuts = collection<OptOut>(OptOutModel);

/** The id of a phone number in E.164 form: `number_` and 160 bits of a hash that nobody can make without SECRETS_KEY. */
export async function numberId({ secrets }: Pick<Config, 'secrets'>, phone: string): Promise<string> {
  const key = decrypt(await storedKey(secrets.keys), secrets.keys, 'numbers');
  return `number_${createHmac('sha256', Buffer.from(key, 'base64')).update(phone).digest('hex').slice(0, 40)}`;
}

/** Makes the key at the first use. Of two processes that do so at the same time, both get the one that is stored. */
async function storedKey(keys: Config['secrets']['keys']): Promise<string> {
  const find = () => numberKeys.findOne({ _id: 'numbers' });
  const found = await find();
  if (found) return found.sealed;
  const sealed = encrypt(randomBytes(32).toString('base64'), keys, 'numbers');
  await insertOnce(numberKeys, { _id: 'numbers', sealed });
  return (await find())?.sealed ?? sealed;
}

/** Records that a number wants no texts. The first message that was refused stays recorded. */
export const addOptOut = (optOut: OptOut): Promise<boolean> => insertOnce(optOuts, optOut);

/** Resolves with true if the number wants no texts. */
export const isOptedOut = (id: string): Promise<boolean> => exists(optOuts, { _id: id });

/** Lets a number get texts again. Resolves with false if it had not opted out. */
export const clearOptOut = async (id: string): Promise<boolean> =>
  (await optOuts.deleteOne({ _id: id })).deletedCount === 1;

/** The numbers that opted out last, at most `limit`, the newest first. */
export const listOptOuts = (limit: number): Promise<OptOut[]> =>
  optOuts.find({}, { sort: { at: -1 }, limit }).toArray();
