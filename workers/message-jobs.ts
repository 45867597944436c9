import { charge, chargeWindow, type Limit, refundWindow } from '../shared/accounts/limit.ts';
import type { Context } from '../shared/base/context.ts';
import { SecretsKeyMissing } from '../shared/base/encryption.ts';
import { exists } from '../shared/base/mongo/collection.ts';
import type { MessageJob, TimerJob } from '../shared/base/queues.ts';
import { type MessageState, messageKinds } from '../shared/messages/message-kinds.ts';
import { type MessageRow, messages } from '../shared/messages/message-row.ts';
import { isOptedOut } from '../shared/messages/numbers.ts';
import { finishMessage, type MessageText, messageLifeMs, openMessage } from '../shared/messages/stored-messages.ts';
import { storeOwedMessages } from '../shared/rides/store-owed-messages.ts';
import { claimable, claimFields, heldBy, unclaimed } from './claim-row.ts';
import { type Handler, type JobResult, type Run, timerOutcome, withLogLine } from './handler.ts';
import { sendToProvider } from './message-provider.ts';
import { retryWrite } from './retry-write.ts';

/**
 * The duration of a claim on a message, which is longer than an attempt. If the worker dies, another one makes the
 * attempt again after this time, with the same token.
 */
const claimMs = 30_000;
/** No attempt begins under a claim that is older than this: the process may have been paused. */
const maxClaimAgeMs = 10_000;
/** The pause before the next try while no connection to the provider can be opened. */
const unreachablePauseMs = 10_000;
const dayMs = 24 * 3_600_000;

const perNumber: Limit = { name: 'texts to a number', most: 60, perMs: 3_600_000 };

/** Stores the messages that a ride owes, or sends one message. */
export const runMessageJob: Handler<TimerJob | MessageJob> = async (ctx, job, run) =>
  'timer' in job ? timerOutcome(await storeOwedMessages(ctx, job.rideId)) : sendStoredMessage(ctx, job, run);

/** How a run ends a message, or why it tries again later. */
type Ending =
  | { state: Exclude<MessageState, 'waiting'>; reason?: string; providerId?: string }
  | { state: 'again'; reason: string };

/**
 * Sends one message: claims it, makes one attempt and records its outcome. A message whose outcome is recorded is never
 * sent again. If a crash prevents the recording, the attempt is made again, with the same token.
 */
export const sendStoredMessage: Handler<MessageJob> = async (ctx, { messageId }, run) => {
  const startedAt = performance.now();
  const message = await claimMessage(ctx, messageId, run);
  if (!message) return unclaimed(await messages.findOne({ _id: messageId }, claimFields), ctx.now());
  const ending = await endingOf(ctx, message, startedAt);
  const { state, reason } = ending;
  const result: JobResult =
    ending.state === 'again'
      ? { againInMs: unreachablePauseMs, why: `provider: ${reason}` }
      : { result: ending.state, ...(reason && { reason }) };
  await retryWrite(ctx.log, { messageId }, run, () =>
    ending.state === 'again'
      ? tryLater(ctx, message, run)
      : finishMessage(ctx, message, ending.state, { ...ending, token: run.token }),
  );
  const durationMs = Math.round(performance.now() - startedAt);
  const { rideId, kind } = message;
  const fields = { messageId, rideId, kind, pool: run.pool, outcome: state, reason, durationMs };
  const isBad = state === 'failed' || state === 'again' || state === 'expired' || state === 'limited';
  return withLogLine(ctx.log, result, fields, 'message', isBad ? 'warn' : 'info');
};

/** Claims a waiting message, and resolves with it as it was: with a claim, an earlier run may have sent it. */
async function claimMessage(ctx: Context, _id: string, { token }: Run): Promise<MessageRow | null> {
  const now = ctx.now();
  return messages.findOneAndUpdate(
    claimable(_id, token, now),
    { $set: { claim: { token, until: new Date(now + claimMs) } } },
    { returnDocument: 'before' },
  );
}

/** Makes the attempt, unless the message must not be sent. `claimedAt`: when the claim was requested (monotonic ms). */
async function endingOf(ctx: Context, row: MessageRow, claimedAt: number): Promise<Ending> {
  const { config } = ctx;
  if (ctx.now() - row.createdAt.getTime() > messageLifeMs) return { state: 'expired' };
  if (row.isTest) return { state: 'kept' };
  if (!config.secrets.smsUrl) {
    return config.environment === 'development' ? { state: 'kept' } : { state: 'failed', reason: 'no_sms_url' };
  }
  let text: MessageText;
  try {
    text = openMessage(config, row);
  } catch (error) {
    if (error instanceof SecretsKeyMissing) return { state: 'again', reason: 'secrets_key_missing' };
    return { state: 'failed', reason: 'damaged' };
  }
  if (!row.claim && (await isOutdated(row))) return { state: 'expired', reason: 'outdated' };
  const refusal = await refusalOf(ctx, row);
  if (refusal) return refusal;
  const isTooOld = performance.now() - claimedAt > maxClaimAgeMs;
  const unsent = { outcome: 'unreachable', reason: 'claim_too_old' } as const;
  const attempt = isTooOld ? unsent : await sendToProvider(config, row._id, text);
  if (attempt.outcome !== 'unreachable') return { ...attempt, state: attempt.outcome };
  await refundWindow(perAccount(ctx, row), ctx.now());
  return { state: 'again', reason: attempt.reason };
}

/** True if a later message to this person is stored: then the earlier one would only confuse. */
async function isOutdated({ rideId, person, kind }: MessageRow): Promise<boolean> {
  const later = messageKinds.slice(messageKinds.indexOf(kind) + 1);
  return exists(messages, { rideId, person, kind: { $in: later } });
}

const perAccount = ({ config }: Pick<Context, 'config'>, { accountId }: Pick<MessageRow, 'accountId'>): Limit => ({
  ...{ name: `texts of ${accountId}`, most: config.sms.perAccountDay, perMs: dayMs },
});

/** The reason why a message must not be sent to its number; null without one. A repeated run is charged once. */
async function refusalOf(ctx: Context, row: MessageRow): Promise<Ending | null> {
  const { _id, number = '' } = row;
  if (await isOptedOut(number)) return { state: 'opted_out' };
  const charged = await charge(perNumber, number, ctx.now(), _id);
  if (charged.isFull) return { state: 'limited', reason: 'number' };
  return (await chargeWindow(perAccount(ctx, row), ctx.now())) > 0 ? { state: 'limited', reason: 'account' } : null;
}

/** Releases the message's claim until its next try, for which the same job runs again. */
const tryLater = (ctx: Context, { _id }: MessageRow, { token }: Run): Promise<unknown> =>
  messages.updateOne(heldBy(token, _id), {
    $set: { dueAt: new Date(ctx.now() + unreachablePauseMs) },
    $unset: { claim: 1 },
  });
