import type { Config } from '../base/config.ts';
import type { Context } from '../base/context.ts';
import { decrypt, encrypt } from '../base/encryption.ts';
import { messageOutcomes } from '../base/metrics.ts';
import { insertOnce } from '../base/mongo/collection.ts';
import { timeLimit } from '../base/mongo/durability.ts';
import { addJob } from '../base/queues.ts';
import type { MessageState } from './message-kinds.ts';
import { type MessageRow, messages } from './message-row.ts';
import { addOptOut, numberId } from './numbers.ts';

/** The number and the text of a message. */
export interface MessageText {
  to: string;
  text: string;
}

/** A message that is older than this is not sent: what it says may no longer be true. */
export const messageLifeMs = 10 * 60_000;

/** Stores a message once, and adds its job. One that is too old is stored as expired, without number and text. */
export async function storeMessage(
  ctx: Context,
  row: Pick<MessageRow, '_id' | 'rideId' | 'accountId' | 'kind' | 'person' | 'createdAt' | 'isTest'>,
  message: MessageText,
): Promise<void> {
  const now = new Date(ctx.now());
  const isOld = now.getTime() - row.createdAt.getTime() > messageLifeMs;
  if (isOld) {
    if (await insertOnce(messages, { ...row, state: 'expired', finishedAt: now }))
      messageOutcomes.inc({ outcome: 'expired' });
    return;
  }
  const { keys } = ctx.config.secrets;
  const sealed = encrypt(JSON.stringify(message), keys, row._id);
  const number = await numberId(ctx.config, message.to);
  await insertOnce(messages, { ...row, state: 'waiting', sealed, number, dueAt: now });
  await enqueueMessage(ctx, { _id: row._id, dueAt: now });
}

/** Decrypts a stored message. Throws SecretsKeyMissing or SecretDamaged. */
export const openMessage = (config: Pick<Config, 'secrets'>, { _id, sealed = '' }: MessageRow): MessageText =>
  JSON.parse(decrypt(sealed, config.secrets.keys, _id));

/** A message with its number and text, for its account's pages; null once they are erased, or if they do not decrypt. */
export type ShownMessage = MessageRow & { opened: MessageText | null };

export function shownMessage(config: Pick<Config, 'secrets'>, row: MessageRow): ShownMessage {
  try {
    return { ...row, opened: row.sealed === undefined ? null : openMessage(config, row) };
  } catch {
    return { ...row, opened: null };
  }
}

/** True if messages can be read: on a phone, or on the message page of a development stack. */
export const canText = ({ environment, secrets }: Pick<Config, 'environment' | 'secrets'>): boolean =>
  secrets.smsUrl !== '' || environment === 'development';

/** Adds the job of a waiting message. Never fails: the sweeper adds it later if Redis did not accept it. */
export const enqueueMessage = (
  ctx: Context,
  { _id, dueAt }: Pick<MessageRow, '_id' | 'dueAt'>,
  { evenIfActive = false } = {},
): Promise<boolean> =>
  addJob(ctx, 'messages', { id: _id, name: `message ${_id}`, data: { messageId: _id }, dueAt, evenIfActive });

/** The messages about a ride, in the order in which it changed. */
export const messagesOfRide = (rideId: string): Promise<MessageRow[]> =>
  messages.find({ rideId }, { sort: { createdAt: 1, _id: 1 }, ...timeLimit() }).toArray();

/** Erases numbers and texts of these rides' messages. Kinds, times and outcomes stay. A waiting one is never sent then. */
export async function eraseMessages(rideIds: readonly string[]): Promise<void> {
  const erased = { $unset: { sealed: 1, number: 1, providerId: 1 } } as const;
  await messages.updateMany({ rideId: { $in: [...rideIds] } }, erased, timeLimit());
}

/**
 * Ends a message: gives it a state that does not change again, except from `sent` to a later one, and from `failed` to
 * `delivered`. Resolves with false if
 * it had such a state already, or if `token` is given and another run holds the claim. A number that opted out is
 * recorded before the message.
 */
export async function finishMessage(
  ctx: Pick<Context, 'now'>,
  { _id, number }: Pick<MessageRow, '_id' | 'number'>,
  state: Exclude<MessageState, 'waiting'>,
  { reason, providerId, token }: { reason?: string; providerId?: string; token?: string } = {},
): Promise<boolean> {
  const finishedAt = new Date(ctx.now());
  if (state === 'opted_out' && number) await addOptOut({ _id: number, at: finishedAt, messageId: _id });
  const from: MessageState[] = state === 'sent' || token ? ['waiting'] : ['waiting', 'sent'];
  // An attempt that timed out may have been received.
  if (state === 'delivered') from.push('failed');
  const { modifiedCount } = await messages.updateOne(
    { _id, state: { $in: from }, ...(token && { 'claim.token': token }) },
    {
      $set: { state, finishedAt, ...(reason && { reason }), ...(providerId && { providerId }) },
      $unset: { dueAt: 1, claim: 1 },
    },
  );
  if (modifiedCount === 1) messageOutcomes.inc({ outcome: state });
  return modifiedCount === 1;
}
