import { type AppliedForm, keptForms } from '../accounts/sent-form.ts';
import { AppError } from '../base/errors.ts';
import { mongoNow } from '../base/mongo/clock.ts';
import { type ApiKey, keys } from './api-key.ts';

/**
 * On whose behalf a key is read or changed: for an account, a key of another account counts as unknown. `anyone` is for
 * an operator.
 */
export type KeyOwner = { accountId: string } | 'anyone';

export const ownedBy = (owner: KeyOwner) => (owner === 'anyone' ? {} : { accountId: owner.accountId });

/** What is changed in a key as it was read. */
interface KeyChange {
  set?: Partial<ApiKey>;
  unset?: Partial<Record<'webhookUrl' | 'place' | 'suspendedAt', 1>>;
  /** The fields that must still be as they were read. */
  on?: readonly (keyof ApiKey)[];
  /** The key has these values already. */
  isSame?: boolean;
}

export interface ChangedKey {
  /** As it was read. */
  before: ApiKey;
  /** When and how the form took effect, now or at its first sending. */
  applied: AppliedForm;
  /** The form had taken effect before, and nothing was changed now. */
  isRepeat: boolean;
}

/** Between a read and its write a key changes rarely: beyond it, something other than contention is wrong. */
const maxRounds = 20;

/**
 * Changes an active key once for each form: the form's id is written in the same update. `decide` sees the key as it was read,
 * and MongoDB's clock. It runs again when a field of `on` has changed in the meantime; its errors are thrown on. Throws
 * `not_found` for a key that is unknown, revoked or of another owner.
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
      { ...activeKeyOf(keyId, owner), ...asRead(before, on), ...(form && { 'forms.id': { $ne: form } }) },
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

const asRead = (before: ApiKey, on: readonly (keyof ApiKey)[]) =>
  Object.fromEntries(on.map((field) => [field, before[field] ?? { $exists: false }]));

export const activeKeyOf = (keyId: string, owner: KeyOwner) => ({
  _id: keyId,
  revokedAt: { $exists: false },
  ...ownedBy(owner),
});

export const unknownKey = () => new AppError('not_found', { message: 'No active key has this id' });
