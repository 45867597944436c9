import { type AppliedForm, keptForms } from '../accounts/sent-form.ts';
import { AppError } from '../base/errors.ts';
import { mongoNow } from '../base/mongo/clock.ts';
import { type ApiKey, keys } from './api-key.ts';

/** For an account, a key of another account counts as unknown. `anyone` is for an operator. */
export type KeyOwner = { accountId: string } | 'anyone';

export const ownedBy = (owner: KeyOwner) => (owner === 'anyone' ? {} : { accountId: owner.accountId });

/** The change to make to a key that was just read. */
interface KeyChange {
  set?: Partial<ApiKey>;
  unset?: Partial<Record<'webhookUrl' | 'place' | 'suspendedAt' | 'limit' | 'textsPassenger', 1>>;
  /** The change is written only if these fields are unchanged since the read. */
  on?: readonly (keyof ApiKey)[];
  /** True if the key already has these values. */
  isSame?: boolean;
}

export interface ChangedKey {
  /** The key before the change. */
  before: ApiKey;
  /** The form's change, which this request or an earlier one with the same form has made. */
  applied: AppliedForm;
  /** True if an earlier request with the same form has made the change, so this request changed nothing. */
  isRepeat: boolean;
}

/** The most tries of a change. More mean a fault other than contention, because keys rarely change. */
const maxRounds = 20;

/**
 * Changes an active key, once per form: the same update writes the change and the form's id. `decide` gets the stored
 * key and MongoDB's clock, and runs again if a field in `on` has changed since the read. Rethrows the errors of
 * `decide`. Throws `not_found` for a key that is unknown, revoked or of another owner.
 */
export async function changeKey(
  keyId: string,
  owner: KeyOwner,
  decide: (key: ApiKey, now: Date) => KeyChange,
  form?: string,
): Promise<ChangedKey> {
  for (let round = 0; round < maxRounds; round += 1) {
    const [before, now] = await Promise.all([keys.findOne({ _id: keyId, ...ownedBy(owner) }), mongoNow()]);
    const earlier = form && before?.forms?.find(({ id }) => id === form);
    if (before && earlier) return { before, applied: earlier, isRepeat: true };
    if (!before || before.revokedAt) throw unknownKey();
    const { set = {}, unset = {}, on = [], isSame = false } = decide(before, now);
    const applied: AppliedForm = { id: form ?? '', at: now, isChange: !isSame };
    const { matchedCount } = await keys.updateOne(
      { ...activeKeyOf(keyId, owner), ...unchangedSinceRead(before, on), ...(form && { 'forms.id': { $ne: form } }) },
      {
        $set: set,
        $unset: unset,
        ...(form && { $push: { forms: { $each: [applied], $slice: -keptForms } } }),
      },
    );
    if (matchedCount === 1) return { before, applied, isRepeat: false };
  }
  throw new AppError('unavailable');
}

const unchangedSinceRead = (before: ApiKey, on: readonly (keyof ApiKey)[]) =>
  Object.fromEntries(on.map((field) => [field, before[field] ?? { $exists: false }]));

export const activeKeyOf = (keyId: string, owner: KeyOwner) => ({
  _id: keyId,
  revokedAt: { $exists: false },
  ...ownedBy(owner),
});

export const unknownKey = () => new AppError('not_found', { message: 'No active key has this id' });
